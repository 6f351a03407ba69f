"""When the periodic tier runs: four times a day, one run a bucket, then the dashboard."""

from collections.abc import Iterator

import dagster as dg

from assets.memories import STAGES
from assets.partitions import buckets
from assets.runs import AS_OF

cycle_job = dg.define_asset_job(
    "cycle", selection=list(STAGES), partitions_def=buckets, description="Catch up and run the cycles of one bucket."
)
backfill_job = dg.define_asset_job(
    "backfill_history",
    selection=["candidates", "vectors"],
    description="Extract and embed months of history, bucket by bucket.",
)
health_job = dg.define_asset_job(
    "health", selection=dg.AssetSelection.assets("memory_health"), description="Measure memory and check it."
)


@dg.schedule(job=cycle_job, cron_schedule="0 */6 * * *", execution_timezone="UTC")
def every_six_hours(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest]:
    """A run a bucket at 00, 06, 12 and 18 UTC; its logical time is the tick's, however late it starts."""
    tick = context.scheduled_execution_time
    for key in buckets.get_partition_keys():
        yield dg.RunRequest(run_key=f"{tick.isoformat()}/{key}", partition_key=key, tags={AS_OF: tick.isoformat()})


health_schedule = dg.ScheduleDefinition(
    name="after_each_cycle", job=health_job, cron_schedule="30 */6 * * *", execution_timezone="UTC"
)
