"""`reverie tenants`: list the tenants of the database."""

from __future__ import annotations

import click

from reverie.cli.options import json_option, paging_options
from reverie.cli.output import print_json, say, table
from reverie.cli.session import CommandSession


@click.command("tenants", short_help="List the tenants of the database, or search for one.")
@paging_options("a part of the name")
@json_option
def command(search: str | None, limit: int, after: str | None, as_json: bool) -> None:
    """List the tenants of the database by name, with their policy, subjects, turns, active memories and latest turn.

    In JSON, `next` is the value of --after for the next page, or null on the last page.

    \b
    Examples:
      reverie tenants
      reverie tenants --search shop --json
    """
    from reverie.recall.roster import list_tenants

    with CommandSession() as session:
        found = list_tenants(session.worker, search=search, after=after, limit=limit + 1)
    page, following = found[:limit], found[limit - 1].tenant_id if len(found) > limit else None
    if as_json:
        print_json({"tenants": page, "next": following})
    elif not page:
        say("There are no such tenants." if search or after else "There are no tenants yet: reverie import FILE")
    else:
        from reverie.policy import policy_label

        columns = ("tenant", "policy", "subjects", "turns", "memories", "last turn")
        rows = [
            (one.tenant_id, policy_label(one.policy), one.subjects, one.turns, one.memories, one.last_turn)
            for one in page
        ]
        table(columns, rows, right=("subjects", "turns", "memories"), ids=("tenant", "policy"))
        if following:
            say(f"\nThere are more: --after '{following}'")
