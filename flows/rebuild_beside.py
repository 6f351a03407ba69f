"""rebuild_beside: builds a memory of a tenant beside the live one, counts the changes, and can publish it."""

from datetime import UTC, datetime
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from pydantic import AwareDatetime

from resources.artifacts import show_stages, show_table
from resources.connections import connected, is_worth_a_retry
from resources.failures import checked, in_one_sentence
from resources.generations import memory_of, plan_of, publisher_of
from reverie.generations.building import begin, build
from reverie.generations.catalog import find_generation
from reverie.generations.differing import difference
from reverie.generations.publishing import publish as publish_memory

DRIVER = "prefect"


@task(retries=3, retry_delay_seconds=30, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def build_generation(tenant: str, policy: str | None, model: str | None, as_of: datetime | None) -> int:
    """Build the generation and return its number. A retry resumes where the build stopped."""
    with connected() as reverie:
        live = memory_of(reverie, tenant, as_of or datetime.now(UTC), driver=DRIVER)
        plan = plan_of(reverie, tenant, policy, model)
        generation = begin(live, plan)
        show_stages("generation-stages", build(live, plan, generation))
        return generation.number


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def compare_generation(tenant: str, number: int, as_of: datetime | None) -> dict[str, int]:
    """Count what the generation would change, in memory and in answers to logged questions."""
    with connected() as reverie:
        live = memory_of(reverie, tenant, as_of or datetime.now(UTC), driver=DRIVER)
        found = difference(
            live,
            ("live", number),
            questions=live.work.policy.publish.questions,
            examples=0,
            embedder_of=publisher_of(reverie, tenant).embedder_of,
        ).counts()
    rows = [{"what": name.replace("_", " "), "number": count} for name, count in found.items()]
    show_table("generation-differences", f"What generation {number} of {tenant} would change.", rows)
    return found


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def publish_generation(tenant: str, number: int, as_of: datetime | None) -> dict[str, int | float]:
    """Make the generation the live memory, if it passes the gates of the tenant's policy.

    A retry after the switch completes the publication.
    """
    with connected() as reverie:
        live = memory_of(reverie, tenant, as_of or datetime.now(UTC), driver=DRIVER)
        found = find_generation(reverie.worker, tenant, number, "ready", "published")
        done = publish_memory(live, found, publisher_of(reverie, tenant))
    return {"published_rows": done.rows, "lock_seconds": round(done.lock_seconds, 3)}


@flow(log_prints=True, flow_run_name="rebuild {tenant} beside")
@in_one_sentence
def rebuild_beside(
    tenant: str,
    policy: str | None = None,
    model: str | None = None,
    as_of: AwareDatetime | None = None,
    publish: bool = False,
) -> dict[str, Any]:
    """Build a memory beside the live one with `policy` and `model` (default: the current ones) and count the changes.

    With `publish`, it becomes the live memory if it passes the gates of the tenant's policy.
    """
    number = checked(build_generation(tenant, policy, model, as_of))
    counts: dict[str, Any] = {"number": number} | checked(compare_generation(tenant, number, as_of))
    return counts | checked(publish_generation(tenant, number, as_of)) if publish else counts
