"""OpenLineage events of stage runs. The job is the stage, the run is its run, and the datasets are its tables.

Off unless the environment says where events go. OpenLineage is not imported before an event is sent.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from reverie.telemetry import names

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

_log = logging.getLogger("reverie.lineage")

#: URL that describes the producer of the events.
PRODUCER = "https://pypi.org/project/reverie/"
_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet"


@dataclass(frozen=True, kw_only=True, slots=True)
class StageRun:
    """A run of a stage."""

    stage: str
    run_id: UUID
    tenant_id: str
    as_of: datetime
    driver: str
    policy: str
    dry_run: bool

    def attributes(self) -> dict[str, str | int | float | bool]:
        """Return the attributes of its span."""
        return {
            names.STAGE: self.stage,
            names.RUN: str(self.run_id),
            names.TENANT: self.tenant_id,
            names.AS_OF: self.as_of.isoformat(),
            names.DRIVER: self.driver,
            names.POLICY: self.policy,
            names.DRY_RUN: self.dry_run,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class StageTables:
    """The tables of a stage, as `schema.table`."""

    summary: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    #: By table, the name of the count that gives the number of rows written to it.
    counted: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Database:
    """The database of the tables, as OpenLineage names it."""

    host: str
    port: int
    name: str

    @property
    def namespace(self) -> str:
        """The namespace of its datasets."""
        return f"postgres://{self.host}:{self.port}"


class Emitter:
    """A sender of events. An event that cannot be sent is dropped; the first failure is logged, and no stage fails."""

    def __init__(
        self, client: OpenLineageClient, *, namespace: str, database: Database, tables: Mapping[str, StageTables]
    ) -> None:
        self._client, self._namespace = client, namespace
        self._database, self._tables = database, tables
        self._warned = False

    def emit(
        self,
        state: Literal["START", "COMPLETE", "FAIL"],
        run: StageRun,
        counts: Mapping[str, int | float],
        error: str,
    ) -> None:
        """Send an event. Never raises."""
        try:
            self._client.emit(self._event(state, run, counts, error))
        except Exception as failure:
            if not self._warned:
                _log.warning("A lineage event could not be sent (%s); later ones may be.", type(failure).__name__)
            self._warned = True

    def _event(self, state: str, run: StageRun, counts: Mapping[str, int | float], error: str) -> Any:
        from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
        from openlineage.client.facet_v2 import (
            documentation_job,
            error_message_run,
            job_type_job,
            nominal_time_run,
            output_statistics_output_dataset,
        )

        tables = self._tables.get(run.stage, StageTables(summary="", reads=(), writes=()))
        as_of = run.as_of.isoformat()
        facets: dict[str, Any] = {
            "nominalTime": nominal_time_run.NominalTimeRunFacet(nominalStartTime=as_of, producer=PRODUCER),
            "reverie": _run_facet(run, counts),
        }
        if state == "FAIL":
            facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(
                message=error or "The stage failed.", programmingLanguage="python", producer=PRODUCER
            )
        kind = job_type_job.JobTypeJobFacet("BATCH", "REVERIE", jobType="STAGE", producer=PRODUCER)
        described: dict[str, Any] = {"jobType": kind}
        if tables.summary:
            described["documentation"] = documentation_job.DocumentationJobFacet(tables.summary, producer=PRODUCER)
        outputs = []
        for table in tables.writes:
            rows = counts.get(tables.counted.get(table, ""))
            statistics: dict[str, Any] = {}
            if rows is not None and state == "COMPLETE":
                statistics["outputStatistics"] = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
                    rowCount=int(rows), producer=PRODUCER
                )
            outputs.append(OutputDataset(self._database.namespace, self._name(table), outputFacets=statistics))
        return RunEvent(
            eventType=RunState[state],
            eventTime=datetime.now(UTC).isoformat(),
            run=Run(str(run.run_id), facets),
            job=Job(self._namespace, run.stage, described),
            inputs=[InputDataset(self._database.namespace, self._name(table)) for table in tables.reads],
            outputs=outputs,
            producer=PRODUCER,
        )

    def _name(self, table: str) -> str:
        return f"{self._database.name}.{table}"


_emitter: Emitter | None = None


def emit_to(emitter: Emitter | None) -> None:
    """Send events through an emitter; None: nowhere."""
    global _emitter
    _emitter = emitter


def emitting() -> bool:
    """Tell whether events are sent."""
    return _emitter is not None


def emit(
    state: Literal["START", "COMPLETE", "FAIL"],
    run: StageRun,
    counts: Mapping[str, int | float] | None = None,
    error: str = "",
) -> None:
    """Send an event of a stage run with its counts. A dry run writes nothing and sends nothing."""
    if _emitter is not None and not run.dry_run:
        _emitter.emit(state, run, counts or {}, error)


def _run_facet(run: StageRun, counts: Mapping[str, int | float]) -> Any:
    import attr
    from openlineage.client.facet_v2 import RunFacet

    @attr.define
    class ReverieRunFacet(RunFacet):
        tenant: str = ""
        driver: str = ""
        policy: str = ""
        counts: dict[str, int | float] = attr.field(factory=dict)

        @staticmethod
        def _get_schema() -> str:
            return _SCHEMA

    return ReverieRunFacet(
        tenant=run.tenant_id, driver=run.driver, policy=run.policy, counts=dict(counts), producer=PRODUCER
    )
