"""`reverie digest`: the number that tells whether two memories are the same."""

from __future__ import annotations

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import print_json, say, table
from reverie.cli.session import Session


@click.command("digest", short_help="Print the digest of everything derived: same digest, same memory.")
@tenant_option
@json_option
def command(tenant: str | None, as_json: bool) -> None:
    """Print the digest of everything derived for a tenant, ids and vectors included: same digest, same memory.

    Run a stage twice, kill a run and repeat it, rebuild from the log: the digest stays.

    \b
    Examples:
      reverie digest
      reverie digest --tenant demo --json
    """
    from reverie.store.digest import digest

    with Session(tenant) as session:
        found = digest(session.reader, session.tenant_id)
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
