"""redrive_dead_letters: retries records and items that failed."""

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from resources.artifacts import show_table
from resources.connections import connected, is_worth_a_retry, policy_name_of
from resources.failures import checked, in_one_sentence
from reverie.capture.history.importing import FieldOptions
from reverie.capture.history.redrive import redrive_dead_letters as redrive
from reverie.store.dead_letters import LetterFilter, count_dead_letters


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def redrive_letters(tenant: str, source: str | None, reason: str | None, timezone: str | None) -> dict[str, int]:
    """Retry a tenant's dead letters. Letters that fail again stay, with the latest reason.

    Raises NotFoundError for an unknown tenant.
    """
    with connected() as reverie:
        policy_name_of(reverie, tenant)
        where = LetterFilter(source=source, reason=reason)
        summary = redrive(reverie.worker, tenant_id=tenant, where=where, fields=FieldOptions(timezone=timezone))
        left = count_dead_letters(reverie.worker, tenant)
    found = {
        name: getattr(summary, name)
        for name in ("tried", "imported", "repeated", "outcomes", "requeued", "released", "dead")
    }
    show_table("redriven", f"What became of the dead letters of {tenant}.", [{"tenant": tenant} | found])
    show_table("dead-letters", f"What is left of {tenant}.", [{"reason": key, "letters": n} for key, n in left.items()])
    return found


@flow(log_prints=True, flow_run_name="redrive for {tenant}")
@in_one_sentence
def redrive_dead_letters(
    tenant: str, source: str | None = None, reason: str | None = None, timezone: str | None = None
) -> dict[str, int]:
    """Retry the dead letters of a tenant: all, or by file or reason. `timezone` applies to times without one."""
    return checked(redrive_letters(tenant, source, reason, timezone))
