"""The jobs on a real database: the memory that the library makes alone, again and again the same, tenant by tenant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from reverie.errors import StageError
from reverie.evaluate.history import months_with_turns
from reverie.inference import Embedder
from reverie.store.database import Store
from tests.orchestration.conftest import AS_OF, ROOT, TENANTS, digests, forget_everything, live_through

if TYPE_CHECKING:
    import dagster as dg

RunJob = Callable[..., "dg.ExecuteInProcessResult"]


def test_a_history_through_the_assets_is_the_memory_of_the_library(
    log: Store, embedder: Embedder, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from deployments import history
    from deployments.history import materialize_history

    live_through(log, embedder)
    alone = digests(log)
    forget_everything(conn)
    assert digests(log) != alone

    steps = list(materialize_history(AS_OF))
    assert digests(log) == alone
    names = [name.split()[0] for name, _, _ in steps]
    assert names[-2:] == ["health", "done"]
    assert names.count("backfill_history") == 3 * names.count("cycle")
    assert [done for _, done, _ in steps] == list(range(len(steps)))
    assert {total for *_, total in steps} == {len(steps) - 1}

    some = [run for run in history._runs() if run[1] is None or run[1].endswith(steps[0][0].split()[1][-2:])]
    assert len(some) == 3 + 1 + 1  # the months and the cycle of a bucket, and health
    monkeypatch.setattr(history, "_runs", lambda: some)
    assert len(list(materialize_history(AS_OF))) == len(some) + 1
    assert digests(log) == alone
    policies = conn.execute("select tenant_id, array_agg(distinct policy) from ops.runs group by 1").fetchall()
    assert dict(policies) == {tenant_id: [policy] for tenant_id, policy in TENANTS.items()}
    assert conn.execute("select distinct driver from ops.runs").fetchall() == [("dagster",)]


def test_the_runs_of_a_history_belong_to_their_jobs(log: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of a job lists the runs of its name in its code location."""
    import dagster as dg
    import yaml

    from assets.memories import MADE
    from deployments import history

    (entry,) = yaml.safe_load((ROOT / "deployments" / "workspace.yaml").read_text())["load_from"]
    location = entry["python_module"]["location_name"]
    monkeypatch.setattr(history, "_runs", lambda: [("cycle", "01"), ("health", None)])
    every = set(history.buckets.get_partition_keys())
    # the instance is closed at the end of the history, so it is looked at before
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        for _ in history.materialize_history(AS_OF, instance):
            # as the page of a job asks
            runs = instance.get_runs(dg.RunsFilter(tags={".dagster/repository": f"__repository__@{location}"}))
            # buckets without turns have nothing left to do, and what a bucket with turns tells is shown first
            done = {made.asset: instance.get_materialized_partitions(dg.AssetKey(made.asset)) for made in MADE.values()}
            latest = instance.get_latest_materialization_event(dg.AssetKey("memories"))
    assert [run.job_name for run in reversed(runs)] == ["cycle", "health"]
    for run in runs:
        assert run.remote_job_origin is not None
        assert run.remote_job_origin.job_name == run.job_name
    assert runs[-1].tags["dagster/partition"] == "01"
    assert set(map(frozenset, done.values())) == {frozenset(every)}
    assert latest.asset_materialization.partition == "01"


def test_months_of_a_backfill_in_one_run_report_each_for_itself(log: Store, run_job: RunJob) -> None:
    from dagster import AssetKey
    from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

    turns = 0
    for bucket in ("00", "01", "02", "03"):
        months = {
            ASSET_PARTITION_RANGE_START_TAG: f"2026-01/{bucket}",
            ASSET_PARTITION_RANGE_END_TAG: f"2026-03/{bucket}",
        }
        result = run_job("backfill_history", tags=months)
        made = result.asset_materializations_for_node("candidates")
        assert sorted(each.partition for each in made) == [f"2026-0{month}/{bucket}" for month in (1, 2, 3)]
        turns += sum(each.metadata["turns"].value for each in made)
        assert {each.asset_key for each in result.asset_materializations_for_node("vectors")} == {AssetKey("vectors")}
    assert turns == 7 * 4 * 2


def test_a_months_vectors_refresh_the_planners_statistics(log: Store, run_job: RunJob, conn: Any) -> None:
    """The cycles after it read the months' rows with plans for what is there, not for an empty table."""
    known = "select reltuples from pg_class where oid = 'memory.vectors'::regclass"
    before = conn.execute(known).fetchone()
    (first, *_) = months_with_turns(log, 4)
    run_job("backfill_history", f"{first.month:%Y-%m}/{first.bucket:02d}")
    after = conn.execute(known).fetchone()
    assert before[0] <= 0 < after[0]


def test_having_lived_by_ticks_is_the_same_memory(remembered: Store, run_job: RunJob, conn: Any) -> None:
    at_once = digests(remembered)
    forget_everything(conn)
    for tick in ("2026-02-09T12:00:00Z", AS_OF.isoformat()):
        for bucket in ("00", "01", "02", "03"):
            run_job("cycle", bucket, tags={"as_of": tick})
    assert digests(remembered) == at_once


