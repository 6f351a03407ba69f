"""`reverie simulate`: simulate a year under a policy, or under several to compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from reverie.cli.options import named
from reverie.cli.output import heading, note, print_json, say, table
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly

if TYPE_CHECKING:
    from reverie.evaluate.simulation.figures import SimulationResult
    from reverie.evaluate.simulation.simulate import SimulationPlan

#: The label of each figure in the summary.
_NAMES = {
    "memories_per_subject": "memories a subject",
    "most_memories": "most memories of a subject",
    "growth_after_month_3": "memories at the end / at month 3",
    "answered": "facts answered",
    "durable_answered": "durable facts answered",
    "held": "facts in memory alone",
    "durable_held": "durable facts in memory alone",
    "stale_first": "old value first",
    "ended_still_told": "ended things still told",
    "forgotten": "memories forgotten",
    "bytes_per_subject": "bytes a subject",
    "cost_usd": "cost (US dollars)",
    "seconds": "seconds",
}


@click.command("simulate", short_help="Simulate a year of daily use under a policy.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME|PATH",
    help="A policy to compare with the default. If given several times, only these are compared.",
)
@click.option(
    "--tenant", "-t", metavar="NAME", callback=named, help="Keep the year as this new tenant, under one policy."
)
@click.option(
    "--people", type=click.IntRange(1, 100), default=3, show_default=True, metavar="N", help="Number of people."
)
@click.option(
    "--weeks", type=click.IntRange(1, 520), default=52, show_default=True, metavar="N", help="Length in weeks."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N", help="Seed of the year.")
@click.option(
    "--recalls",
    type=click.IntRange(0, 1000),
    default=5,
    show_default=True,
    metavar="N",
    help="Logged recalls per person and week.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list with one object per policy.")
def command(
    policies: tuple[str, ...], tenant: str | None, people: int, weeks: int, seed: int, recalls: int, *, as_json: bool
) -> None:
    """Simulate a year of daily use by made-up people, and show what memory keeps of it under a policy.

    Facts are planted with their truth over time, between small talk, moods, routines and requests. Memory is asked
    about each of them at the end of every month. The year runs in a temporary database, or as a new tenant with
    --tenant; it takes about a minute per person. docs/simulating.md explains each figure.

    \b
    Examples:
      reverie simulate
      reverie simulate --policy mine.toml
      reverie simulate --policy brain --policy contact --people 1 --weeks 12
      reverie simulate --tenant demo-year --json
    """
    from reverie.evaluate.simulation.simulate import SimulationPlan

    plan = SimulationPlan(people=people, weeks=weeks, seed=seed, recalls=recalls)
    with CommandSession(tenant) as session, ending_cleanly():
        results = _simulated(session, policies, plan, tenant)
    if as_json:
        print_json([asdict(each) | {"summary": each.summary()} for each in results])
        return
    for result in results:
        _show(result)
    if len(results) > 1:
        _compare(results)


def _simulated(
    session: CommandSession, policies: Sequence[str], plan: SimulationPlan, tenant: str | None
) -> list[SimulationResult]:
    from reverie.evaluate.simulation.simulate import simulate, simulate_policies

    def progress(policy: str, week: int) -> None:
        if week % 4 == 0:
            note(f"{policy}: week {week} of {plan.weeks}.")

    if tenant is None:
        named = list(policies) if len(policies) > 1 else [session.new_tenant_policy, *policies]
        return simulate_policies(list(dict.fromkeys(named)), session.embedder, plan, progress=progress)
    if len(policies) > 1:
        raise click.UsageError("--tenant keeps the year of one policy: give one --policy, or omit --tenant.")
    from reverie.policy import load_policy, policy_reference
    from reverie.store.tenants import ensure_tenant

    name = policy_reference(policies[0]) if policies else session.policy_name
    policy = load_policy(name)
    with session.worker.transaction(tenant) as conn:
        ensure_tenant(conn, tenant, name)
    return [simulate(session.worker, tenant, policy, session.embedder, plan, progress=progress)]


def _show(result: SimulationResult) -> None:
    heading(f"{result.policy}: {result.people} people, {len(result.weeks)} weeks, {result.turns:,} turns")
    columns = ("month", "memories", "facts", "answered", "durable", "in memory", "old first", "ended", "still told")
    counts = {each.week: each.memories for each in result.weeks}
    rows = [
        (
            each.month,
            f"{counts[each.week]:.1f}",
            each.asked,
            *map(_share, (each.answered, each.durable, each.held, each.stale_first)),
            each.ended,
            each.still_told,
        )
        for each in result.months
    ]
    table(columns, rows, right=columns)
    say()
    say("Memories a subject: " + ", ".join(f"{name} {number:.0f}" for name, number in result.milestones.items()) + ".")
    say("Kinds: " + ", ".join(f"{kind} {number}" for kind, number in result.kinds.items()) + ".")
    say("Forgotten: " + (", ".join(f"{why} {number}" for why, number in result.forgotten.items()) or "none") + ".")


def _compare(results: Sequence[SimulationResult]) -> None:
    heading("At the end of the year")
    summaries = [each.summary() for each in results]
    columns = ("", *(each.policy for each in results))
    rows = [(label, *(_number(each.get(name)) for each in summaries)) for name, label in _NAMES.items()]
    table(columns, rows, right=columns[1:])


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}".removesuffix(".00")
