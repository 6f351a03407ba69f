"""Memory itself: each step of a bucket's cycle is an asset and a step of a run, in event time (docs/decisions/0052)."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import dagster as dg

from assets.described import OWNERS, described
from assets.partitions import buckets, in_bucket
from assets.runs import DRIVER, RETRIES, as_of, as_of_tag, is_asked
from resources.clients import Clients
from reverie.drive.steps import STEPS, CycleStep, Standing, standing, take_step
from reverie.drive.tenants import Totals, failure, try_each_tenant
from reverie.evaluate.health import row_count
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.runs import Report

_Columns = dict[str, list[tuple[str, str]]]


class Made(NamedTuple):
    """What a step makes, as its asset's page says it."""

    asset: str
    table: str | None
    docs: str
    description: str
    lineage: _Columns | None = None


#: By step. Several steps write `memory.memories`: each asset tells what its step adds to it.
MADE = {
    "extract": Made(
        "new_candidates",
        "memory.extractions",
        "rules.md",
        "What rules, and a model where one is set, find in turns that nobody has read yet. Opens the bucket's cycle.",
        {"turn_id": [("turns", "id")]},
    ),
    "embed": Made(
        "new_vectors",
        "memory.vectors",
        "models.md",
        "A vector and search terms for every new turn and candidate.",
        {"item_id": [("turns", "id"), ("new_candidates", "turn_id")], "vec": [("turns", "text")]},
    ),
    "catch_up": Made(
        "past_cycles",
        None,
        "decisions/0052-each-stage-is-a-step.md",
        "All pending cycles but the last, one after the other in event time, each with all stages: a history is worked "
        "in as if it had been lived. The steps after it are those of the last pending cycle.",
    ),
    "correct": Made(
        "corrected",
        "memory.corrected",
        "correcting.md",
        "Corrections worked in, each at its time: what is wrong is forgotten, what a person wrote is remembered.",
    ),
    "merge": Made(
        "memories",
        "memory.memories",
        "decisions/0041-merge-by-what-is-stated.md",
        "What is remembered: candidates merged into the memories that they repeat, both kept.",
        {
            "content": [("turns", "text")],
            "happened_at": [("turns", "said_at")],
            "turn_id": [("new_candidates", "turn_id")],
            "subject_id": [("turns", "subject_id")],
        },
    ),
    "link": Made(
        "entities",
        "memory.entities",
        "glossary.md",
        "The people, pets, places and things that memories speak of.",
        {"id": [("memories", "mentions")], "subject_id": [("memories", "subject_id")]},
    ),
    "facts": Made(
        "structured_facts",
        "memory.structured_facts",
        "currency.md",
        "What is known of a subject by key, each value from when to when it held.",
        {"value": [("memories", "object"), ("memories", "stated")], "valid_from": [("memories", "happened_at")]},
    ),
    "synthesize": Made(
        "profiles",
        "memory.profiles",
        "profile.md",
        "Each subject in short: a narrative, a scaffold of keys, and what was learned about its connections.",
        {"narrative": [("memories", "content")]},
    ),
    "compress": Made(
        "patterns",
        "memory.memories",
        "glossary.md",
        "What many episodes have in common, with its numbers, and summaries of old sessions: rows of the kinds pattern "
        "and summary.",
        {"content": [("memories", "content"), ("turns", "text")]},
    ),
    "score": Made(
        "scores",
        "memory.memories",
        "policies.md",
        "How important each memory is when it is made, recalled or rewarded: the column peak, from which it fades.",
        {"peak": [("memories", "base"), ("memories", "access_count")]},
    ),
    "prune": Made(
        "tombstones",
        "memory.tombstones",
        "policies.md",
        "What was forgotten, when and why; without its content.",
        {"memory_id": [("memories", "id")]},
    ),
    "work_in": Made(
        "since_last_cycle",
        None,
        "live.md",
        "What was said after the last whole cycle, merged and linked as a worker would have done it. Scoring and "
        "forgetting wait for their cycle.",
    ),
    "decay": Made(
        "importances",
        "memory.memories",
        "policies.md",
        "How important each memory is now: its peak, less what time took away.",
        {"importance": [("scores", "peak"), ("memories", "accessed_at")]},
    ),
    "maintain": Made(
        "tidied",
        "ops.runs",
        "operating.md",
        "The queue without the sessions that this cycle worked in, and tables without rows that served their time. "
        "Fails if a tenant's cycle did not get here.",
    ),
}