def test_metadata_are_counts_names_and_times(remembered: Store, run_job: RunJob) -> None:
    from assets.memories import MADE
    from deployments.history import _runs
    from reverie.quality.gates import GATES

    seen = {}
    for job, key in {job: (job, key) for job, key in _runs()}.values():
        result = run_job(job, key)
        for event in result.get_asset_materialization_events():
            seen[event.asset_key.to_user_string()] = event.materialization.metadata
        for check in result.get_asset_check_evaluations():
            seen[check.check_name] = check.metadata
    assert {made.asset for made in MADE.values()} < set(seen)
    assert len(seen) == 2 + len(MADE) + 1 + 5 + len(GATES)
    for name, metadata in seen.items():
        values = {
            key: value.value
            for key, value in metadata.items()
            if key not in ("Tenants", "Memories by kind", "Memories by state", "time of the cycle")
        }
        assert values
        assert {type(value) for value in values.values()} <= {int, float}, name
    # the page of a bucket in which nothing happened is no row of zeros
    assert seen["tombstones"]["tenants"].value == 2


def test_the_last_cycle_is_shown_stage_by_stage(log: Store, run_job: RunJob, conn: Any) -> None:
    made = {}
    for bucket in ("00", "01", "02", "03"):
        result = run_job("cycle", bucket, tags={"as_of": "2026-03-11T00:00Z"})
        steps = [event.step_key for event in result.all_events if event.event_type_value == "STEP_SUCCESS"]
        for event in result.get_asset_materialization_events():
            for name, value in event.materialization.metadata.items():
                made[event.asset_key.to_user_string(), name] = made.get((event.asset_key.to_user_string(), name), 0) + (
                    value.value if isinstance(value.value, int) else 0
                )
    assert steps[:5] == ["extract", "embed", "signal", "catch_up", "correct"]
    assert steps[-2:] == ["decay", "maintain"]
    assert len(steps) == 15
    assert made["deduplicated_memories", "activated"] > 0
    assert made["importance_scores", "scored"] > 0
    assert made["new_candidates", "turns"] == 56


def test_a_stage_alone_says_what_it_waits_for(
    remembered: Store, run_job: RunJob, caplog: pytest.LogCaptureFixture
) -> None:
    before = digests(remembered)
    result = run_job("cycle", "01", op_selection=["merge"])
    assert result.success
    assert not result.get_asset_materialization_events()
    (seen,) = [event for event in result.all_events if event.event_type_value == "ASSET_OBSERVATION"]
    metadata = seen.event_specific_data.asset_observation.metadata
    assert metadata["waits for"].value == "extract"
    assert metadata["tenants waiting"].value == 2
    for step in ("extract", "embed", "signal", "catch_up", "correct", "merge"):
        assert run_job("cycle", "01", op_selection=[step]).get_asset_materialization_events(), step
    # done steps are not done again
    (again,) = run_job("cycle", "01", op_selection=["merge"]).get_asset_materialization_events()
    assert again.materialization.metadata["tenants done before"].value == 2
    assert digests(remembered) == before


def test_a_tenant_that_fails_does_not_keep_the_others_and_raises(
    log: Store, run_job: RunJob, conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    from deployments.history import materialize_history

    monkeypatch.setattr(dg.RetryPolicy, "calculate_delay", lambda policy, attempt: 0)
    conn.execute("update ops.tenants set policy = 'nowhere.toml' where tenant_id = 'acme'")
    found = conn.execute("select min(shard) * 4 / 1024 from log.turns where tenant_id = 'beta'").fetchone()
    result = run_job("cycle", f"{found[0]:02d}", raise_on_error=False)
    assert not result.success
    assert [event.event_type for event in result.all_events].count(dg.DagsterEventType.STEP_RESTARTED) == 3
    with pytest.raises(StageError, match=r"^1 of 2 tenants failed. acme: There is no policy 'nowhere.toml'"):
        list(materialize_history(AS_OF))
    assert conn.execute("select distinct tenant_id from memory.memories where state = 'active'").fetchall() == [
        ("beta",)
    ]


def test_a_database_that_is_gone_is_one_sentence(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from deployments import history

    monkeypatch.setattr(history, "_runs", lambda: [("cycle", "00")])
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(StageError, match=r"^No Postgres answers at 127.0.0.1:1.$"):
        list(history.materialize_history(AS_OF))


def test_all_failed_raises_and_tells_nothing_that_was_said(log: Store) -> None:
    from reverie.drive.tenants import for_each_tenant
    from reverie.model import Scope

    def work(scope: Scope, policy: object) -> Any:
        raise ValueError("what she said")

    with pytest.raises(StageError, match="2 of 2 tenants failed. acme: ValueError; beta: ValueError") as caught:
        for_each_tenant(log, lambda tenant_id: Scope(tenant_id=tenant_id), work)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_tenant_created_during_a_run_does_not_fail_it(
    log: Store, run_job: Any, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from assets import memories

    take = memories.take_step

    def create(work: Any, name: str, *arguments: Any, **named: Any) -> Any:
        if name == "embed":
            conn.execute("insert into ops.tenants (tenant_id, policy) values ('new', 'reverie') on conflict do nothing")
        return take(work, name, *arguments, **named)

    monkeypatch.setattr(memories, "take_step", create)
    assert run_job("cycle", "00").success
    assert "new" in dict(log.tenants())
