"""Progress bars of long commands, on stderr and only in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from reverie.cli.output import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


#: The unit that each stage counts.
UNITS = {"extract": "turns", "embed": "texts", "cycles": "cycles", "reembed": "texts"}


class Bars:
    """A progress bar per name. Without a terminal, nothing is drawn."""

    def __init__(self, drawn: Progress | None) -> None:
        self._drawn = drawn
        self._tasks: dict[str, TaskID] = {}
        self._lock = Lock()

    @property
    def seen(self) -> bool:
        """Whether bars are drawn, so that counting the work in advance is worthwhile."""
        return self._drawn is not None

    def expect(self, name: str, total: int | None, *, unit: str | None = None) -> None:
        """Show a bar for `name` that is full at `total`. If `total` is None, it only counts `unit`s."""
        if self._drawn is not None:
            self._drawn.update(self._task(name, unit), total=total)

    def advance(self, name: str, number: int) -> None:
        """Advance the bar by `number`."""
        if self._drawn is not None:
            task = self._task(name)
            self._drawn.advance(task, number)
            self._raise_total(task)

    def place(self, name: str, completed: int) -> None:
        """Set the bar to `completed`."""
        if self._drawn is not None:
            task = self._task(name)
            self._drawn.update(task, completed=completed)
            self._raise_total(task)

    def _task(self, name: str, unit: str | None = None) -> TaskID:
        assert self._drawn is not None
        with self._lock:  # buckets that run in parallel share a bar
            if name not in self._tasks:
                self._tasks[name] = self._drawn.add_task(name, total=None, unit=unit or UNITS.get(name, ""))
            return self._tasks[name]

    def _raise_total(self, number: TaskID) -> None:
        """Raise the total when there is more work than expected, such as patterns that have to be embedded."""
        assert self._drawn is not None
        with self._lock:
            (task,) = (task for task in self._drawn.tasks if task.id == number)
            if task.total is not None and task.completed > task.total:
                self._drawn.update(number, total=task.completed)


@contextmanager
def bars() -> Iterator[Bars]:
    """Draw progress bars until the block ends, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield Bars(None)
        return
    from rich.filesize import decimal
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class AmountColumn(ProgressColumn):
        """The completed amount: `1,024/30,000 turns`, `3.1 MB/5.0 MB`, or `12 cycles` without a total."""

        def render(self, task: Task) -> Text:
            unit = task.fields["unit"]
            amounts = [task.completed] if task.total is None else [task.completed, task.total]
            if unit == "bytes":
                return Text("/".join(decimal(int(amount)) for amount in amounts))
            return Text(f"{'/'.join(f'{int(amount):,}' for amount in amounts)} {unit}".rstrip())

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        AmountColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as drawn:
        yield Bars(drawn)
