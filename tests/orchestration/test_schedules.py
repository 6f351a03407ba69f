"""A tick asks for one run a bucket, and each run is told the tick's time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import dagster as dg

TICK = datetime(2026, 3, 1, 6, tzinfo=UTC)


def test_a_cycle_is_a_run_a_bucket(defs: dg.Definitions) -> None:
    import dagster as dg

    from assets.partitions import buckets

    schedule = defs.resolve_schedule_def("every_six_hours")
    with dg.DagsterInstance.ephemeral() as instance:
        found = schedule.evaluate_tick(
            dg.build_schedule_context(
                scheduled_execution_time=TICK, instance=instance, repository_def=defs.get_repository_def()
            )
        ).run_requests
    assert [request.partition_key for request in found] == list(buckets.get_partition_keys())
    assert {request.tags["as_of"] for request in found} == {"2026-03-01T06:00Z"}
    assert len({request.run_key for request in found}) == len(found)


def test_health_follows(defs: dg.Definitions) -> None:
    import dagster as dg

    schedule = defs.resolve_schedule_def("after_each_cycle")
    with dg.build_schedule_context(scheduled_execution_time=TICK) as context:
        (request,) = schedule.evaluate_tick(context).run_requests
    assert request.tags["as_of"] == "2026-03-01T06:00Z"


def test_the_logical_time_of_a_run(defs: dg.Definitions) -> None:
    import dagster as dg

    from assets.runs import as_of

    seen = []

    @dg.asset
    def watch(context) -> None:  # Dagster cannot read an annotation that is imported here
        seen.append(as_of(context))

    before = datetime.now(UTC)
    with dg.DagsterInstance.ephemeral() as instance:
        dg.materialize([watch], instance=instance, tags={"as_of": TICK.isoformat()})
        dg.materialize([watch], instance=instance)
    assert seen[0] == TICK
    assert before <= seen[1] <= datetime.now(UTC)
