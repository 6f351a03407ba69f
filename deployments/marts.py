"""`make marts` and `make docs`: run dbt on the database of the settings, in the role for data teams.

`python -m deployments.marts ARGUMENTS` runs `dbt ARGUMENTS`; `docs` alone writes dbt's documentation as one page and
opens it.
"""

from __future__ import annotations

import os
import sys
import webbrowser

from assets.dbt_project import TARGET, dbt_environment, dbt_program, is_installed
from reverie.errors import ReverieError, SettingsError
from reverie.installing import install_command
from reverie.settings import load_settings
from reverie.store.migrate import migrate
from reverie.store.server.address import database_url

#: A self-contained page, which needs no server or network.
PAGE = TARGET / "static_index.html"


def main(arguments: list[str]) -> int:
    """Run dbt and return its exit code. Errors are printed as one sentence."""
    try:
        if not is_installed():
            raise SettingsError(f"dbt is not installed; install it with: {install_command('dbt')}.")
        migrate(database_url(load_settings()))
        os.environ.update(dbt_environment())
    except ReverieError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    docs = arguments == ["docs"]
    code = _dbt(["docs", "generate", "--static"] if docs else arguments)
    if docs and code == 0:
        print(f"The documentation is in {PAGE}.")
        webbrowser.open(PAGE.as_uri())
    return code


def _dbt(arguments: list[str]) -> int:
    return os.spawnv(os.P_WAIT, dbt_program(), [dbt_program(), *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
