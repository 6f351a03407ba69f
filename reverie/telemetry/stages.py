"""What a stage run tells: a span and metrics, and events of its lineage. Counts and names; no text, no subject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from reverie.errors import ReverieError
from reverie.telemetry import lineage, names
from reverie.telemetry.lineage import StageRun
from reverie.telemetry.spans import record_value, recording, span


class StageCounts(Protocol):
    """The part of a stage's report that is told."""

    @property
    def counts(self) -> Mapping[str, int | float]:
        """Flat counts by name."""

    @property
    def seconds(self) -> float:
        """How long it took."""


@contextmanager
def told_stage(run: StageRun, report: StageCounts) -> Iterator[None]:
    """Tell of a stage run that is done in the block; what it counted is read from its report at the end."""
    if not recording() and not lineage.emitting():
        yield
        return
    lineage.emit("START", run)
    with span(f"stage {run.stage}", run.attributes()) as current:
        try:
            yield
        except Exception as error:
            # only our own messages are known to carry no text
            lineage.emit("FAIL", run, report.counts, str(error) if isinstance(error, ReverieError) else "")
            record_value(names.STAGE_SECONDS, report.seconds, _labels(run) | {names.ERROR_TYPE: type(error).__name__})
            raise
        current.set({f"{names.COUNTS}{name}": number for name, number in report.counts.items()})
        record_value(names.STAGE_SECONDS, report.seconds, _labels(run))
        for name, number in report.counts.items():
            if number > 0:
                record_value(names.STAGE_ITEMS, number, _labels(run) | {names.COUNT_NAME: name})
    lineage.emit("COMPLETE", run, report.counts)


def _labels(run: StageRun) -> dict[str, str]:
    """The labels of metrics: few values each, so no run and no tenant."""
    return {names.STAGE: run.stage, names.DRIVER: run.driver}
