"""Artifacts of flow runs: progress, and tables of ids and counts. They never contain a text of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import create_progress_artifact, create_table_artifact, update_progress_artifact

from reverie.drive.tenants import Totals
from reverie.store.runs import Report


class Progress:
    """A progress bar. It appears with the first step, so a run with nothing to do has none."""

    def __init__(self, key: str, description: str) -> None:
        self._key = key
        self._description = description
        self._artifact: UUID | None = None

    def show(self, done: float, of: float) -> None:
        """Set the progress."""
        percent = min(100.0, 100.0 * done / of) if of else 100.0
        if self._artifact is None:
            made = create_progress_artifact(percent, key=self._key, description=self._description)
            self._artifact = cast("UUID", made)  # a coroutine only within an event loop
        else:
            update_progress_artifact(self._artifact, percent)


def show_table(key: str, description: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Create a table with the columns of the first row; without rows, create none."""
    shown = [{name: _short(value) for name, value in row.items()} for row in rows]
    if shown:
        create_table_artifact(shown, key=key, description=description)


def show_stages(key: str, reports: Iterable[Report]) -> dict[str, int | float]:
    """Create a table of the stages' counts, in the order in which they first ran; return their sums, flat."""
    totals = Totals()
    for report in reports:
        totals.add(report)
    show_totals(key, totals)
    return totals.of(*totals.runs)


def show_totals(key: str, totals: Totals) -> None:
    """Create a table of sums by stage."""
    rows = [
        {
            "stage": stage,
            "runs": runs,
            "seconds": totals.seconds[stage],
            "did": ", ".join(f"{name} {number:,.10g}" for name, number in totals.counts[stage].items() if number)
            or "-",
        }
        for stage, runs in totals.runs.items()
    ]
    show_table(key, "What each stage did: counts, as in the run ledger.", rows)


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() else round(value, 2)
    return value
