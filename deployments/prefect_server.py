"""`make prefect`: the Prefect server on this machine, on a Prefect database beside Reverie's.

PORT chooses the port. PREFECT_SERVER_DATABASE_CONNECTION_URL names a database for Prefect that exists already, as
postgresql+asyncpg://; without it one called `prefect` is made on the server that Reverie uses.
"""

from __future__ import annotations

import os
import sys

from deployments.ui import create_database
from reverie.errors import ReverieError
from reverie.settings import Settings, load_settings
from reverie.store.migrate import migrate
from reverie.store.server.address import database_url

HOST = "127.0.0.1"
DATABASE = "prefect"
VARIABLE = "PREFECT_SERVER_DATABASE_CONNECTION_URL"


def main() -> None:
    """Prepare everything, then become `prefect server start`; a user's error is one sentence and an exit code."""
    port = os.environ.get("PORT") or "4200"
    try:
        settings = load_settings()
        url = database_url(settings)
        migrate(url)
        environment = os.environ | prefect_environment(settings, url, port)
    except ReverieError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(f"Prefect comes up on http://{HOST}:{port} within a minute; Ctrl-C stops it.", flush=True)
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", HOST, "--port", port]
    os.execve(sys.executable, command, environment)


def prefect_environment(settings: Settings, url: str, port: str) -> dict[str, str]:
    """Make Prefect's home under Reverie's and its database beside that of `url`; return the variables for both.

    Raises DatabaseError when the database cannot be made.
    """
    home = settings.home / "prefect"
    home.mkdir(parents=True, exist_ok=True)
    given = os.environ.get(VARIABLE)
    made = given or f"postgresql+asyncpg://{create_database(url, DATABASE, variable=VARIABLE).partition('://')[2]}"
    return {
        "PREFECT_HOME": str(home),
        VARIABLE: made,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        # the browser asks this address, whatever the port
        "PREFECT_SERVER_UI_API_URL": f"http://{HOST}:{port}/api",
    }


if __name__ == "__main__":
    main()
