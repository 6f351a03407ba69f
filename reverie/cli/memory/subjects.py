"""`reverie subjects`: list the subjects of a tenant."""

from __future__ import annotations

import click

from reverie.cli.options import json_option, paging_options, tenant_option
from reverie.cli.output import print_json, say, table
from reverie.cli.session import CommandSession


@click.command("subjects", short_help="List a tenant's subjects, or search for one.")
@tenant_option
@paging_options("a part of the subject's name or of a speaker's name")
@json_option
def command(tenant: str | None, search: str | None, limit: int, after: str | None, as_json: bool) -> None:
    """List the subjects of a tenant by name, with their turns, active memories and latest turn.

    In JSON, `next` is the value of --after for the next page, or null on the last page.

    \b
    Examples:
      reverie subjects --tenant demo
      reverie subjects --search bakery
      reverie subjects --after ana --limit 200 --json
    """
    from reverie.recall.roster import list_subjects

    with CommandSession(tenant) as session:
        session.require_tenant()
        found = list_subjects(session.reader, session.tenant_id, search=search, after=after, limit=limit + 1)
    page, following = found[:limit], found[limit - 1].subject_id if len(found) > limit else None
    if as_json:
        print_json({"tenant_id": session.tenant_id, "subjects": page, "next": following})
    elif not page:
        say(f"Tenant {session.tenant_id} has no {'such ' if search or after else ''}subjects.")
    else:
        rows = [(each.subject_id, each.turns, each.memories, each.last_turn) for each in page]
        table(("subject", "turns", "memories", "last turn"), rows, right=("turns", "memories"), ids=("subject",))
        if following:
            say(f"\nThere are more: --after '{following}'")
