"""`reverie run`: build memory from the log, without an orchestrator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import as_of_option, json_option, parse_shards, policy_option, tenant_option
from reverie.cli.output import counts_text, note, print_json, say, table
from reverie.cli.progress import Bars, bars
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly
from reverie.consolidate.stages import BY_NAME, NAMES
from reverie.errors import InputError, ReverieError, SettingsError, StageError

if TYPE_CHECKING:
    from reverie.model import Scope
    from reverie.store.runs import Report
    from reverie.store.work import Work


class StageName(click.Choice[str]):
    """The name of a stage; `structure` is the former name of `facts`."""

    def __init__(self) -> None:
        super().__init__(NAMES)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail with the choices."""
        return super().convert("facts" if value == "structure" else value, param, ctx)


@dataclass(kw_only=True)
class StageTotals:
    """The totals of one stage's runs for one tenant."""

    tenant_id: str
    stage: str
    runs: int = 0
    seconds: float = 0.0
    model_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    counts: dict[str, int | float] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        """Add one run."""
        self.runs += 1
        self.seconds += report.seconds
        self.model_calls += report.model_calls
        self.tokens += report.tokens
        self.cost_usd += report.cost_usd
        for name, number in report.counts.items():
            self.counts[name] = self.counts.get(name, 0) + number

    def flat(self) -> dict[str, Any]:
        """Return the totals as one flat object, counts included."""
        names = ("tenant_id", "stage", "runs", "seconds", "model_calls", "tokens", "cost_usd")
        return {name: getattr(self, name) for name in names} | self.counts


@click.command("run", short_help="Build memory from the log.")
@tenant_option
@click.option("--all-tenants", is_flag=True, help="Every tenant, each with its own policy.")
@as_of_option("Bring memory to this logical time.")
@click.option("--subject", "-s", "subjects", multiple=True, metavar="NAME", help="Only this subject; repeatable.")
@click.option(
    "--shards", callback=parse_shards, metavar="FROM-TO", help="Only subjects in this range of the 1024 shards."
)
@click.option("--stage", type=StageName(), help="Only this stage, once.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="NUMBER",
    help="Buckets processed in parallel. [default: 2, or 1 on one CPU]",
)
@click.option("--dry-run", is_flag=True, help="Run over a temporary copy, say what it did, and write nothing.")
@policy_option
@json_option
def command(
    tenant: str | None,
    all_tenants: bool,
    as_of: datetime | None,
    subjects: tuple[str, ...],
    shards: tuple[int, int],
    stage: str | None,
    jobs: int | None,
    dry_run: bool,
    policy: str | None,
    as_json: bool,
) -> None:
    """Build memory from the log: extract and embed every turn up to --as-of, then consolidate cycle by cycle, at the
    times at which a live system would have done it. Needs no orchestrator, and can run beside one.

    Each step is a transaction: run an interrupted run again. A second run with the same --as-of changes nothing.

    --dry-run shows, for example, what would be forgotten; with --stage, what that stage would do on the current state.

    \b
    Examples:
      reverie run --tenant demo
      reverie run --as-of 2026-06-30 --subject ana
      reverie run --stage decay --dry-run
      reverie run --all-tenants --shards 0-511 --json
    """
    if tenant and all_tenants:
        raise click.UsageError("Give --tenant or --all-tenants, not both.")
    totals: dict[tuple[str, str], StageTotals] = {}
    failed: dict[str, str] = {}
    with CommandSession(tenant, policy) as session, ending_cleanly(), bars() as shown:
        session.connections = jobs = jobs or min(2, session.settings.threads)
        store = session.worker
        tenants = [name for name, _ in store.tenants()] if all_tenants else [session.tenant_id]
        until = as_of or (datetime.now(UTC) if all_tenants else session.time(None))
        for tenant_id in tenants:
            try:
                for_tenant = session.for_tenant(tenant_id)
                scope = _scope(tenant_id, subjects, shards)
                for report in _run_tenant(for_tenant, scope, as_of, stage, jobs, dry_run, shown):
                    key = (tenant_id, report.stage)
                    totals.setdefault(key, StageTotals(tenant_id=tenant_id, stage=report.stage)).add(report)
            except Exception as error:
                if not all_tenants:
                    raise
                # only Reverie's own errors are known to contain no user text
                failed[tenant_id] = str(error) if isinstance(error, ReverieError) else type(error).__name__
    _print_totals(list(totals.values()), failed, until, dry_run, as_json)
    if failed:
        raise StageError(f"{len(failed):,} of {len(tenants):,} tenants failed; the others are complete.")


def _run_tenant(
    session: CommandSession,
    scope: Scope,
    as_of: datetime | None,
    stage: str | None,
    jobs: int,
    dry_run: bool,
    shown: Bars,
) -> Iterator[Report]:
    from reverie.store.connect import database_errors

    session.require_tenant()
    until = _until(session, as_of)
    with database_errors():
        yield from _reports(session, scope, until, stage, jobs, dry_run, shown)


def _print_totals(
    totals: list[StageTotals], failed: dict[str, str], as_of: datetime, dry_run: bool, as_json: bool
) -> None:
    if as_json:
        rows = [row.flat() for row in totals]
        print_json({"as_of": as_of, "dry_run": dry_run, "stages": rows, "failed": failed})
    elif totals or not failed:
        _print(totals, dry_run)
    for tenant_id, why in failed.items():
        note(f"Error: tenant {tenant_id}: {why}")


