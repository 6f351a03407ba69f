"""`reverie conflicts`: list memories that cannot both hold."""

from __future__ import annotations

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import print_json, say, single_line, table
from reverie.cli.session import CommandSession

#: Reasons why nothing decides between two memories.
_REASONS = {
    "same_time": "stated at the same time",
    "same_session": "stated in one session",
    "alternating": "each was stated again after the other",
    "several": "several held before",
    "ambiguous_end": "the end could refer to either",
    "less_sure": "the later one is less certain",
}


@click.command("conflicts", short_help="List memories that contradict each other.")
@click.argument("subject", required=False)
@tenant_option
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1), help="Maximum number of conflicts.")
@json_option
def command(subject: str | None, tenant: str | None, limit: int, as_json: bool) -> None:
    """List the pairs of memories of SUBJECT, or of all subjects of the tenant, that cannot both hold. Nothing that was
    said decides between them, so both are in force.

    `reverie correct` marks the wrong one. A later statement may decide, too.

    \b
    Examples:
      reverie conflicts --tenant demo
      reverie conflicts ana --json
    """
    from reverie.recall.conflicts import list_conflicts
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        tenant_session = session.reader.session(session.tenant_id)
        found = perform(list_conflicts(tenant_session, subject_id=subject, limit=limit + 1))
    shown = found[:limit]
    if as_json:
        print_json({"tenant_id": session.tenant_id, "conflicts": shown, "more": len(found) > limit})
        return
    if not shown:
        say("There are no conflicts.")
        return
    for place, each in enumerate(shown):
        if place:
            say("")
        say(f"{each.subject_id}, {each.relation.replace('_', ' ')}: {_REASONS.get(each.reason, each.reason)}")
        rows = [
            (each.happened_at, each.memory_id, single_line(each.content, 200)),
            (each.other_happened_at, each.other_id, single_line(each.other_content, 200)),
        ]
        table(("when", "id", "memory"), rows, ids=("id",))
    if len(found) > limit:
        say(f"\nThere are more: --limit {limit * 2}")
