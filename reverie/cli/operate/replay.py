"""`reverie replay`: extract one session again with the current rules."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import as_of_option, json_option, policy_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly


@click.command("replay", short_help="Extract one session again with the current rules.")
@click.argument("subject")
@click.argument("session_id", metavar="SESSION")
@tenant_option
@as_of_option("Bring the subject's memory to this logical time.")
@policy_option
@json_option
def command(
    subject: str, session_id: str, tenant: str | None, as_of: datetime | None, policy: str | None, as_json: bool
) -> None:
    """Extract the turns of SUBJECT's SESSION again, after a rule was fixed or when the session became a dead letter.

    New candidates become memories; earlier ones stay as they are.

    \b
    Examples:
      reverie replay mumbai-bakery 2026-03-02 --tenant demo
    """
    from reverie.drive.replay import replay

    with CommandSession(tenant, policy) as session, ending_cleanly():
        session.require_tenant()
        as_of = session.time(as_of)
        reports = list(replay(session.work(as_of), subject_id=subject, session_id=session_id))
    turns, candidates = reports[0]["turns"], reports[0]["candidates"]
    if as_json:
        print_json({"subject_id": subject, "session_id": session_id, "turns": turns, "candidates": candidates})
    else:
        say(f"{turns:,} turns were extracted again: {candidates:,} candidates, including earlier ones.")
