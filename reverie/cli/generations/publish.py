"""`reverie publish`: make a generation the live memory, or revert."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.generations.live import live_memory
from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import note, print_json, say
from reverie.cli.progress import Bars, bars
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly
from reverie.errors import NotFoundError, ReverieError, StageError

if TYPE_CHECKING:
    from reverie.generations.publishing import Switched


@dataclass(frozen=True, kw_only=True)
class PublishOptions:
    """The options of the command line."""

    tenant: str | None
    all_tenants: bool
    canary: float | None
    generation: int | None
    undo: bool
    gate: bool
    as_json: bool

    def require_sense(self) -> None:
        """Raise a usage error for options that do not go together."""
        if self.all_tenants and (self.tenant or self.generation):
            raise click.UsageError(
                "--all-tenants takes each tenant's latest generation: omit --tenant and --generation."
            )
        if self.canary is not None and not self.all_tenants:
            raise click.UsageError("--canary needs --all-tenants.")


@click.command("publish", short_help="Make a generation the live memory, or revert.")
@tenant_option
@click.option("--all-tenants", is_flag=True, help="The latest ready generation of every tenant, one after the other.")
@click.option(
    "--canary",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="With --all-tenants: only this share of tenants, always the same ones.",
)
@click.option(
    "--generation", type=click.IntRange(1), metavar="NUMBER", help="The generation to publish. [default: the latest]"
)
@click.option("--revert", "undo", is_flag=True, help="Restore the memory that a published generation replaced.")
@click.option("--gate/--no-gate", default=True, help="Check the policy's gates first. [default: yes]")
@json_option
def command(**given: Any) -> None:
    """Make a generation that `reverie rebuild --shadow` built the live memory of a tenant, in one transaction.

    First the generation is brought up to date with the turns, corrections and recalls since it was built. Requests
    continue and find the old memory or the new one; stages of the tenant wait while rows are replaced. The tenant then
    has the generation's policy. If a publication stopped after that transaction, the command with --tenant and
    --generation completes it.

    The policy's `[publish]` table says how many first answers may change, and how long the replaced memory is kept for
    --revert; quality may not fall by more than the tolerance of `[evaluation]`. If a gate refuses, the exit code is 11.

    \b
    Examples:
      reverie publish --tenant demo
      reverie publish --tenant demo --revert
      reverie publish --all-tenants --canary 0.1
    """
    options = PublishOptions(**given)
    options.require_sense()
    done: list[Switched] = []
    failed: dict[str, str] = {}
    with CommandSession(options.tenant) as session, ending_cleanly(), bars() as shown:
        tenants = _chosen(session, options)
        for tenant_id in tenants:
            try:
                done.append(_switch(session.for_tenant(tenant_id), options, shown))
            except NotFoundError:
                if not options.all_tenants:
                    raise
            except ReverieError as error:
                if not options.all_tenants:
                    raise
                failed[tenant_id] = str(error)
    _show(done, failed, options)
    if failed:
        raise StageError(f"{len(failed):,} of {len(tenants):,} tenants failed; the others are published.")


def in_canary(tenant_id: str, share: float) -> bool:
    """Return whether a tenant belongs to the canary: a `share` (0 to 1) of tenants, always the same ones."""
    first = int.from_bytes(hashlib.sha256(tenant_id.encode()).digest()[:8], "big")
    return first < share * 2**64


def _chosen(session: CommandSession, options: PublishOptions) -> list[str]:
    if not options.all_tenants:
        return [session.tenant_id]
    share = 1.0 if options.canary is None else options.canary
    return [tenant_id for tenant_id, _ in session.worker.tenants() if in_canary(tenant_id, share)]


def _switch(session: CommandSession, options: PublishOptions, shown: Bars) -> Switched:
    from reverie.generations.catalog import drop_ended, find_generation
    from reverie.generations.publishing import Publisher, publish, revert
    from reverie.inference.loading import load_embedder

    live = live_memory(session, None, jobs=min(2, session.settings.threads), shown=shown)
    drop_ended(live, datetime.now(UTC))
    publisher = Publisher(
        clock=lambda: session.time(None),
        embedder_of=partial(load_embedder, threads=session.settings.threads),
        gated=options.gate,
    )
    if options.undo:
        chosen = find_generation(live.work.store, live.tenant_id, options.generation, "published")
        return revert(live, chosen, publisher)
    # a published one only if it is named: otherwise a command with nothing to publish would seem to have published it
    states = ("ready", "reverted", "published") if options.generation else ("ready",)
    return publish(live, find_generation(live.work.store, live.tenant_id, options.generation, *states), publisher)


def _show(done: list[Switched], failed: dict[str, str], options: PublishOptions) -> None:
    if options.as_json:
        print_json({"switched": done, "failed": failed})
    else:
        for each in done:
            what = "is live" if each.verb == "publish" else "is reverted"
            say(
                f"Tenant {each.tenant_id}: generation {each.number} {what}. {each.rows:,} rows replaced; stages waited "
                f"{each.lock_seconds:.2f} s. The replaced memory is kept until {each.kept_until:%Y-%m-%d %H:%M} UTC."
            )
        if not done and not failed:
            say("No tenant has a generation to publish.")
    for tenant_id, why in failed.items():
        note(f"Error: tenant {tenant_id}: {why}")
