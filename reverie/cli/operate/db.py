"""`reverie db`: control the embedded Postgres, and print the URL of the database in use."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from reverie.cli.options import json_option
from reverie.cli.output import pairs, print_json, say
from reverie.cli.session import CommandSession


@click.group("db", short_help="Control the embedded Postgres.")
def command() -> None:
    """Start, stop and connect to the embedded Postgres, which is used unless DATABASE_URL is set.

    \b
    Examples:
      reverie db start
      psql "$(reverie db url)"
      reverie db stop
    """


@command.command("start", short_help="Start it, unless it is running.")
@json_option
def start(as_json: bool) -> None:
    """Start the embedded Postgres, unless it is running. The first start creates its data under REVERIE_HOME."""
    from reverie.store.server.embedded import embedded_postgres

    with CommandSession() as session:
        if _elsewhere(session, as_json):
            return
        server = embedded_postgres(session.settings)
        server.start()
        status = server.status()
    if as_json:
        print_json({"embedded": True} | _flat(status))
    else:
        say(f"Postgres {status.major} is running on 127.0.0.1:{status.port}, with its data in {status.directory}.")


@command.command("stop", short_help="Stop it.")
@json_option
def stop(as_json: bool) -> None:
    """Stop the embedded Postgres and close its connections. Its data stay."""
    from reverie.store.server.embedded import embedded_postgres

    with CommandSession() as session:
        if _elsewhere(session, as_json):
            return
        stopped = embedded_postgres(session.settings).stop()
    if as_json:
        print_json({"embedded": True, "stopped": stopped})
    else:
        say("Stopped." if stopped else "It was not running.")


@command.command("url", short_help="Print the URL of the database in use, with its password.")
@json_option
def url(as_json: bool) -> None:
    """Print the URL of the database in use, with its password: DATABASE_URL, or that of the embedded Postgres, which is
    started if necessary.

    \b
    Example:
      psql "$(reverie db url)" -c 'select count(*) from log.turns'
    """
    with CommandSession() as session:
        address = session.url
    if as_json:
        print_json({"url": address})
    else:
        click.echo(address)


@command.command("status", short_help="Show whether it is running, and where.")
@json_option
def status(as_json: bool) -> None:
    """Show whether the embedded Postgres is running and where its data are. Starts nothing."""
    from reverie.store.server.embedded import embedded_postgres

    with CommandSession() as session:
        embedded = session.settings.database_url is None
        found = _flat(embedded_postgres(session.settings).status())
    if as_json:
        print_json({"embedded": embedded} | found)
        return
    if not embedded:
        say("DATABASE_URL is set: that database is used, not the embedded one.")
    pairs(
        [
            ("running", f"yes, process {found['pid']}" if found["running"] else "no"),
            ("address", f"127.0.0.1:{found['port']}" if found["running"] else None),
            ("directory", found["directory"]),
            ("version", f"Postgres {found['major']}" if found["major"] else "no data yet"),
        ]
    )


@command.command("psql-hint", short_help="Print the command that opens a SQL prompt.")
@json_option
def psql_hint(as_json: bool) -> None:
    """Print the command that opens a SQL prompt in the database in use.

    \b
    Example:
      eval "$(reverie db psql-hint)"
    """
    from shutil import which

    from reverie.errors import DatabaseError
    from reverie.store.server.programs import programs

    with CommandSession() as session:
        address = session.url
    program = which("psql")
    if program is None:
        try:
            shipped: Path | None = programs() / "psql"
        except DatabaseError:
            shipped = None
        program = str(shipped) if shipped and shipped.exists() else "psql"
    line = f"{shlex.quote(program)} {shlex.quote(address)}"
    if as_json:
        print_json({"command": line})
    else:
        click.echo(line)


@command.command("analyst-env", short_help="Print the variables for psql and dbt as a data team.")
@json_option
def analyst_env(as_json: bool) -> None:
    """Print the connection to the database in use as environment variables of psql and dbt (PGHOST, PGPASSWORD, ...).
    The session acts as reverie_analyst: it reads all tenants but no content, and builds the marts (docs/marts.md).

    \b
    Example:
      eval "$(reverie db analyst-env)"
      psql -c 'select tenant_id, count(*) from log.turns group by 1'
    """
    from reverie.store.server.address import libpq_environment

    with CommandSession() as session:
        variables = libpq_environment(session.url, "reverie_analyst")
    if as_json:
        print_json(variables)
    else:
        for name, value in variables.items():
            click.echo(f"export {name}={shlex.quote(value)}")


def _elsewhere(session: CommandSession, as_json: bool) -> bool:
    """Return whether DATABASE_URL is set, and say so if it is. This is no error, so scripts need no special case."""
    if session.settings.database_url is None:
        return False
    if as_json:
        print_json({"embedded": False})
    else:
        say("DATABASE_URL is set: that database is used, and there is nothing to start or stop.")
    return True


def _flat(found: Any) -> dict[str, Any]:
    fields = ("running", "pid", "port", "major")
    return {"directory": str(found.directory)} | {name: getattr(found, name) for name in fields}
