"""The history's partitions are the months that hold turns, and one sees how far they are read."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from reverie.evaluate.history import MonthOfBucket, log_activity, months_with_turns, seconds_per_turn
from reverie.inference import Embedder
from reverie.model import SHARDS, Scope
from reverie.store.database import Store
from tests.orchestration.conftest import live_through


@pytest.mark.parametrize("buckets", [1, 3, 4, 100])
def test_months_are_cut_as_buckets_are(log: Store, conn: Any, buckets: int) -> None:
    found = months_with_turns(log, buckets)
    parts = [Scope.bucket("any", number, buckets) for number in range(buckets)]
    expected: dict[tuple[date, int], int] = {}
    for month, shard in conn.execute(
        "select date_trunc('month', said_at at time zone 'UTC')::date, shard from log.turns"
    ):
        (bucket,) = [at for at, part in enumerate(parts) if part.shard_from <= shard < part.shard_to]
        expected[month, bucket] = expected.get((month, bucket), 0) + 1
    assert {(each.month, each.bucket): each.turns for each in found} == expected
    assert not any(each.turns_read for each in found)
    assert [((shard + 1) * buckets - 1) // SHARDS for shard in (0, SHARDS - 1)] == [0, buckets - 1]


def look(store: Store, instance: Any, cursor: str | None = None) -> Any:
    import dagster as dg

    from assets.definitions import defs
    from assets.progress import watch_history

    repository = defs.get_repository_def()
    with dg.build_sensor_context(instance=instance, cursor=cursor, repository_def=repository) as context:
        return watch_history.evaluate_tick(context)


def test_the_sensor_adds_months_and_tells_how_far_they_are_read(log: Store, embedder: Embedder, conn: Any) -> None:
    import dagster as dg

    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        first = look(log, instance)
        (request,) = first.dynamic_partitions_requests
        assert request.partition_keys == [f"{each.month:%Y-%m}/{each.bucket:02d}" for each in months_with_turns(log, 4)]
        (unread,) = first.asset_events
        assert unread.metadata["dagster/row_count"].value == 56
        assert (unread.metadata["Turns"].value, unread.metadata["Turns left"].value) == (56, 56)
        assert "Time left" in unread.metadata
        instance.add_dynamic_partitions("history", request.partition_keys)
        live_through(log, embedder)
        conn.execute("select pg_stat_force_next_flush()")
        later = look(log, instance, cursor="before")
        assert not later.dynamic_partitions_requests
        seen, *marked = later.asset_events
        assert (seen.metadata["Turns left"].value, seen.metadata["Minutes left"].value) == (0, 0)
        assert seen.metadata["Turns per second"].value == pytest.approx(1 / seconds_per_turn(log), rel=0.1)
        assert seen.metadata["By month"].value.splitlines()[2] == "| 2026-01 | 24 | 24 | none |"
        # read by cycles: the partitions are not missing
        assert {(each.asset_key.to_user_string(), each.partition) for each in marked} == {
            (name, key) for name in ("candidates", "vectors") for key in request.partition_keys
        }
        again = look(log, instance, cursor=log_activity(log))
        assert "No turn was added" in again.skip_message or again.asset_events


def test_what_is_left_and_for_how_long() -> None:
    from assets.progress import observation

    months = [
        MonthOfBucket(month=date(2026, 1, 1), bucket=0, turns=100, turns_read=100),
        MonthOfBucket(month=date(2026, 1, 1), bucket=3, turns=500, turns_read=200),
    ]
    metadata = observation(months, 0.02).metadata
    assert metadata["Turns left"].value == 300
    assert metadata["Minutes left"].value == 0.1
    assert metadata["Partitions left"].value == 1
    assert metadata["By month"].value.endswith("| 2026-01 | 600 | 300 | 03 |")


def test_without_a_database_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import dagster as dg

    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        assert "No Postgres answers" in look(None, instance).skip_message
