"""`reverie replay`: one session is read again by the rules of today."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import as_of_option, json_option, policy_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.session import Session
from reverie.cli.signals import ending_cleanly


@click.command("replay", short_help="Read one session again, by the rules of today.")
@click.argument("subject")
@click.argument("session_id", metavar="SESSION")
@tenant_option
@as_of_option("Logical time to work the subject in to.")
@policy_option
@json_option
def command(
    subject: str, session_id: str, tenant: str | None, as_of: datetime | None, policy: str | None, as_json: bool
) -> None:
    """Read the turns of SUBJECT's SESSION again, after a rule was mended or when the session became a dead letter.

    What the rules find now in addition becomes memory; what was found before stays as it is.

    \b
    Examples:
      reverie replay mumbai-bakery 2026-03-02 --tenant demo
    """
    from reverie.drive.replay import replay

    with Session(tenant, policy) as session, ending_cleanly():
        session.require_tenant()
        as_of = session.time(as_of)
        reports = list(replay(session.work(as_of), subject_id=subject, session_id=session_id))
    turns, candidates = reports[0]["turns"], reports[0]["candidates"]
    if as_json:
        print_json({"subject_id": subject, "session_id": session_id, "turns": turns, "candidates": candidates})
    else:
        say(f"{turns:,} turns were read again; {candidates:,} candidates, what was there already among them.")
