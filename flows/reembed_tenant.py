"""reembed_tenant: a tenant's memory under another embedding model, switched when it is complete."""

from datetime import UTC, datetime

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from resources.artifacts import Progress, show_stages
from resources.connections import connected
from reverie.drive.reembed import reembed
from reverie.drive.tenants import policies
from reverie.evaluate.health import measure
from reverie.model import Scope


@task(retries=3, retry_delay_seconds=30, cache_policy=NO_CACHE)
def reembed_memory(tenant: str, model: str, as_of: datetime | None) -> dict[str, int | float]:
    """Make the vectors beside the live ones, switch, remove the old ones; a retry goes on where it was."""
    progress = Progress("reembedded", f"Turns and memories of {tenant} that have a vector of {model}, roughly.")
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
def reembed_tenant(tenant: str, model: str, as_of: datetime | None = None) -> dict[str, int | float]:
    """Embed a tenant by another model. Recall goes on; set REVERIE_EMBEDDING_MODEL to it for this tenant afterwards."""
    return reembed_memory(tenant, model, as_of)
