"""What is shown while something long runs: bars on stderr in a terminal, and nothing where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reverie.cli.output import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bars:
    """One bar for each thing that is counted; silent without a terminal."""

    def __init__(self, drawn: Progress | None) -> None:
        self._drawn = drawn
        self._tasks: dict[str, TaskID] = {}

    @property
    def seen(self) -> bool:
        """Whether anybody looks, so that it is worth counting how much there is to do."""
        return self._drawn is not None

    def expect(self, name: str, total: int | None) -> None:
        """Show a bar for `name` that is full at `total`; without one it only counts."""
        if self._drawn is not None:
            self._drawn.update(self._task(name), total=total)

    def advance(self, name: str, number: int) -> None:
        """Count `number` more."""
        if self._drawn is not None:
            self._drawn.advance(self._task(name), number)

    def place(self, name: str, completed: int) -> None:
        """Set how far `name` is."""
        if self._drawn is not None:
            self._drawn.update(self._task(name), completed=completed)

    def _task(self, name: str) -> TaskID:
        assert self._drawn is not None
        if name not in self._tasks:
            self._tasks[name] = self._drawn.add_task(name, total=None)
        return self._tasks[name]


@contextmanager
def bars() -> Iterator[Bars]:
    """Draw bars until the block ends, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield Bars(None)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as drawn:
        yield Bars(drawn)
