"""Memory: each step of a bucket's cycle is an asset and a step of a run, in event time (docs/decisions/0052)."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import dagster as dg

from assets.described import OWNERS, described
from assets.partitions import ScopeOf, buckets, in_bucket
from assets.runs import DRIVER, FRESH, RETRIES, as_of, as_of_tag, is_asked
from resources.clients import Clients
from reverie.drive.cycle import PARTS
from reverie.drive.cycle_totals import add_cycles
from reverie.drive.steps import STEPS, CycleStep, Standing, standing, take_step
from reverie.drive.tenants import Totals, failure, try_each_tenant
from reverie.evaluate.health import count_fates, row_count
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.runs import Report

_Columns = dict[str, list[tuple[str, str]]]


class Made(NamedTuple):
    """The asset that a step makes, as described on its page."""

    asset: str
    table: str | None
    docs: str
    description: str
    lineage: _Columns | None = None
    #: Whether to count the rows of the table; False if later steps of the run still change them.
    counts_rows: bool = True


#: Assets by step. Several steps write `memory.memories`; the asset `memories` is that of the last one.
MADE = {
    "extract": Made(
        "new_candidates",
        "memory.extractions",
        "rules.md",
        "Turns that no run has read yet become candidates, by rules and by a language model where one is set. "
        "This step opens the cycle of its bucket.",
        {"turn_id": [("turns", "id")]},
    ),
    "embed": Made(
        "new_vectors",
        "memory.vectors",
        "models.md",
        "A vector and search terms for every new turn and candidate.",
        {"item_id": [("turns", "id"), ("new_candidates", "turn_id")], "vec": [("turns", "text")]},
    ),
    "signal": Made(
        "signals",
        "memory.signals",
        "signals.md",
        "The mood of every message, figures of each subject's days, and what follows from them: difficult periods, "
        "usual hours, the history of the relationship, and triggers.",
        {"messages": [("turns", "id")], "half_hours": [("turns", "said_at")], "sad": [("new_vectors", "vec")]},
    ),
    "catch_up": Made(
        "backlog_cycles",
        None,
        "decisions/0052-each-stage-is-a-step.md",
        "All pending cycles but the last. They run in event time, one after the other, each with all stages, so that "
        "an imported history gives the same memory as a live one. The assets after this one are the stages of the last "
        "pending cycle. Their counts are sums over all cycles of the run.",
    ),
    "correct": Made(
        "applied_corrections",
        "memory.corrected",
        "correcting.md",
        "Corrections that people made, each applied at its time. Wrong memories are forgotten, and what a person wrote "
        "instead is remembered.",
    ),
    "merge": Made(
        "deduplicated_memories",
        "memory.memories",
        "decisions/0041-merge-by-what-is-stated.md",
        "Candidates become memories. A candidate that repeats a memory is merged into it, and both texts are kept.",
        {
            "content": [("turns", "text")],
            "happened_at": [("turns", "said_at")],
            "turn_id": [("new_candidates", "turn_id")],
            "subject_id": [("turns", "subject_id")],
        },
        counts_rows=False,
    ),
    "link": Made(
        "entities",
        "memory.entities",
        "glossary.md",
        "The people, pets, places and things that memories name.",
        {"id": [("deduplicated_memories", "mentions")], "subject_id": [("deduplicated_memories", "subject_id")]},
    ),
    "facts": Made(
        "structured_facts",
        "memory.structured_facts",
        "currency.md",
        "Facts about each subject as keys and values, each with the time during which it held.",
        {
            "value": [("deduplicated_memories", "object"), ("deduplicated_memories", "stated")],
            "valid_from": [("deduplicated_memories", "happened_at")],
        },
    ),
    "synthesize": Made(
        "profiles",
        "memory.profiles",
        "profile.md",
        "A short profile of each subject: a narrative, a scaffold of keys, and notes on its connections.",
        {"narrative": [("deduplicated_memories", "content")]},
    ),
    "compress": Made(
        "patterns",
        "memory.memories",
        "glossary.md",
        "Patterns that many episodes share, with their numbers, and summaries of old sessions. "
        "They are memories of the kinds pattern and summary.",
        {"content": [("deduplicated_memories", "content"), ("turns", "text")]},
        counts_rows=False,
    ),
    "score": Made(
        "importance_scores",
        "memory.memories",
        "policies.md",
        "The importance of each memory when it is made, recalled or rewarded (column peak). It fades from there.",
        {"peak": [("deduplicated_memories", "base"), ("deduplicated_memories", "access_count")]},
        counts_rows=False,
    ),
    "prune": Made(
        "tombstones",
        "memory.tombstones",
        "policies.md",
        "Memories that were forgotten: when and why, without their content.",
        {"memory_id": [("deduplicated_memories", "id")]},
    ),
    "work_in": Made(
        "recent_memories",
        None,
        "live.md",
        "Turns since the last complete cycle, merged and linked as a worker does it. They are scored and forgotten in "
        "the next cycle.",
    ),
    "decay": Made(
        "memories",
        "memory.memories",
        "glossary.md",
        "Everything that is remembered, as of the end of the run. `active` counts the memories in force; the row count "
        "includes those that were merged, rewritten, compressed or superseded, which are kept.",
        {
            "content": [("deduplicated_memories", "content"), ("patterns", "content")],
            "importance": [("importance_scores", "peak"), ("deduplicated_memories", "accessed_at")],
        },
    ),
    "maintain": Made(
        "housekeeping",
        "ops.runs",
        "operating.md",
        "Removes the sessions that this cycle consolidated from the queue, and rows whose retention has ended. "
        "Fails if the cycle of a tenant did not reach this step.",
    ),
}


#: Names of counts on the pages of the assets; other counts keep the name in the report, with spaces.
_NAMES = {"lists_before": "posting lists before", "lists": "posting lists", "cost_usd": "cost (US dollars)"}

#: Stages of every cycle, including those of the backlog.
_IN_EACH_CYCLE = {*PARTS, "prune"}


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
        freshness_policy=FRESH,
        skippable=True,
    )

    @dg.multi_asset(
        name=step.name, specs=[spec], partitions_def=buckets, retry_policy=RETRIES, description=step.summary
    )
    def take(context: dg.AssetExecutionContext, clients: Clients) -> Iterator[dg.MaterializeResult[None]]:
        yield from _Taking(context, clients, step).take()

    return take


class _Taking:
    """One step of one run, taken for each tenant that is ready for it."""

    def __init__(self, context: dg.AssetExecutionContext, clients: Clients, step: CycleStep) -> None:
        self._context, self._clients, self._step = context, clients, step
        self._at, self._asked = as_of(context), is_asked(context)
        self._stands: dict[str, Standing] = {}

    def take(self) -> Iterator[dg.MaterializeResult[None]]:
        clients, scope = self._clients, in_bucket(self._context.partition_key)
        totals = try_each_tenant(clients.store, scope, self._work, self._is_ready)
        if self._step == STEPS[0]:
            clients.begun.update(self._stands.keys() - totals.failed)
            clients.see(self._stands.keys() | totals.failed.keys())
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
        if made.asset == "memories":
            metadata |= _fates(clients.store, scope)
        if made.table is not None and made.counts_rows:
            # the count is over all buckets, hence an observation, which plots of a bucket leave out
            rows = {"dagster/row_count": row_count(clients.store, made.table)}
            self._context.log_event(dg.AssetObservation(asset_key=made.asset, metadata=rows))
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
        """Return the counts without zeros, so that a bucket in which nothing happened takes few lines."""
        counts = self._counts(totals)
        kept = {name: number for name, number in counts.items() if number or name in ("tenants", "seconds")}
        done = sum(each.is_done for each in self._stands.values())
        times = {each.cycle.as_of for each in self._stands.values() if each.cycle}
        said = (
            kept
            | ({"time of the cycle": as_of_tag(max(times))} if times else {})
            | ({"waits for": ", ".join(sorted(waits)), "tenants waiting": waits.total()} if waits else {})
            | ({"tenants done before": done} if done else {})
            | ({"tenants failed": len(totals.failed)} if totals.failed else {})
        )
        return {_NAMES.get(name, name.replace("_", " ")): value for name, value in said.items()}

    def _counts(self, totals: Totals) -> dict[str, int | float]:
        """Return the counts of the step; if earlier cycles of the run had this stage too, the sums over all cycles."""
        name = self._step.name
        if name == "catch_up":
            counts = totals.of(*totals.runs)
            kept = {each: counts[each] for each in ("tenants", "seconds", "cost_usd")}
            return kept | {"cycles": totals.runs["merge"]}
        cycles = [each.cycle for each in self._stands.values() if each.cycle]
        if name not in _IN_EACH_CYCLE or not any(cycle.backlog for cycle in cycles):
            return totals.of(*totals.runs)
        summed = Totals(tenants=totals.tenants)
        for tenant_id, stands in self._stands.items():
            if stands.cycle:
                scope = in_bucket(self._context.partition_key)(tenant_id)
                add_cycles(summed, self._clients.store, scope, stands.cycle, driver=DRIVER)
        counts = summed.of(name)
        return counts | {"cycles": counts.pop("runs")}

    def _raise_failures(self, totals: Totals, waits: Counter[str]) -> None:
        """Fail at once if retries or no tenants are left, else at the run's end, so that no tenant blocks another."""
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
                if stands.waits_for and not self._is_excused(tenant_id, stands)
            }
            if reasons:
                raise dg.Failure(str(failure(reasons, of=len(self._stands))), allow_retries=False)

    def _is_excused(self, tenant_id: str, stands: Standing) -> bool:
        """Return whether another run completes the tenant's cycle.

        A concurrent run has restarted the cycle that this run began, or the tenant is newer than this run's cycles.
        """
        if stands.waits_for != STEPS[0].name or tenant_id in self._clients.failed:
            return False
        return tenant_id in self._clients.begun or self._clients.is_new(tenant_id)


def _fates(store: Store, scope: ScopeOf) -> dict[str, Any]:
    """Count memories by state: those of the bucket as plots, and in a table also those of all buckets."""
    counted = count_fates(store, scope)
    records = [
        dg.TableRecord({"state": fate, "this bucket": of_bucket, "all buckets": of_all})
        for fate, (of_bucket, of_all) in counted.items()
    ]
    return {
        **{fate: of_bucket for fate, (of_bucket, _) in counted.items()},
        "Memories by state": dg.MetadataValue.table(records, schema=_FATES),
    }


_FATES = dg.TableSchema(
    [dg.TableColumn("state"), dg.TableColumn("this bucket", "int"), dg.TableColumn("all buckets", "int")]
)

steps = [_asset(step) for step in STEPS]
