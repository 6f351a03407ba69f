"""The counts of an asset are those of all cycles of the run, and `memories` is the state at its end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from reverie.store.database import Store
from tests.orchestration.conftest import TENANTS

if TYPE_CHECKING:
    from tests.orchestration.test_runs import RunJob


def test_an_asset_tells_the_whole_run_and_what_is_left_at_its_end(log: Store, run_job: RunJob, conn: Any) -> None:
    """A history of two months is many cycles, of which the steps are the last: their counts are those of all."""
    from dagster import AssetKey

    from reverie.evaluate.health import FATES, measure

    sums: Counter[tuple[str, str]] = Counter()
    for bucket in ("00", "01", "02", "03"):
        for event in run_job("cycle", bucket).get_asset_materialization_events():
            for name, value in event.materialization.metadata.items():
                if isinstance(value.value, int):
                    sums[event.asset_key.to_user_string(), name] += value.value
            if event.asset_key == AssetKey("memories"):
                table = event.materialization.metadata["Memories by state"].records
    ledger = conn.execute(
        "select stage, c.key, sum(c.value::numeric)::int from ops.runs, jsonb_each_text(report) c group by 1, 2"
    ).fetchall()
    assert sums["backlog_cycles", "cycles"] >= 10
    done = {(stage, name): number for stage, name, number in ledger}
    for asset, stage, name in (
        ("deduplicated_memories", "merge", "merged"),
        ("deduplicated_memories", "merge", "activated"),
        ("importance_scores", "score", "scored"),
        ("tombstones", "prune", "forgotten"),
        ("new_candidates", "extract", "turns"),
    ):
        assert sums[asset, name] == done[stage, name], (asset, name)
    assert done["merge", "activated"] > 10
    counted = [measure(log, tenant_id) for tenant_id in TENANTS]
    health = {fate: sum(each["memories" if fate == "active" else fate] for each in counted) for fate in FATES}
    assert {fate: sums["memories", fate] for fate in FATES} == health
    assert {row.data["state"]: row.data["all buckets"] for row in table} == health
    (rows,) = conn.execute("select count(*) from memory.memories").fetchone()
    (seen, *_) = run_job.instance.fetch_observations(AssetKey("memories"), limit=10).records
    assert seen.asset_observation.metadata["dagster/row_count"].value == rows
    assert seen.partition_key is None
