"""`reverie clock`: show, stop or start a tenant's clock."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import json_option, parse_time_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.session import CommandSession


@click.command("clock", short_help="Show, stop or start a tenant's clock.")
@tenant_option
@click.option("--stop-at", callback=parse_time_option, metavar="TIME", help="Stop the clock at this time.")
@click.option("--run", "running", is_flag=True, help="Start the clock again: it follows the wall clock.")
@json_option
def command(tenant: str | None, stop_at: datetime | None, running: bool, as_json: bool) -> None:
    """Show, stop or start the clock of a tenant.

    Stop the clock for a history that has ended, such as a sample. Schedules, workers and `reverie run` then bring the
    tenant's memory to that time and no further, so that nothing fades, and `--as-of` is that time by default. After the
    clock is started again, the next cycle catches up and permanently forgets what has faded since.

    \b
    Examples:
      reverie clock --tenant demo
      reverie clock --tenant demo --stop-at 2026-06-30
      reverie clock --tenant demo --run
    """
    from reverie.store.clock import read_clock, set_clock

    if stop_at and running:
        raise click.UsageError("Give --stop-at or --run, not both.")
    with CommandSession(tenant) as session:
        session.require_tenant()
        if stop_at or running:
            with session.worker.transaction(session.tenant_id) as conn:
                set_clock(conn, session.tenant_id, stop_at)
        at = read_clock(session.worker, session.tenant_id)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "clock_at": at})
    elif at is None:
        say(f"The clock of tenant {session.tenant_id} follows the wall clock.")
    else:
        say(f"The clock of tenant {session.tenant_id} is stopped at {at:%Y-%m-%d %H:%M} UTC.")
