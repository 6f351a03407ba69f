"""Schedules of the periodic tier: four times a day a run per bucket, then the dashboard; evaluation once a week."""

from collections.abc import Iterator

import dagster as dg

from assets.memories import MADE
from assets.partitions import buckets
from assets.runs import AS_OF, as_of_tag

cycle_job = dg.define_asset_job(
    "cycle",
    selection=[made.asset for made in MADE.values()],
    description="Read new turns and run the pending cycles of one bucket of subjects, the last one stage by stage.",
    executor_def=dg.in_process_executor,
)
backfill_job = dg.define_asset_job(
    "backfill_history",
    selection=["candidates", "vectors"],
    description="Extract and embed months of history, bucket by bucket, before the first cycle.",
    executor_def=dg.in_process_executor,
)
evaluation_job = dg.define_asset_job(
    "evaluate", selection=dg.AssetSelection.assets("evaluation"), description="Measure the quality of recall."
)
health_job = dg.define_asset_job(
    "health",
    selection=dg.AssetSelection.assets("memory_health"),
    description="Measure memory and run its checks.",
    executor_def=dg.in_process_executor,
)


@dg.schedule(
    job=cycle_job,
    cron_schedule="0 */6 * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="At 00, 06, 12 and 18 UTC: one run of the cycle for each bucket.",
)
def every_six_hours(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest]:
    """Request a run per bucket at 00, 06, 12 and 18 UTC. Its logical time is the tick's, however late it starts."""
    tick = as_of_tag(context.scheduled_execution_time)
    for key in buckets.get_partition_keys():
        yield dg.RunRequest(run_key=f"{tick}/{key}", partition_key=key, tags={AS_OF: tick})


@dg.schedule(
    job=health_job,
    cron_schedule="30 */6 * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Half an hour after each cycle: memory_health and its checks, even if the cycle failed.",
)
def after_each_cycle(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Request a run half an hour after each tick, even if the cycle failed: health must also report a stuck cycle."""
    tick = as_of_tag(context.scheduled_execution_time)
    return dg.RunRequest(run_key=tick, tags={AS_OF: tick})


@dg.schedule(
    job=evaluation_job,
    cron_schedule="0 3 * * 0",
    execution_timezone="UTC",
    description="On Sundays at 03 UTC. Off until you turn it on: it asks up to a thousand questions for each tenant.",
)
def every_week(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Request a run on Sundays at 03 UTC. Off by default, since it asks up to a thousand questions per tenant."""
    tick = context.scheduled_execution_time.isoformat()
    return dg.RunRequest(run_key=tick, tags={AS_OF: tick})
