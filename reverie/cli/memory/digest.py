"""`reverie digest`: a hash of all derived data, to compare memories."""

from __future__ import annotations

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import print_json, say, table
from reverie.cli.session import CommandSession


@click.command("digest", short_help="Print the digest of a tenant's memory, to compare it.")
@tenant_option
@json_option
def command(tenant: str | None, as_json: bool) -> None:
    """Print the digest of a tenant's derived data, ids and vectors included. Equal digests mean equal memory.

    The digest stays the same when a stage runs twice, when a killed run is repeated, and after a rebuild.

    \b
    Examples:
      reverie digest
      reverie digest --tenant demo --json
    """
    from reverie.store.digest import digest

    with CommandSession(tenant) as session:
        session.require_tenant()
        found = digest(session.primary_reader, session.tenant_id)
    if as_json:
        tables = {
            f"{name}_{field}": getattr(each, field)
            for name, each in found.tables.items()
            for field in ("rows", "sha256")
        }
        print_json({"tenant_id": session.tenant_id, "sha256": found.sha256} | tables)
        return
    say(found.sha256)
    table(
        ("table", "rows", "sha256"),
        [(f"memory.{name}", each.rows, each.sha256[:16]) for name, each in found.tables.items()],
        right=("rows",),
    )
