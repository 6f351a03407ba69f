"""Materialize the assets for a whole history in this process, as `make demo` does."""

from __future__ import annotations

import io
from collections.abc import Generator
from contextlib import redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
from dagster._core.execution.api import execute_run
from dagster._core.execution.job_execution_result import JobExecutionResult
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from assets.consolidation import consolidation_defs
from assets.memories import MADE
from assets.partitions import BUCKETS, buckets, history, month_key
from assets.progress import observation
from assets.runs import AS_OF, as_of_tag
from reverie.errors import DatabaseError, StageError
from reverie.evaluate.history import months_with_turns, seconds_per_turn
from reverie.settings import load_settings
from reverie.store.database import Store
from reverie.store.server.address import database_url

#: The name of the code location in deployments/workspace.yaml.
LOCATION = "reverie"

#: Description of a bucket without turns.
EMPTY = "No subject of this bucket has turns yet: there is nothing to consolidate."

#: The current step, the number of completed steps, and the number of all steps.
Step = tuple[str, int, int]

#: Seconds after which a connection of Dagster's storage is replaced, and connections beside the one that is kept open.
_RECYCLE_SECONDS, _MORE_CONNECTIONS = 3600, 20

#: Keeps Dagster from logging every event; failures are raised anyway.
_QUIET: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def materialize_history(
    as_of: datetime, instance: dg.DagsterInstance | None = None
) -> Generator[Step, None, dict[str, bool]]:
    """Run the jobs of `assets/` like a backfill: every month and bucket with turns, the buckets' cycles, health.

    Bring every tenant to `as_of`; a second call changes nothing. Yield before each run and once at the end. Return, by
    name, whether each check passed. Raises StageError: a run and its retries failed.
    """
    runs = _runs()
    with instance or dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        _keep_connections(instance)
        instance.add_dynamic_partitions(str(history.name), [key for job, key in runs if key and job != "cycle"])
        _report_log(instance)
        _report_empty_buckets(instance, filled={key for job, key in runs if job == "cycle"})
        for done, (job, key) in enumerate(runs):
            yield f"{job} {key or ''}".rstrip(), done, len(runs)
            result = _run(instance, consolidation_defs, job, key, as_of)
            if not result.success:
                raise StageError(_reason(result))
        yield "done", len(runs), len(runs)
    return {check.check_name: check.passed for check in result.get_asset_check_evaluations()}


def materialize_marts(as_of: datetime, instance: dg.DagsterInstance | None = None) -> dict[str, bool]:
    """Build the marts; return, by name, whether each of dbt's tests passed.

    Needs the extra `dbt`. Raises StageError: a model could not be built or its contract does not hold.
    """
    from assets.marts import marts_defs  # dbt takes seconds to load

    with (
        instance or dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance,
        redirect_stdout(io.StringIO()),  # dbt's log; Dagster has its events
    ):
        result = _run(instance, marts_defs, "marts", None, as_of)
    if not result.success:
        raise StageError("dbt could not build the marts: run `make marts` to see which and why.")
    return {check.check_name: check.passed for check in result.get_asset_check_evaluations()}


def _run(
    instance: dg.DagsterInstance, defs: dg.Definitions, job: str, key: str | None, as_of: datetime
) -> JobExecutionResult:
    """Run a job in this process, recorded as the workspace's job, so that the job's page lists the run."""
    definition = defs.resolve_job_def(job)
    tags = dict(definition.get_tags_for_partition_key(key, selected_asset_keys=None)) if key else {}
    run = instance.create_run_for_job(
        definition,
        run_config=_QUIET,
        tags={**definition.run_tags, **tags, AS_OF: as_of_tag(as_of)},
        remote_job_origin=RemoteJobOrigin(
            repository_origin=RemoteRepositoryOrigin(
                code_location_origin=ManagedGrpcPythonEnvCodeLocationOrigin(
                    loadable_target_origin=LoadableTargetOrigin(
                        module_name="assets.definitions", working_directory=str(Path(__file__).resolve().parents[1])
                    ),
                    location_name=LOCATION,
                ),
                repository_name=SINGLETON_REPOSITORY_NAME,
            ),
            job_name=job,
        ),
    )
    return execute_run(InMemoryJob(definition), run, instance)


def _keep_connections(instance: dg.DagsterInstance) -> None:
    """Let Dagster's storage in Postgres reuse connections, as its web server does: it opened 1,137 for the sample."""
    instance.optimize_for_webserver(statement_timeout=0, pool_recycle=_RECYCLE_SECONDS, max_overflow=_MORE_CONNECTIONS)


def _report_log(instance: dg.DagsterInstance) -> None:
    """Record that the log is filled: no run of Dagster wrote it, so its page would say "Never materialized"."""
    try:
        with Store.open(database_url(load_settings()), size=1) as store:
            seen = observation(months_with_turns(store, BUCKETS), seconds_per_turn(store))
    except DatabaseError as error:
        raise StageError(str(error)) from None
    event = dg.AssetMaterialization("turns", metadata=seen.metadata, description="Imported before this run.")
    instance.report_runless_asset_event(event)


def _report_empty_buckets(instance: dg.DagsterInstance, *, filled: set[str | None]) -> None:
    """Mark the buckets without turns as materialized, since "missing" would suggest that work is left."""
    for key in buckets.get_partition_keys():
        if key not in filled:
            for made in MADE.values():
                event = dg.AssetMaterialization(made.asset, partition=key, description=EMPTY)
                instance.report_runless_asset_event(event)


def _reason(result: JobExecutionResult) -> str:
    """Return the message of Reverie's error in the first failure, without the stack."""
    for event in result.all_events:
        error = getattr(event.event_specific_data, "error", None) if event.is_failure else None
        while error is not None:
            if error.message.startswith("reverie.errors."):
                return str(error.message).partition(": ")[2].strip()
            error = error.cause
    return f"The job {result.job_def.name} failed; run it in the orchestrator (deployments/ui.py) to see why."


def _runs() -> list[tuple[str, str | None]]:
    """Return the jobs to run, each with its partition."""
    with Store.open(database_url(load_settings())) as store:
        months = months_with_turns(store, BUCKETS)
    keys = [month_key(each.month, each.bucket) for each in sorted(months, key=lambda each: (each.bucket, each.month))]
    cycles = sorted({buckets.get_partition_keys()[each.bucket] for each in months})
    return [
        *(("backfill_history", key) for key in keys),
        *(("cycle", key) for key in cycles),
        ("health", None),
    ]