def _asset(step: CycleStep) -> dg.AssetsDefinition:
    made = MADE[step.name]
    deps = [MADE[step.after].asset] if step.after else ["turns"]
    spec = dg.AssetSpec(
        made.asset,
        deps=deps,
        description=f"{made.description}\n\nStep `{step.name}`: {step.summary}",
        group_name="memory",
        owners=OWNERS,
        kinds={"onnx", "postgres"} if step.name == "embed" else {"postgres"},
        tags={"reverie/step": step.name},
        metadata=described(made.table, made.docs, lineage=made.lineage),
        skippable=True,
    )

    @dg.multi_asset(
        name=step.name, specs=[spec], partitions_def=buckets, retry_policy=RETRIES, description=step.summary
    )
    def take(context: dg.AssetExecutionContext, clients: Clients) -> Iterator[dg.MaterializeResult[None]]:
        yield from _Taking(context, clients, step).take()

    return take


class _Taking:
    """One step of one run: the step of each tenant whose turn it is."""

    def __init__(self, context: dg.AssetExecutionContext, clients: Clients, step: CycleStep) -> None:
        self._context, self._clients, self._step = context, clients, step
        self._at, self._asked = as_of(context), is_asked(context)
        self._stands: dict[str, Standing] = {}

    def take(self) -> Iterator[dg.MaterializeResult[None]]:
        clients, scope = self._clients, in_bucket(self._context.partition_key)
        totals = try_each_tenant(clients.store, scope, self._work, self._is_ready)
        waits = Counter(each.waits_for for each in self._stands.values() if each.waits_for)
        self._raise_failures(totals, waits)
        metadata = self._metadata(totals, waits)
        waiting, made = waits.total(), MADE[self._step.name]
        if waits:
            self._context.log.warning(
                f"{self._step.name} changed nothing for {waiting} of {len(self._stands)} tenants: "
                f"it waits for {', '.join(sorted(waits))}."
            )
        if waiting and waiting == len(self._stands):
            key, part = dg.AssetKey(made.asset), self._context.partition_key
            self._context.log_event(dg.AssetObservation(asset_key=key, partition=part, metadata=metadata))
            return
        if made.table is not None:
            metadata["dagster/row_count"] = row_count(clients.store, made.table)
        yield dg.MaterializeResult(asset_key=made.asset, metadata=metadata)

    def _is_ready(self, scope: Scope) -> bool:
        stands = standing(self._clients.store, scope, self._at, self._step.name, asked=self._asked)
        self._stands[scope.tenant_id] = stands
        return not (stands.waits_for or stands.is_done)

    def _work(self, scope: Scope, policy: Policy) -> Iterator[Report]:
        runtime = self._clients.runtime
        work = runtime.work(scope, policy, self._at, driver=DRIVER)
        return take_step(work, self._step.name, self._stands[scope.tenant_id], retention=runtime.retention)

    def _metadata(self, totals: Totals, waits: Counter[str]) -> dict[str, Any]:
        """What was done, without zeros: a bucket in which nothing happened says so in few lines."""
        counts = totals.of(*totals.runs)
        kept = {name: number for name, number in counts.items() if number or name in ("tenants", "seconds")}
        done = sum(each.is_done for each in self._stands.values())
        cycles = {each.cycle.as_of for each in self._stands.values() if each.cycle}
        of_cycle = {"cycle_of": as_of_tag(max(cycles))} if cycles else {}
        return (
            kept
            | of_cycle
            | ({"waits_for": ", ".join(sorted(waits)), "tenants_waiting": waits.total()} if waits else {})
            | ({"tenants_done_before": done} if done else {})
            | ({"tenants_failed": len(totals.failed)} if totals.failed else {})
        )

    def _raise_failures(self, totals: Totals, waits: Counter[str]) -> None:
        """Fail at once if nobody is left to go on, else at the run's end, so that one tenant holds up no other."""
        self._clients.failed.update(totals.failed)
        if totals.failed:
            tries_left = self._context.retry_number < RETRIES.max_retries
            if tries_left or not totals.tenants:
                raise failure(totals.failed, of=len(self._stands))
            named = failure(totals.failed, of=len(self._stands))
            self._context.log.error(f"{named} The others go on; the run fails at its end.")
        if self._step == STEPS[-1] and waits and waits.total() < len(self._stands):
            reasons = {
                tenant_id: self._clients.failed.get(tenant_id, f"its cycle waits for {stands.waits_for}")
                for tenant_id, stands in self._stands.items()
                if stands.waits_for
            }
            raise dg.Failure(str(failure(reasons, of=len(self._stands))), allow_retries=False)


steps = [_asset(step) for step in STEPS]
