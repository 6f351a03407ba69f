"""`reverie triggers`: list reasons to act, and acknowledge them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

import click

from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import format_value, print_json, say, table
from reverie.cli.session import CommandSession

if TYPE_CHECKING:
    from reverie.capture.live.acknowledgements import TriggerAction
    from reverie.recall.signals.triggers import Trigger


@click.command("triggers", short_help="List reasons to act, and acknowledge them.")
@click.argument("subject", required=False)
@click.option("--all", "every", is_flag=True, help="Also future, past, withheld and acknowledged triggers.")
@click.option("--ack", "acknowledged", multiple=True, type=click.UUID, metavar="ID", help="Mark a trigger as done.")
@click.option(
    "--dismiss", "dismissed", multiple=True, type=click.UUID, metavar="ID", help="Mark a trigger as dismissed."
)
@click.option("--actor", metavar="NAME", help="The person who acted.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1), help="Maximum number of triggers.")
@tenant_option
@as_of_option("List what is due at this time.")
@json_option
def command(
    subject: str | None,
    every: bool,
    acknowledged: tuple[UUID, ...],
    dismissed: tuple[UUID, ...],
    actor: str | None,
    limit: int,
    tenant: str | None,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """List what is due for SUBJECT, or for all subjects of the tenant: what to do, why, for whom and until when.

    \b
    Examples:
      reverie triggers --tenant demo
      reverie triggers ana --all --as-of 2026-03-01
      reverie triggers --ack 019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f --actor dana
    """
    from reverie.recall.inspect import count_subject
    from reverie.recall.signals.triggers import list_triggers
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        at = session.time(as_of)
        acted: dict[UUID, TriggerAction] = dict.fromkeys(dismissed, "dismissed")
        acted |= dict.fromkeys(acknowledged, "done")
        _acknowledge(session, acted, at, actor)
        reader = session.primary_reader.session(session.tenant_id)
        found = perform(list_triggers(reader, subject_id=subject, as_of=at, every=every, limit=limit + 1))
        if subject and not found and not session.knows_subject(subject):
            perform(count_subject(reader, subject))  # raises an error if nothing is known of the subject
    shown = found[:limit]
    if as_json:
        print_json({"tenant_id": session.tenant_id, "triggers": shown, "more": len(found) > limit})
        return
    if not shown:
        say("Nothing is due.")
        return
    _print(shown)
    if len(found) > limit:
        say(f"\nThere are more: --limit {limit * 2}")


def _acknowledge(session: CommandSession, acted: dict[UUID, TriggerAction], at: datetime, actor: str | None) -> None:
    from reverie.capture.live.acknowledgements import acknowledge_trigger
    from reverie.store.session import perform

    for id_, action in acted.items():
        tenant_session = session.worker.session(session.tenant_id)
        perform(acknowledge_trigger(tenant_session, id_, action=action, acted_at=at, actor=actor))


def _print(triggers: Sequence[Trigger]) -> None:
    rows = [
        (
            format_value(each.due_at),
            format_value(each.until_at),
            each.subject_id,
            each.kind,
            each.audience,
            each.action or each.withheld or "",
            each.reasons,
            str(each.id),
        )
        for each in triggers
    ]
    table(("due", "until", "subject", "kind", "for", "state", "why", "id"), rows, ids=("subject", "id"))