def _until(session: CommandSession, as_of: datetime | None) -> datetime:
    """Return the logical time of a run. Raises InputError if it is after the time of the tenant's stopped clock."""
    from reverie.store.clock import tenant_time

    at = session.time(as_of)
    if (stopped := tenant_time(session.worker, session.tenant_id, at)) < at:
        raise InputError(
            f"The clock of tenant {session.tenant_id} is stopped at {stopped:%Y-%m-%d %H:%M} UTC: use an earlier "
            f"--as-of, or start the clock with reverie clock --tenant {session.tenant_id} --run."
        )
    return at


def _scope(tenant_id: str, subjects: tuple[str, ...], shards: tuple[int, int]) -> Scope:
    from reverie.model import Scope

    return Scope(tenant_id=tenant_id, shard_from=shards[0], shard_to=shards[1], subjects=subjects or None)


def _reports(
    session: CommandSession, scope: Scope, as_of: datetime, stage: str | None, jobs: int, dry_run: bool, shown: Bars
) -> Iterator[Report]:
    if stage:
        shown.expect(stage, None)
        yield run_stage(session, stage, scope, as_of, dry_run)
    elif dry_run:
        yield from _rehearse(session, scope, as_of, jobs, shown)
    else:
        yield from consolidate(session, scope, as_of, jobs, shown)


def _rehearse(session: CommandSession, scope: Scope, as_of: datetime, jobs: int, shown: Bars) -> Iterator[Report]:
    """Run everything up to `as_of` over a copy of the tenant, `jobs` buckets in parallel; yield each stage's report."""
    from reverie.drive.advance import advance
    from reverie.drive.parallel import buckets, in_parallel
    from reverie.evaluate.rehearsal import rehearsal

    if session.settings.language_model != "none":
        note("No language model is called, so its statements and wording are missing.")
    if session.embedder.price_per_token:
        note(f"New texts are embedded by {session.embedder.model}, which costs money; this cost is not recorded.")
    with rehearsal(session.work(as_of, scope, progress=shown.advance)) as copy:
        yield from in_parallel(buckets(scope, jobs), lambda part: advance(replace(copy, scope=part)))


def consolidate(session: CommandSession, scope: Scope, as_of: datetime, jobs: int, shown: Bars) -> Iterator[Report]:
    """Consolidate everything up to `as_of`, `jobs` buckets in parallel, then maintain; yield each stage's report."""
    from reverie.drive.maintain import maintain
    from reverie.drive.parallel import buckets

    expected = Event()

    def advance_bar(stage: str, number: int) -> None:
        if stage == "embed" and not expected.is_set():  # candidates from extract are embedded as well
            expected.set()
            _expect(session, "embed", scope, as_of, shown, done=number)
        shown.advance(stage, number)

    _expect(session, "extract", scope, as_of, shown)
    work = session.work(as_of, scope, progress=advance_bar)
    yield from _advance(session, work, buckets(scope, jobs))
    yield maintain(work, retention=session.runtime.retention, now=datetime.now(UTC))


def _advance(session: CommandSession, work: Work, parts: list[Scope]) -> Iterator[Report]:
    """Advance the parts by the executor in the settings: in a thread each, or by as many workers on Ray."""
    from reverie.drive.advance import advance

    settings = session.settings
    if settings.executor == "threads":
        from reverie.drive.parallel import in_parallel

        yield from in_parallel(parts, lambda part: advance(replace(work, scope=part)))
        return
    from pydantic import SecretStr

    from reverie.drive.on_ray import RayCluster, on_ray
    from reverie.runtime import open_bucket_work

    if settings.ray_address and settings.database_url is None:
        raise SettingsError("A Ray cluster cannot reach the embedded Postgres: set DATABASE_URL.")
    threads = max(1, settings.threads // len(parts)) if settings.ray_address is None else settings.threads
    there = settings.model_copy(update={"database_url": SecretStr(session.url), "threads": threads})
    cluster = RayCluster(address=settings.ray_address, workers=len(parts), threads=threads)
    open_work = partial(open_bucket_work, there, work.policy, work.as_of, advance)
    yield from on_ray(parts, open_work, cluster, work.progress)


def _expect(session: CommandSession, stage: str, scope: Scope, as_of: datetime, shown: Bars, *, done: int = 0) -> None:
    """Set the total of a stage's bar: `done` and the number of items left."""
    if not shown.seen:
        return
    from reverie.store.queries import queries

    name = {"extract": "unread_turns", "embed": "unembedded_items"}[stage]
    params = scope.params() | {"as_of": as_of, "model": session.embedder.model}
    with session.worker.transaction(scope.tenant_id) as conn:
        row = conn.execute(queries("progress")[name], params).fetchone()
    shown.expect(stage, row[0] + done if row else None)


def run_stage(session: CommandSession, name: str, scope: Scope, as_of: datetime, dry_run: bool) -> Report:
    """Run one stage once, with the models that it needs."""
    from reverie.store.work import Work

    stage = BY_NAME[name]
    models: dict[str, Any] = {"embedder": session.embedder} if stage.embeds else {}
    if stage.asks:
        models["language_model"] = session.language_model
    return stage(Work(store=session.worker, scope=scope, policy=session.policy, as_of=as_of, dry_run=dry_run, **models))


def _print(totals: list[StageTotals], dry_run: bool) -> None:
    if not totals:
        say("There are no tenants yet: import something first.")
        return
    several = len({row.tenant_id for row in totals}) > 1
    columns = ("tenant",) * several + ("stage", "runs", "seconds", "cost $", "did")
    rows = [
        (row.tenant_id,) * several
        + (row.stage, row.runs, f"{row.seconds:.2f}", f"{row.cost_usd:.4f}", counts_text(row.counts))
        for row in totals
    ]
    table(columns, rows, right=("runs", "seconds", "cost $"), ids=("tenant",))
    if dry_run:
        say("Nothing was written.")
