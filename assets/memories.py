"""Memory itself: seven assets that a bucket's cycles advance together, in event time (docs/decisions/0005)."""

from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg

from assets.partitions import buckets, in_bucket
from assets.runs import DRIVER, RETRIES, as_of
from resources.clients import Clients
from reverie.consolidate.stages import STAGES
from reverie.drive.advance import advance
from reverie.drive.cycle import INGEST
from reverie.drive.maintain import maintain
from reverie.drive.tenants import for_each_tenant
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.runs import Report

#: Work that no stage does and that `memories` shows.
_BESIDE = ("drain", "maintain")


def _shown() -> dict[str, list[str]]:
    """Whose reports each asset shows: those of the stages that make it; `memories` shows the ingest of a cycle too."""
    shown: dict[str, list[str]] = {}
    for stage in STAGES:
        result = "memories" if stage.name in INGEST else stage.result
        shown.setdefault(result, []).append(stage.name)
    shown["memories"].extend(_BESIDE)
    return shown


#: Stages by asset.
SHOWN = _shown()


def _spec(name: str, table: str, deps: list[str], description: str) -> dg.AssetSpec:
    metadata = {"dagster/table_name": f"memory.{table}"}
    return dg.AssetSpec(
        name, deps=deps, description=description, group_name="memory", kinds={"postgres"}, metadata=metadata
    )


SPECS = [
    _spec(
        "memories",
        "memories",
        ["candidates", "vectors"],
        "What is remembered: candidates merged into the memories that they repeat, both kept.",
    ),
    _spec("entities", "entities", ["memories"], "The people, pets, places and things that memories speak of."),
    _spec(
        "structured_facts",
        "structured_facts",
        ["memories"],
        "What is known of a subject by key, each value from when to when it held.",
    ),
    _spec(
        "profiles",
        "profiles",
        ["memories", "structured_facts"],
        "Each subject in short: a narrative, a scaffold of keys, and what was learned about its connections.",
    ),
    _spec(
        "patterns",
        "memories",
        ["memories", "entities"],
        "What many episodes have in common, with its numbers, and summaries of old sessions.",
    ),
    _spec(
        "importances",
        "memories",
        ["patterns"],
        "How important each memory is now: novelty, recalls, outcomes, less what time took away.",
    ),
    _spec("tombstones", "tombstones", ["importances"], "What was forgotten, when and why; without its content."),
]


@dg.multi_asset(specs=SPECS, partitions_def=buckets, retry_policy=RETRIES)
def memory(context: dg.AssetExecutionContext, clients: Clients) -> Iterator[dg.MaterializeResult[None]]:
    """Read what is new, then run every cycle up to the run's logical time, a tenant at a time."""
    at, runtime = as_of(context), clients.runtime

    def work(scope: Scope, policy: Policy) -> Iterator[Report]:
        of_tenant = runtime.work(scope, policy, at, driver=DRIVER)
        yield from advance(of_tenant)
        yield maintain(of_tenant, retention=runtime.retention, now=datetime.now(UTC))

    totals = for_each_tenant(clients.store, in_bucket(context.partition_key), work)
    for name, stages in SHOWN.items():
        yield dg.MaterializeResult(asset_key=name, metadata=totals.of(*stages))
