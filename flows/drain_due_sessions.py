"""drain_due_sessions: moves quiet sessions to the log and consolidates sessions that are due."""

from datetime import UTC, datetime

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff
from pydantic import AwareDatetime

from resources.artifacts import Progress, show_stages, show_table, show_totals
from resources.connections import connected, is_worth_a_retry
from resources.failures import checked, in_one_sentence
from reverie.drive.drain import Drainer
from reverie.drive.flush import flush_due
from reverie.drive.tenants import policies
from reverie.errors import StageError

DRIVER = "prefect"


@task(
    retries=2, retry_delay_seconds=exponential_backoff(10), retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE
)
@in_one_sentence
def flush_quiet_sessions(as_of: datetime | None = None) -> dict[str, int | float]:
    """Move quiet sessions from working memory to the log."""
    with connected() as reverie:
        flushed = flush_due(
            reverie.worker,
            policy_of=policies(reverie.worker),
            as_of=as_of or datetime.now(UTC),
            count_tokens=reverie.embedder.count_tokens,
            driver=DRIVER,
        )
        return show_stages("flushed", flushed)


@task(
    retries=2, retry_delay_seconds=exponential_backoff(10), retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE
)
@in_one_sentence
def drain_queue(as_of: datetime | None = None, most: int | None = None) -> dict[str, int | float]:
    """Consolidate sessions that are due, one batch per tenant in turn."""
    progress = Progress("drained", "Sessions consolidated, of those that were due when the run began.")
    with connected() as reverie:
        now = datetime.now(UTC)
        due = sum(sessions for _, sessions, _ in reverie.worker.waiting_tenants(as_of or now, now))
        drainer = Drainer(
            store=reverie.worker,
            embedder=reverie.embedder,
            language_model=reverie.language_model,
            clock=lambda: datetime.now(UTC),
            driver=DRIVER,
        )
        drained = drainer.drain(
            as_of=as_of,
            most=most,
            on_batch=lambda so_far: progress.show(so_far.counts()["sessions"], due),
        )
    show_table("drained-tenants", "What became of each tenant's sessions.", drained.rows())
    show_totals("drained-stages", drained.totals)
    return drained.counts()


def _run_name() -> str:
    return f"drain at {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


@flow(log_prints=True, flow_run_name=_run_name)
@in_one_sentence
def drain_due_sessions(as_of: AwareDatetime | None = None, most: int | None = None) -> dict[str, int | float]:
    """Consolidate at most `most` sessions that are due at `as_of` (default: now). Several runs may work at once.

    If any session fails, the run fails at its end; the artifact `drained-tenants` names tenants and reasons.
    """
    flushed: dict[str, int | float] = {}
    unflushed: StageError | None = None
    try:
        flushed = checked(flush_quiet_sessions(as_of))
    except StageError as error:  # sessions of some tenants failed; drain the others anyway
        unflushed = error
    counts = checked(drain_queue(as_of, most))
    print(f"{flushed.get('sessions', 0):,} sessions went to the log, {counts['sessions']:,} were consolidated.")
    if unflushed is not None:
        raise unflushed
    if counts["failed"]:
        raise StageError(f"{counts['failed']:,} sessions failed and are tried again; the others are done.")
    return counts
