"""The log of turns: imported from another Postgres if REVERIE_SOURCE_URL is set, else written by others."""

from typing import TYPE_CHECKING

import dagster as dg

from assets.runs import RETRIES
from assets.turns import turns as written_elsewhere
from resources.clients import Clients
from resources.source import MANY_DEAD, counts_of, import_source, source_of
from reverie.settings import SourceSettings, load_source_settings

if TYPE_CHECKING:
    from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition


def turns_of(settings: SourceSettings) -> dg.AssetsDefinition | dg.AssetSpec:
    """Return the asset `turns`: a step that imports new rows of the source, or a table that others write."""
    if settings.url is None:
        return written_elsewhere
    source = source_of(settings)

    @dg.asset(
        name="turns",
        group_name=written_elsewhere.group_name,
        retry_policy=RETRIES,
        kinds={"postgres"},
        metadata={**written_elsewhere.metadata, "source": source.source},
        description="Every turn of every conversation, once; append-only. A run imports new rows of the source.",
    )
    def turns(context: dg.AssetExecutionContext, clients: Clients) -> dg.MaterializeResult[None]:
        runtime = clients.runtime
        _, summary = import_source(
            runtime, runtime.settings.tenant, lambda read: context.log.info(f"{read:,} rows read.")
        )
        counts = counts_of(summary)
        if summary.cure:
            raise dg.Failure(MANY_DEAD, metadata=counts, allow_retries=False)
        return dg.MaterializeResult(metadata=counts)

    return turns


def import_jobs(settings: SourceSettings) -> "list[UnresolvedAssetJobDefinition]":
    """Return the job that imports from the source, if one is set."""
    if settings.url is None:
        return []
    described = "Import new rows of the source into the log."
    return [dg.define_asset_job("import_table", selection=["turns"], description=described)]


def import_schedules(jobs: "list[UnresolvedAssetJobDefinition]") -> list[dg.ScheduleDefinition]:
    """Return the schedule of each of these jobs: a quarter of an hour before each cycle."""
    return [
        dg.ScheduleDefinition(
            name="before_each_cycle",
            job=job,
            cron_schedule="45 5,11,17,23 * * *",
            execution_timezone="UTC",
            default_status=dg.DefaultScheduleStatus.RUNNING,
            description="A quarter of an hour before each cycle, so that the cycle reads the new turns.",
        )
        for job in jobs
    ]


# the definitions are fixed when the code location is loaded, so the environment is read here
_SETTINGS = load_source_settings()

turns = turns_of(_SETTINGS)
IMPORT_JOBS = import_jobs(_SETTINGS)
IMPORT_SCHEDULES = import_schedules(IMPORT_JOBS)
