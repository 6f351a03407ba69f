"""`make ui`: run the Dagster webserver and daemon on this machine, with their database beside Reverie's.

It reports when Dagster has loaded the code, or why it could not, and then stops. PORT sets the port.
DAGSTER_DATABASE_URL names an existing database for Dagster. Without it, a database called `dagster` is created on
Reverie's database server.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from psycopg import errors
from psycopg.sql import SQL, Identifier

from deployments.code_locations import wait_until_loaded
from reverie.errors import DatabaseError, ReverieError, SettingsError
from reverie.quality.check import has_great_expectations
from reverie.settings import Settings, load_settings
from reverie.store.connect import connect
from reverie.store.migrate import migrate
from reverie.store.server.address import database_url
from reverie.store.server.beside import url_beside

HERE = Path(__file__).resolve().parent
DATABASE = "dagster"
HOST = "127.0.0.1"
#: Seconds that Dagster may take to load the code.
LOAD_SECONDS = 300.0
#: Seconds that Dagster's processes have to stop.
STOP_SECONDS = 30.0


def main() -> None:
    """Prepare the databases and run Dagster until it is interrupted. Errors are printed as one sentence."""
    port = os.environ.get("PORT") or "3000"
    try:
        check_port(port)
        settings = load_settings()
        url = database_url(settings)
        migrate(url)
        environment = os.environ | dagster_environment(settings, url)
    except ReverieError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print("Starting Dagster; this takes up to a minute. Press Ctrl-C to stop.", flush=True)
    command = [sys.executable, "-m", "dagster", "dev", "-w", str(workspace()), "-h", HOST, "-p", port]
    sys.exit(run(command, environment, f"http://{HOST}:{port}"))


def workspace() -> Path:
    """Return Dagster's workspace file: DAGSTER_WORKSPACE, or ours."""
    return Path(os.environ.get("DAGSTER_WORKSPACE") or HERE / "workspace.yaml").resolve()


def check_port(port: str) -> None:
    """Raise a SettingsError unless `port` is a free port of this machine."""
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise SettingsError(f"PORT is {port}: set it to a number from 1 to 65535.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, int(port)))
        except OSError:
            raise SettingsError(
                f"Port {port} is in use: choose another, for example make ui PORT={int(port) + 1}."
            ) from None


def run(command: list[str], environment: dict[str, str], address: str) -> int:
    """Run Dagster until it ends or is interrupted; return its exit code, or 1 if it cannot load the code.

    Dagster runs in a session of its own, so that it receives Ctrl-C only once, from this process.
    """
    # shells start background processes with SIGINT ignored, and Dagster would then not stop on a signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    dagster = subprocess.Popen(command, env=environment, cwd=HERE.parent, start_new_session=True)
    try:
        problem = wait_until_loaded(address, is_running=lambda: dagster.poll() is None, seconds=LOAD_SECONDS)
        if problem is None:
            print(f"Dagster is ready on {address}", flush=True)
            if not has_great_expectations():
                print("The quality gates are not among its checks: `make env` installs what they need.", flush=True)
            return dagster.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        stop(dagster)
    print(f"Error: {problem}", file=sys.stderr, flush=True)
    return 1


def stop(dagster: subprocess.Popen[bytes]) -> None:
    """Interrupt Dagster, which stops its own processes; kill them all if they take too long."""
    with suppress(ProcessLookupError):
        if dagster.poll() is None:
            dagster.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                dagster.wait(STOP_SECONDS)
        os.killpg(dagster.pid, signal.SIGKILL)


def dagster_environment(settings: Settings, url: str) -> dict[str, str]:
    """Create Dagster's home directory and, on the server of `url`, its database; return the environment variables.

    Raises DatabaseError: the database cannot be created.
    """
    home = settings.home / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "dagster.yaml", home / "dagster.yaml")
    dagster_url = os.environ.get("DAGSTER_DATABASE_URL") or create_database(url)
    return {
        "DAGSTER_HOME": str(home),
        "DAGSTER_DATABASE_URL": storage_url(dagster_url),
        # each run is a separate process, which must use the same server without starting it
        "DATABASE_URL": url,
        # `dg dev` is newer but needs about a hundred more packages
        "PYTHONWARNINGS": "ignore:Function `dev_command` is superseded",
    }


def create_database(url: str, name: str | None = None, *, variable: str = "DAGSTER_DATABASE_URL") -> str:
    """Create an orchestrator's database, by default Dagster's, on the server of `url`; return its URL."""
    name = name or DATABASE
    with connect(url) as conn:
        if conn.execute("select from pg_database where datname = %s", [name]).fetchone() is None:
            try:
                # another process may create it first
                with suppress(errors.DuplicateDatabase, errors.UniqueViolation):
                    conn.execute(SQL("create database {}").format(Identifier(name)))
            except errors.InsufficientPrivilege as error:
                raise DatabaseError(
                    f"User {conn.info.user} may not create the database {name}: "
                    f"create a database and name it in {variable}."
                ) from error
    return url_beside(url, name)


def storage_url(url: str) -> str:
    """Return the URL with the driver that dagster-postgres uses."""
    return f"postgresql+psycopg2://{url.partition('://')[2]}"


if __name__ == "__main__":
    main()
