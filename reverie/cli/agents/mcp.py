"""`reverie mcp`: serve memory over the Model Context Protocol on standard input and output."""

from __future__ import annotations

import sys
from typing import Any

import click

from reverie.cli.agents.client import client_module
from reverie.cli.output import print_json
from reverie.errors import SettingsError


@click.command("mcp", short_help="Serve memory to an agent over MCP (stdio).")
@click.option("--subject", metavar="ID", help="The subject. [default: REVERIE_SUBJECT, else each call names it]")
@click.option(
    "--session", metavar="ID", help="The conversation to store turns in. [default: REVERIE_SESSION, else a new one]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the entry for the agent's configuration, and exit.")
def command(subject: str | None, session: str | None, as_json: bool) -> None:
    """Serve memory over the Model Context Protocol on standard input and output, until the input ends.

    The agent's program starts this command. It is a thin client of a running `reverie serve`, which also offers the
    same tools at /mcp; `--json` prints the entry for the agent's configuration.

    \b
    Settings: REVERIE_URL (http://127.0.0.1:8080), REVERIE_API_KEY, REVERIE_SUBJECT, REVERIE_SESSION.

    \b
    Examples:
      reverie mcp --subject ana
      reverie mcp --subject ana --json
    """
    if as_json:
        print_json(configuration(subject, session))
        return
    environment = client_module("environment")
    given = {"REVERIE_SUBJECT": subject, "REVERIE_SESSION": session}
    run: Any = client_module("mcp.stdio").run_stdio
    try:
        read = environment.read_environment(overrides={name: value for name, value in given.items() if value})
    except environment.EnvironmentSettingsError as error:
        raise SettingsError(str(error)) from None
    run(read)


def configuration(subject: str | None, session: str | None) -> dict[str, Any]:
    """Return an entry of `mcpServers`, as Claude Desktop, Claude Code and Cursor read it."""
    variables = {
        "REVERIE_URL": "http://127.0.0.1:8080",
        "REVERIE_API_KEY": "reverie.…",
        "REVERIE_SUBJECT": subject or "me",
    } | ({"REVERIE_SESSION": session} if session else {})
    return {
        "mcpServers": {"reverie": {"command": sys.executable, "args": ["-m", "reverie_client.mcp"], "env": variables}}
    }
