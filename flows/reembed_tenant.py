"""reembed_tenant: changes a tenant's embedding model, and switches when all vectors exist."""

from datetime import UTC, datetime

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from pydantic import AwareDatetime

from resources.artifacts import Progress, show_stages
from resources.connections import connected, is_worth_a_retry
from resources.failures import checked, in_one_sentence
from reverie.drive.reembed import reembed
from reverie.drive.tenants import policies
from reverie.evaluate.health import measure
from reverie.model import Scope


@task(retries=3, retry_delay_seconds=30, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def reembed_memory(tenant: str, model: str, as_of: datetime | None) -> dict[str, int | float]:
    """Make the new vectors beside the live ones, switch, and remove the old ones. A retry resumes where it stopped."""
    progress = Progress("reembedded", f"Turns and memories of {tenant} with a vector of {model} (approximate).")
    with connected(model) as reverie:
        counts, done = measure(reverie.worker, tenant), 0
        items = sum(counts[name] for name in ("turns", "memories", "candidates", "merged", "compressed", "superseded"))

        def show(_stage: str, number: int) -> None:
            nonlocal done
            done += number
            progress.show(done, items)

        policy, at = policies(reverie.worker)(tenant), as_of or datetime.now(UTC)
        work = reverie.work(Scope(tenant_id=tenant), policy, at, driver="prefect", progress=show)
        return show_stages("reembedded-stages", reembed(work))


@flow(log_prints=True, flow_run_name="re-embed {tenant}")
@in_one_sentence
def reembed_tenant(tenant: str, model: str, as_of: AwareDatetime | None = None) -> dict[str, int | float]:
    """Change the embedding model of a tenant without interrupting recall. Then set REVERIE_EMBEDDING_MODEL to it."""
    return checked(reembed_memory(tenant, model, as_of))
