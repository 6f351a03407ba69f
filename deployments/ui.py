"""`make ui`: the Dagster webserver and daemon on this machine, on a Dagster database beside Reverie's.

PORT chooses the port. DAGSTER_DATABASE_URL names a database for Dagster that exists already; without it one called
`dagster` is made on the server that Reverie uses.
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
    """Prepare everything, then become `dagster dev`; a user's error is one sentence and an exit code."""
    port = os.environ.get("PORT") or "3000"
    try:
        settings = load_settings()
        url = database_url(settings)
        migrate(url)
        environment = os.environ | dagster_environment(settings, url)
    except ReverieError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(f"Dagster comes up on http://{HOST}:{port} within a minute; Ctrl-C stops it.", flush=True)
    # a shell starts what it puts into the background with SIGINT ignored, and dagster would then not end on a signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(HERE.parent)
    command = [sys.executable, "-m", "dagster", "dev", "-w", str(HERE / "workspace.yaml"), "-h", HOST, "-p", port]
    os.execve(sys.executable, command, environment)


def dagster_environment(settings: Settings, url: str) -> dict[str, str]:
    """Make Dagster's home under Reverie's and its database beside that of `url`; return the variables for both.

    Raises DatabaseError when the database cannot be made.
    """
    home = settings.home / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "dagster.yaml", home / "dagster.yaml")
    given = os.environ.get("DAGSTER_DATABASE_URL") or create_database(url)
    return {
        "DAGSTER_HOME": str(home),
        "DAGSTER_DATABASE_URL": storage_url(given),
        # runs are processes of their own: they must find the same server without starting it
        "DATABASE_URL": url,
        # `dg dev` is newer and brings another hundred packages
        "PYTHONWARNINGS": "ignore:Function `dev_command` is superseded",
    }


def create_database(url: str, name: str | None = None, *, variable: str = "DAGSTER_DATABASE_URL") -> str:
    """Create an orchestrator's database, Dagster's unless named, on the server of `url`; return its URL."""
    name = name or DATABASE
    with connect(url) as conn:
        if conn.execute("select from pg_database where datname = %s", [name]).fetchone() is None:
            try:
                # another process may be faster
                with suppress(errors.DuplicateDatabase, errors.UniqueViolation):
                    conn.execute(SQL("create database {}").format(Identifier(name)))
            except errors.InsufficientPrivilege as error:
                raise DatabaseError(
                    f"User {conn.info.user} may not create the database {name}: "
                    f"create one for it and name it in {variable}."
                ) from error
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def storage_url(url: str) -> str:
    """Return the URL with the driver that dagster-postgres uses."""
    return f"postgresql+psycopg2://{url.partition('://')[2]}"


if __name__ == "__main__":
    main()
