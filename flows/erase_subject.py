"""erase_subject: erases a subject, or one session or turn, and rebuilds memory from the rest."""

from datetime import UTC, datetime
from uuid import UUID

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from pydantic import AwareDatetime

from resources.artifacts import show_stages, show_table
from resources.connections import connected, is_worth_a_retry
from resources.failures import checked, in_one_sentence
from reverie.drive.advance import advance
from reverie.drive.erase.targets import Target, session_target, subject_target, turn_target
from reverie.drive.tenants import policies
from reverie.model import Scope


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def erase_target(tenant: str, target: Target, actor: str | None, as_of: datetime | None) -> dict[str, int]:
    """Erase in one transaction, then consolidate the rest. A retry does not erase anything twice."""
    now = datetime.now(UTC)
    with connected() as reverie:
        policy = policies(reverie.worker)(tenant)
        erased = reverie.tenant_eraser(tenant, policy, now, actor=actor).erase(target)
        if erased.left:
            scope = Scope(tenant_id=tenant, subjects=tuple(erased.left))
            show_stages("remade", advance(reverie.work(scope, policy, as_of or now, driver="prefect")))
    rows = [{"table": table, "rows": number} for table, number in erased.counts.items()]
    show_table("erased", f"What was erased of {tenant}, by table.", rows)
    return {"turns": erased.turns, "rows": sum(erased.counts.values()), "remade": len(erased.left)}


@flow(log_prints=True, flow_run_name="erase for {tenant}")
@in_one_sentence
def erase_subject(
    tenant: str,
    subject: str | None = None,
    session: str | None = None,
    turn: UUID | None = None,
    actor: str | None = None,
    as_of: AwareDatetime | None = None,
) -> dict[str, int]:
    """Erase a subject; with `session`, only that session of it; with `turn`, only that turn, of any subject."""
    if turn is not None:
        target = turn_target(turn)
    elif session is not None:
        target = session_target(subject, session)
    else:
        target = subject_target(subject or "")
    return checked(erase_target(tenant, target, actor, as_of))
