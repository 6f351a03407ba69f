"""`reverie migrate`: bring the database to the current schema."""

from __future__ import annotations

import click

from reverie.cli.options import json_option
from reverie.cli.output import print_json, say
from reverie.cli.session import CommandSession


@click.command("migrate", short_help="Bring the database to the current schema.")
@json_option
def command(as_json: bool) -> None:
    """Bring the database to the current schema. Does nothing if the schema is current.

    Without DATABASE_URL, an embedded Postgres is started, with its data under REVERIE_HOME. The user of the URL must be
    allowed to create roles, schemas and the vector extension; otherwise an administrator runs sql/bootstrap.sql once.

    \b
    Examples:
      reverie migrate
      DATABASE_URL=postgresql://me:secret@db:5432/app reverie migrate
    """
    from reverie.store.migrate import migrate

    with CommandSession() as session:
        revision = migrate(session.url)
    if as_json:
        print_json({"revision": revision})
    else:
        say(f"The database is at revision {revision}.")
