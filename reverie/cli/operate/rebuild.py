"""`reverie rebuild`: empty a tenant's memory and build it again from the log."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.cli.operate.run import consolidate
from reverie.cli.options import as_of_option, json_option, policy_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.progress import bars
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly

if TYPE_CHECKING:
    from reverie.store.digest import Digest


@click.command("rebuild", short_help="Empty a tenant's memory and build it again from the log.")
@tenant_option
@as_of_option("Logical time to bring memory to.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="NUMBER",
    help="Buckets processed in parallel. [default: 2, or 1 on one CPU]",
)
@click.option("--gate", is_flag=True, help="Build memory in a temporary database first, and stop if recall finds less.")
@policy_option
@json_option
def command(
    tenant: str | None,
    as_of: datetime | None,
    yes: bool,
    jobs: int | None,
    gate: bool,
    policy: str | None,
    as_json: bool,
) -> None:
    """Empty the memory of a tenant and build it again from the log, in event time.

    Use it when history has arrived late or in parts, and after a change of policy or model. The log stays, and so do
    cached vectors and model replies, so nothing is paid for twice. Meanwhile recall finds only what has been rebuilt.
    After an interruption, run `reverie run` or this command again.

    With --gate, held-back questions of the log are asked of both first (docs/evaluating.md), and nothing is emptied
    when quality falls by more than the policy's tolerance; the exit code is 11.

    \b
    Examples:
      reverie rebuild --tenant demo --as-of 2026-06-30
      reverie rebuild --tenant demo --yes --json
    """
    from reverie.drive.rebuild import empty_memory
    from reverie.store.digest import digest
    from reverie.store.work import Work

    with CommandSession(tenant, policy) as session:
        jobs = jobs or min(2, session.settings.threads)
        session.connections = jobs
        session.require_tenant()
        as_of = session.time(as_of)
        if gate:
            _pass_gate(session, as_of)
        before = digest(session.worker, session.tenant_id)
        if not yes:
            number = before.tables["memories"].rows
            click.confirm(f"Empty {number:,} memories of tenant {session.tenant_id} and rebuild?", abort=True, err=True)
        empty_memory(Work(store=session.worker, scope=session.scope(), policy=session.policy, as_of=as_of))
        with ending_cleanly(), bars() as shown:
            runs = sum(1 for _ in consolidate(session, session.scope(), as_of, jobs, shown))
        after = digest(session.worker, session.tenant_id)
    _show(session.tenant_id, as_of, runs, (before, after), as_json=as_json)


def _pass_gate(session: CommandSession, as_of: datetime) -> None:
    """Build the memory beside the present one, and compare; raises QualityError."""
    from reverie.cli.measure.evaluate import pass_gate

    pass_gate(session, CommandSession(session.tenant_id, runtime=session.runtime), as_of, rebuilt=True)


def _show(tenant_id: str, as_of: datetime, runs: int, digests: tuple[Digest, Digest], *, as_json: bool) -> None:
    before, after = digests
    changed = [name for name, table in after.tables.items() if table != before.tables.get(name)]
    if as_json:
        print_json(
            {
                "tenant_id": tenant_id,
                "as_of": as_of,
                "runs": runs,
                "memories_before": before.tables["memories"].rows,
                "memories": after.tables["memories"].rows,
                "changed": changed,
                "sha256": after.sha256,
            }
        )
        return
    say(f"{after.tables['memories'].rows:,} memories, {before.tables['memories'].rows:,} before.")
    say(f"Changed tables: {', '.join(changed)}." if changed else "Memory is the same as before.")
