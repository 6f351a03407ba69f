"""`reverie rebuild --shadow`: build a memory beside the live one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from reverie.cli.generations.live import live_memory
from reverie.cli.output import note, print_json, say
from reverie.cli.progress import bars
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly


@dataclass(frozen=True, kw_only=True)
class ShadowOptions:
    """The options of the command line."""

    tenant: str | None
    policy: str | None
    model: str | None
    without_source: str | None
    as_of: datetime | None
    jobs: int | None
    as_json: bool


def build_shadow(options: ShadowOptions) -> None:
    """Build a generation, or continue the one that the same options began, and print the result."""
    from reverie.generations.building import begin, build
    from reverie.generations.catalog import GenerationPlan, find_generation
    from reverie.inference.loading import load_embedder
    from reverie.policy import policy_reference

    with CommandSession(options.tenant, options.policy) as session, ending_cleanly(), bars() as shown:
        jobs = options.jobs or min(2, session.settings.threads)
        live = live_memory(session, options.as_of, jobs=jobs, shown=shown)
        plan = GenerationPlan(
            policy_name=policy_reference(session.policy_name),
            policy=session.policy,
            embedder_name=options.model or session.settings.embedding_model,
            embedder=load_embedder(options.model, threads=session.settings.threads)
            if options.model
            else session.embedder,
            without_source=options.without_source,
        )
        generation = begin(live, plan)
        note(f"Building generation {generation.number} of tenant {live.tenant_id}.")
        runs = sum(1 for _ in build(live, plan, generation))
        done = find_generation(live.work.store, live.tenant_id, generation.number, "ready")
    if options.as_json:
        print_json({"tenant_id": session.tenant_id, "runs": runs} | done.flat())
    else:
        say(f"Generation {done.number} is ready: {done.memories:,} memories of {done.turns:,} turns.")
        say(f"See what would change: reverie diff live {done.number} --tenant {session.tenant_id}")
