"""Memories built beside the live ones: a tenant's generation, what it would change, and its publication."""

from collections import Counter
from datetime import UTC, datetime

import dagster as dg

from assets.described import OWNERS, described
from assets.runs import AS_OF, DRIVER, RETRIES, as_of, as_of_tag, without_retries_of_mistakes
from resources.clients import Clients
from resources.generations import memory_of, plan_of, publisher_of
from reverie.drive.tenants import failure
from reverie.errors import ReverieError
from reverie.generations.building import begin, build
from reverie.generations.catalog import drop_ended, find_generation, find_publishable
from reverie.generations.differing import difference
from reverie.generations.publishing import publish


class GenerationConfig(dg.Config):
    """The tenant whose memory is built beside the live one, with the policy and model to use."""

    tenant: str
    #: A policy's name or path; None: the tenant's.
    policy: str | None = None
    #: An embedding model; None: that of the environment.
    model: str | None = None


class TenantConfig(dg.Config):
    """The tenant whose latest generation is used."""

    tenant: str


@dg.asset(
    deps=["turns"],
    retry_policy=RETRIES,
    group_name="generations",
    kinds={"postgres"},
    owners=OWNERS,
    metadata=described("ops.generations", "rebuilding.md"),
)
def generations(
    context: dg.AssetExecutionContext, config: GenerationConfig, clients: Clients
) -> dg.MaterializeResult[None]:
    """A memory of one tenant, built from the log in a database of its own while recall continues."""
    counts: Counter[str] = Counter()
    with without_retries_of_mistakes():
        live = memory_of(clients.runtime, config.tenant, as_of(context), driver=DRIVER)
        plan = plan_of(clients.runtime, config.tenant, config.policy, config.model)
        generation = begin(live, plan)
        for report in build(live, plan, generation):
            counts["runs"] += 1
            counts["tokens"] += report.tokens
    built = find_generation(clients.store, config.tenant, generation.number, "ready")
    return dg.MaterializeResult(
        metadata=dict(counts) | {"number": built.number, "turns": built.turns, "memories": built.memories}
    )


@dg.asset(
    deps=[generations],
    retry_policy=RETRIES,
    group_name="generations",
    kinds={"postgres"},
    owners=OWNERS,
    metadata=described("ops.generations", "rebuilding.md"),
)
def generation_differences(
    context: dg.AssetExecutionContext, config: TenantConfig, clients: Clients
) -> dg.MaterializeResult[None]:
    """Counts of the memories, facts, profiles and answers that the tenant's latest generation would change."""
    with without_retries_of_mistakes():
        live = memory_of(clients.runtime, config.tenant, as_of(context), driver=DRIVER)
        ready = find_generation(clients.store, config.tenant, None, "ready")
        found = difference(
            live,
            ("live", ready.number),
            questions=live.work.policy.publish.questions,
            examples=0,
            embedder_of=publisher_of(clients.runtime, config.tenant).embedder_of,
        )
    return dg.MaterializeResult(metadata=found.counts() | {"number": ready.number})


@dg.asset(
    deps=[generation_differences],
    group_name="generations",
    kinds={"postgres"},
    owners=OWNERS,
    metadata=described("ops.generations", "rebuilding.md"),
)
def published_generations(
    context: dg.AssetExecutionContext, config: TenantConfig, clients: Clients
) -> dg.MaterializeResult[None]:
    """The tenant's latest generation, made its live memory if it passes the gates of the tenant's policy."""
    live = memory_of(clients.runtime, config.tenant, as_of(context), driver=DRIVER)
    latest = find_publishable(clients.store, config.tenant)  # a live one too: the run before may have been killed
    done = publish(live, latest, publisher_of(clients.runtime, config.tenant))
    return dg.MaterializeResult(
        metadata={"number": done.number, "rows": done.rows, "tables": done.tables, "attempts": done.attempts}
        | {"lock_seconds": round(done.lock_seconds, 3)}
    )


@dg.asset(
    group_name="generations",
    kinds={"postgres"},
    owners=OWNERS,
    metadata=described("ops.generations", "rebuilding.md"),
)
def ended_generations(context: dg.AssetExecutionContext, clients: Clients) -> dg.MaterializeResult[None]:
    """Removal of the databases of generations that can no longer be reverted, with their copies of the log."""
    dropped, failed = 0, dict[str, str]()
    tenants = clients.store.tenants()
    for tenant, _ in tenants:
        try:
            live = memory_of(clients.runtime, tenant, as_of(context), driver=DRIVER)
            dropped += len(drop_ended(live, datetime.now(UTC)))
        except Exception as error:  # it stops no other tenant
            failed[tenant] = str(error) if isinstance(error, ReverieError) else type(error).__name__
    if failed:
        raise failure(failed, of=len(tenants))
    return dg.MaterializeResult(metadata={"dropped": dropped})


GENERATION_ASSETS = [generations, generation_differences, published_generations, ended_generations]

ended_job = dg.define_asset_job(
    "drop_ended_generations",
    dg.AssetSelection.assets(ended_generations),
    description="Removes the databases of generations whose kept window has ended, of every tenant.",
)

#: Started by hand, with the tenant in the run's configuration. Publishing is a separate decision, so a separate job.
GENERATION_JOBS = [
    dg.define_asset_job(
        "generation",
        dg.AssetSelection.assets(generations, generation_differences),
        description="Builds a memory of a tenant beside the live one, and counts what it would change.",
    ),
    dg.define_asset_job(
        "publish",
        dg.AssetSelection.assets(published_generations),
        description="Makes the latest generation of a tenant its live memory.",
    ),
    ended_job,
]


@dg.schedule(
    job=ended_job,
    cron_schedule="15 4 * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Daily at 04:15 UTC: generations that can no longer be reverted are removed with their databases.",
)
def every_day(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Run daily at 04:15 UTC. The time for which a generation is kept is by the wall clock, and so is this."""
    tick = as_of_tag(context.scheduled_execution_time)
    return dg.RunRequest(run_key=tick, tags={AS_OF: tick})
