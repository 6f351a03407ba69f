"""`make prefect`: run a Prefect server on this machine, with its database beside Reverie's.

PREFECT_PORT sets the port. PREFECT_SERVER_DATABASE_CONNECTION_URL names an existing database for Prefect, as
postgresql+asyncpg://. Without it, a database called `prefect` is created on Reverie's database server.
"""

from __future__ import annotations

import os
import sys

from deployments.ui import create_database
from reverie.errors import ReverieError
from reverie.settings import Settings, load_settings
from reverie.store.migrate import migrate
from reverie.store.server.address import database_url

HOST, PORT = "127.0.0.1", "4200"
DATABASE = "prefect"
VARIABLE = "PREFECT_SERVER_DATABASE_CONNECTION_URL"


def main() -> None:
    """Prepare the databases, then execute `prefect server start`. Errors are printed as one sentence."""
    port = prefect_port()
    try:
        settings = load_settings()
        url = database_url(settings)
        migrate(url)
        environment = os.environ | prefect_environment(settings, url, port)
    except ReverieError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print(f"Prefect will be available on http://{HOST}:{port} within a minute. Press Ctrl-C to stop.", flush=True)
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", HOST, "--port", port]
    os.execve(sys.executable, command, environment)


def prefect_port() -> str:
    """Return the port of the server on this machine, which `make prefect` and `make worker` share: PREFECT_PORT."""
    return os.environ.get("PREFECT_PORT") or PORT


def prefect_environment(settings: Settings, url: str, port: str) -> dict[str, str]:
    """Create Prefect's home directory and, on the server of `url`, its database; return the environment variables.

    Raises DatabaseError: the database cannot be created.
    """
    home = settings.home / "prefect"
    home.mkdir(parents=True, exist_ok=True)
    prefect_url = os.environ.get(VARIABLE)
    if not prefect_url:
        prefect_url = f"postgresql+asyncpg://{create_database(url, DATABASE, variable=VARIABLE).partition('://')[2]}"
    return {
        "PREFECT_HOME": str(home),
        VARIABLE: prefect_url,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        # the browser connects to this address
        "PREFECT_SERVER_UI_API_URL": f"http://{HOST}:{port}/api",
    }


if __name__ == "__main__":
    main()
