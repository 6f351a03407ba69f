"""`reverie consent`: show or set what a subject agrees to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from reverie.cli.memory.correcting import actor_option, shell_user
from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import note, pairs, print_json, say, table
from reverie.cli.session import CommandSession
from reverie.cli.suggestions import question

if TYPE_CHECKING:
    from reverie.store.privacy.consents import Consent

_SWITCH = click.Choice(["on", "off"])


@click.command("consent", short_help="Show or set what a subject agrees to.")
@click.argument("subject", required=False)
@click.option("--capture", type=_SWITCH, help="Whether turns and events are taken in.")
@click.option("--recall", type=_SWITCH, help="Whether recalls and contexts answer from memory.")
@click.option(
    "--retain-days",
    type=click.IntRange(0, 36_500),
    metavar="N",
    help="Erase what was said more than N days ago; 0 keeps it for ever.",
)
@actor_option
@tenant_option
@json_option
def command(
    subject: str | None,
    capture: str | None,
    recall: str | None,
    retain_days: int | None,
    actor: str | None,
    tenant: str | None,
    as_json: bool,
) -> None:
    """Show what SUBJECT agrees to, or change it; without SUBJECT, list those who do not agree to everything.

    With capture off, new turns and events are refused. With recall off, recalls and contexts are empty and say why.
    With --retain-days, each `reverie run` and each cycle in Dagster erases what is older, as `reverie erase` does.
    `reverie maintain` and `reverie worker` do not. The settings outlive rebuilds.

    \b
    Examples:
      reverie consent ana --capture off --actor "support: Dana"
      reverie consent ana --recall off --retain-days 90
      reverie consent --tenant demo --json
    """
    from reverie.store.privacy.consents import ConsentChange, change_consent, list_consents, read_consent
    from reverie.store.session import perform

    change = ConsentChange(
        capture=None if capture is None else capture == "on",
        recall=None if recall is None else recall == "on",
        retain_days=retain_days,
    )
    changes = change != ConsentChange()
    if subject is None and changes:
        raise click.UsageError("Name the subject whose consent is to change.")
    with CommandSession(tenant) as session:
        session.require_tenant()
        tenant_session = session.worker.session(session.tenant_id)
        if subject is None:
            found = list(perform(list_consents(tenant_session)))
        elif changes:
            who = actor if actor is not None else shell_user()
            found = [perform(change_consent(tenant_session, subject, change, at=datetime.now(UTC), actor=who))]
            _note_unknown(session, subject)
        else:
            found = [perform(read_consent(tenant_session, subject))]
    if as_json:
        print_json({"tenant_id": session.tenant_id, "consents": found})
    elif subject is not None:
        _print(found[0])
    else:
        _list(found, session.tenant_id)


def _note_unknown(session: CommandSession, subject: str) -> None:
    """Note that nothing is known of a subject: its name may be misspelt, or it may consent before it says anything."""
    if not session.knows_subject(subject):
        suggestion = question(session.similar("subject", subject))
        note(f"Nothing was said by or about subject {subject!r} so far.{suggestion}")


def _list(found: Sequence[Consent], tenant_id: str) -> None:
    if not found:
        say(f"No subject of tenant {tenant_id} has restricted its consent.")
        return
    rows = [
        (
            each.subject_id,
            _switch(each.capture),
            _switch(each.recall),
            each.retain_days or "",
            each.changed_at or "",
            each.actor or "",
        )
        for each in found
    ]
    table(("subject", "capture", "recall", "days", "changed at", "by"), rows, right=("days",), ids=("subject",))


def _print(consent: Consent) -> None:
    pairs(
        [
            ("subject", consent.subject_id),
            ("capture", _switch(consent.capture)),
            ("recall", _switch(consent.recall)),
            ("kept for", f"{consent.retain_days:,} days" if consent.retain_days else "ever"),
            ("changed at", consent.changed_at),
            ("by", consent.actor),
        ]
    )


def _switch(is_on: bool) -> str:
    return "on" if is_on else "off"
