"""Telemetry of stage runs: a span, metrics and lineage events. They have counts and names, no text and no subject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from reverie.errors import ReverieError
from reverie.telemetry import lineage, names
from reverie.telemetry.lineage import StageRun
from reverie.telemetry.spans import record_value, recording, span


class StageCounts(Protocol):
    """The part of a stage's report that telemetry needs."""

    @property
    def counts(self) -> Mapping[str, int | float]:
        """Flat counts by name."""

    @property
    def seconds(self) -> float:
        """Seconds that the stage ran."""


@contextmanager
def told_stage(run: StageRun, report: StageCounts) -> Iterator[None]:
    """Report the stage run that the block performs; its counts are read from `report` at the end."""
    if not recording() and not lineage.emitting():
        yield
        return
    lineage.emit("START", run)
    with span(f"stage {run.stage}", run.attributes()) as current:
        try:
            yield
        except BaseException as error:  # an interruption too, as whoever got START waits for an end
            # only Reverie's own messages are known to contain no user text
            lineage.emit("FAIL", run, report.counts, str(error) if isinstance(error, ReverieError) else "")
            record_value(names.STAGE_SECONDS, report.seconds, _labels(run) | {names.ERROR_TYPE: type(error).__name__})
            raise
        current.set({f"{names.COUNTS}{name}": number for name, number in report.counts.items()})
        record_value(names.STAGE_SECONDS, report.seconds, _labels(run))
        for name, number in report.counts.items():
            if number > 0 and not run.dry_run:  # its items were rolled back
                record_value(names.STAGE_ITEMS, number, _labels(run) | {names.COUNT_NAME: name})
    lineage.emit("COMPLETE", run, report.counts)


def _labels(run: StageRun) -> dict[str, str]:
    """Return the labels of metrics. Each has few values, so run and tenant are left out."""
    return {names.STAGE: run.stage, names.DRIVER: run.driver}
