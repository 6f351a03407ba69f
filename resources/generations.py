"""Generations for the orchestrators: the live memory of a tenant, the plan of a generation, and its publisher."""

from __future__ import annotations

from datetime import UTC, datetime

from resources.connections import embedding_model, policy_name_of
from reverie.generations.catalog import GenerationPlan, LiveMemory
from reverie.generations.publishing import Publisher
from reverie.model import Scope
from reverie.policy import load_policy, policy_reference
from reverie.runtime import Runtime
from reverie.store.clock import tenant_time


def memory_of(runtime: Runtime, tenant: str, at: datetime, *, driver: str) -> LiveMemory:
    """Return a tenant's live memory, by the tenant's clock and policy. Raises NotFoundError for an unknown tenant."""
    scope, at = Scope(tenant_id=tenant), tenant_time(runtime.worker, tenant, at)
    work = runtime.work(scope, load_policy(policy_name_of(runtime, tenant)), at, driver=driver)
    return LiveMemory(work=work, url=runtime.url)


def plan_of(runtime: Runtime, tenant: str, policy: str | None, model: str | None) -> GenerationPlan:
    """Return the plan of a generation. `policy` None: the tenant's; `model` None: that of the environment."""
    name, embedder = policy or policy_name_of(runtime, tenant), model or runtime.settings.embedding_model
    return GenerationPlan(
        policy_name=policy_reference(name),
        policy=load_policy(name),
        embedder_name=embedder,
        embedder=embedding_model(embedder, runtime.settings.threads),
    )


def publisher_of(runtime: Runtime, tenant: str) -> Publisher:
    """Return a publisher, with the tenant's clock and the embedding models."""
    return Publisher(
        clock=lambda: tenant_time(runtime.worker, tenant, datetime.now(UTC)),
        embedder_of=lambda name: embedding_model(name, runtime.settings.threads),
    )
