"""All definitions except the marts, for which dbt takes seconds to load."""

import dagster as dg

from assets.alerts import alerts
from assets.candidates import candidates
from assets.checks import all_embedded, bucket_lag, no_duplicates, queue_lag, recall_is_exact
from assets.evaluation import evaluation
from assets.generations import GENERATION_ASSETS, GENERATION_JOBS, every_day
from assets.memories import steps
from assets.memory_health import memory_health
from assets.progress import watch_history
from assets.quality import quality_checks
from assets.schedules import (
    after_each_cycle,
    backfill_job,
    cycle_job,
    evaluation_job,
    every_six_hours,
    every_week,
    health_job,
)
from assets.simulation import simulated_year
from assets.source import IMPORT_JOBS, IMPORT_SCHEDULES, turns
from assets.vectors import vectors
from resources.clients import Clients

consolidation_defs = dg.Definitions(
    assets=[turns, candidates, vectors, *steps, memory_health, evaluation, simulated_year, *GENERATION_ASSETS],
    asset_checks=[bucket_lag, queue_lag, all_embedded, no_duplicates, recall_is_exact, *quality_checks],
    jobs=[cycle_job, backfill_job, health_job, evaluation_job, *GENERATION_JOBS, *IMPORT_JOBS],
    schedules=[every_six_hours, after_each_cycle, every_day, every_week, *IMPORT_SCHEDULES],
    sensors=[watch_history, *alerts],
    resources={"clients": Clients()},
    # one process per run: six steps take 5 CPU-seconds this way, and 36 in a process each
    executor=dg.in_process_executor,
)
