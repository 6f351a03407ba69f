"""`python -m reverie_client.mcp`: the MCP server over standard input and output."""

from __future__ import annotations

import sys

from reverie_client.environment import EnvironmentSettingsError, read_environment
from reverie_client.mcp.stdio import run_stdio


def main() -> None:
    """Serve with the settings of the environment; without a key, print an error and exit with 1."""
    try:
        environment = read_environment()
    except EnvironmentSettingsError as error:
        sys.exit(f"Error: {error}")
    run_stdio(environment)


if __name__ == "__main__":
    main()
