"""`reverie clock`: what time it is for a tenant."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import json_option, parse_time_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.session import Session


@click.command("clock", short_help="See, stop or start a tenant's clock.")
@tenant_option
@click.option("--stop-at", callback=parse_time_option, metavar="TIME", help="Let it stand at this time.")
@click.option("--run", "running", is_flag=True, help="Let it run again, as the wall clock does.")
@json_option
def command(tenant: str | None, stop_at: datetime | None, running: bool, as_json: bool) -> None:
    """See, stop or start the clock of a tenant.

    A stopped clock is for a history that has ended, such as a sample: schedules, workers and `reverie run` bring the
    tenant's memory to that time and no further, so nothing of it fades, and `--as-of` is that time by default. Started
    again, the next cycle catches up, and forgets for good what has faded since.

    \b
    Examples:
      reverie clock --tenant demo
      reverie clock --tenant demo --stop-at 2026-06-30
      reverie clock --tenant demo --run
    """
    from reverie.store.clock import read_clock, set_clock

    if stop_at and running:
        raise click.UsageError("Give --stop-at or --run, not both.")
    with Session(tenant) as session:
        session.require_tenant()
        if stop_at or running:
            with session.worker.transaction(session.tenant_id) as conn:
                set_clock(conn, session.tenant_id, stop_at)
        at = read_clock(session.worker, session.tenant_id)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "clock_at": at})
    elif at is None:
        say(f"The clock of tenant {session.tenant_id} runs: now is the wall clock's.")
    else:
        say(f"The clock of tenant {session.tenant_id} stands at {at:%Y-%m-%d %H:%M} UTC.")
