"""`make ui`: run the Dagster webserver and daemon on this machine, with their database beside Reverie's.

PORT sets the port. DAGSTER_DATABASE_URL names an existing database for Dagster. Without it, a database called `dagster`
is created on Reverie's database server.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from psycopg import errors
from psycopg.sql import SQL, Identifier

from reverie.errors import DatabaseError, ReverieError
from reverie.settings import Settings, load_settings
from reverie.store.connect import connect
from reverie.store.migrate import migrate
from reverie.store.server.address import database_url

HERE = Path(__file__).resolve().parent
DATABASE = "dagster"
HOST = "127.0.0.1"


def main() -> None:
    """Prepare the databases, then execute `dagster dev`. Errors are printed as one sentence."""
    port = os.environ.get("PORT") or "3000"
    try:
        settings = load_settings()
        url = database_url(settings)
        migrate(url)
        environment = os.environ | dagster_environment(settings, url)
    except ReverieError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(f"Dagster will be available on http://{HOST}:{port} within a minute. Press Ctrl-C to stop.", flush=True)
    # shells start background processes with SIGINT ignored, and Dagster would then not stop on a signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(HERE.parent)
    command = [sys.executable, "-m", "dagster", "dev", "-w", str(HERE / "workspace.yaml"), "-h", HOST, "-p", port]
    os.execve(sys.executable, command, environment)


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
        # each run is a process of its own, which must use the same server without starting it
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
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def storage_url(url: str) -> str:
    """Return the URL with the driver that dagster-postgres uses."""
    return f"postgresql+psycopg2://{url.partition('://')[2]}"


if __name__ == "__main__":
    main()
