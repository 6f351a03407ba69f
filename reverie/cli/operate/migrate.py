"""`reverie migrate`: bring the database to the current schema."""

from __future__ import annotations

import click

from reverie.cli.options import json_option
from reverie.cli.output import note, print_json, say
from reverie.cli.session import CommandSession


@click.command("migrate", short_help="Bring the database to the current schema.")
@json_option
def command(as_json: bool) -> None:
    """Bring the database to the current schema. Does nothing if the schema is current.

    Without DATABASE_URL, an embedded Postgres is started, with its data under REVERIE_HOME. The user of the URL must be
    allowed to create roles, schemas and the vector extension; otherwise the error names what an administrator runs. A
    new database is refused if its locale does not fold case, as C does not.

    \b
    Examples:
      reverie migrate
      DATABASE_URL=postgresql://me:secret@db:5432/app reverie migrate
    """
    from reverie.store.connect import connect
    from reverie.store.migrate import NOT_FOLDING, folds_case, migrate

    with CommandSession() as session:
        revision = migrate(session.url)
        with connect(session.url) as conn:
            if not folds_case(conn):
                note(f"Warning: {NOT_FOLDING} (docs/deploying.md).")
    if as_json:
        print_json({"revision": revision})
    else:
        say(f"The database is at revision {revision}.")
