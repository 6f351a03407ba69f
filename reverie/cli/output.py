"""Output of commands: JSON for programs, tables for people, plain aligned text for pipes.

Colors and line drawing appear only in a terminal, and NO_COLOR turns colors off. Text from the log may hold anything,
so control characters, which a terminal would interpret, are replaced.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from reverie.cli.widths import fitting, least_width, longest_line, shared_widths
from reverie.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

#: Characters of an id that are shown: 48 bits of time and 26 bits of hash, enough to distinguish memories.
SHORT_ID = 23
BAR_CELLS = 10
#: Width of the gap between the columns of a drawn table, and the gap in plain text.
_GAP = 3
_BETWEEN = "  "


def print_json(value: Any) -> None:
    """Print one JSON object: times as RFC 3339 in UTC, ids as text, dataclasses and named tuples as objects."""
    import orjson

    sys.stdout.buffer.write(orjson.dumps(value, default=_plain, option=orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()  # a closed pipe fails here, not when the interpreter exits


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, tuple):  # orjson takes no subclass of it
        return value._asdict() if hasattr(value, "_asdict") else list(value)
    return str(value)


def say(text: str = "") -> None:
    """Print a line on stdout."""
    click.echo(printable(text))


def note(text: str) -> None:
    """Print a line on stderr."""
    click.echo(printable(text), err=True)


def write_file(file: Path, text: str) -> None:
    """Write a text file. Raises InputError if it cannot be written."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}.") from None


def heading(text: str) -> None:
    """Print a heading: bold in a terminal, plain otherwise."""
    if is_terminal():
        from rich.text import Text

        console().print()
        console().print(Text(printable(text), style="bold"), soft_wrap=True)
    else:
        click.echo(f"\n{printable(text)}")


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[str] = (), ids: Sequence[str] = ()
) -> None:
    """Print a table. Columns in `right` are aligned to the right; columns in `ids` hold names to copy.

    Nothing is truncated. In a terminal, long cells wrap between words, but ids never wrap. If the window is too narrow
    for that, the columns that do not fit are printed below their row, each on a line of its own.
    """
    cells = [[printable(format_value(cell)) for cell in row] for row in rows]
    if not is_terminal():
        _print_aligned(columns, cells, right)
        return
    whole = list(zip(columns, *cells, strict=True))
    longest = [longest_line(column) for column in whole]
    least = [least_width(column, folds=column[0] not in (*ids, *right)) for column in whole]
    room = console().width
    if sum(least) + (len(least) - 1) * _GAP <= room:
        _draw(columns, cells, right, shared_widths(longest, least, room - (len(least) - 1) * _GAP))
    else:
        kept = [place for place, name in enumerate(columns) if name in ids and longest[place] <= room // 2]
        beside = fitting(longest, room - (len(least) - 1) * len(_BETWEEN), kept=kept)
        _print_beneath(columns, cells, right, beside)


def _draw(columns: Sequence[str], cells: list[list[str]], right: Sequence[str], widths: Sequence[int]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name, width in zip(columns, widths, strict=True):
        drawn.add_column(name, justify="right" if name in right else "left", overflow="fold", width=width)
    for row in cells:
        drawn.add_row(*(Text(cell) for cell in row))
    console().print(drawn)


def _print_beneath(columns: Sequence[str], cells: list[list[str]], right: Sequence[str], beside: list[int]) -> None:
    """Print the columns of `beside` as a table and the others on lines below each row, which the terminal wraps."""
    beneath = [place for place in range(len(columns)) if place not in beside]
    lines = _aligned([columns[place] for place in beside], [[row[place] for place in beside] for row in cells], right)
    label = max(len(columns[place]) for place in beneath)
    click.echo(lines[0])
    for line, row in zip(lines[1:], cells, strict=True):
        click.echo(line)
        for place in beneath:
            if row[place]:
                click.echo(f"    {columns[place]:<{label}}  {single_line(row[place])}")


def pairs(rows: Iterable[tuple[str, Any]]) -> None:
    """Print names and values, one pair per line; pairs whose value is None are omitted."""
    shown = [(name, printable(format_value(value))) for name, value in rows if value is not None]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{name:<{width}}  {value}")


def format_value(value: Any) -> str:
    """Format a value for people: times to the minute in UTC, short ids and numbers, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, UUID):
        return str(value)[:SHORT_ID]
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def bar(share: float) -> str:
    """Draw a number from 0 to 1 as a bar."""
    full = round(max(0.0, min(1.0, share)) * BAR_CELLS)
    return "█" * full + "·" * (BAR_CELLS - full)


def printable(text: str) -> str:
    """Replace control characters, which a terminal would interpret."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def single_line(text: str, limit: int = 0) -> str:
    """Put a text on one line, and truncate it to `limit` characters unless that is 0."""
    line = " ".join(text.split())
    return line if not limit or len(line) <= limit else line[: limit - 1] + "…"


def is_terminal() -> bool:
    """Tell whether stdout is a terminal."""
    return sys.stdout.isatty()


def console(*, stderr: bool = False) -> Console:
    """Return rich's console, which respects NO_COLOR, TERM and the width of the window."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=False)


def _print_aligned(columns: Sequence[str], cells: list[list[str]], right: Sequence[str]) -> None:
    for line in _aligned(columns, cells, right):
        click.echo(line)


def _aligned(columns: Sequence[str], cells: list[list[str]], right: Sequence[str]) -> list[str]:
    """Return the header and the rows as aligned lines."""
    flat = [[single_line(cell) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(columns, *flat, strict=True)]
    lines = []
    for row in [list(columns), *flat]:
        placed = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        ]
        lines.append(_BETWEEN.join(placed).rstrip())
    return lines


def counts_text(counts: dict[str, int | float]) -> str:
    """Format the counts of a report that are not zero, in their order."""
    parts = [f"{name.replace('_', ' ')} {number:,}" for name, number in counts.items() if number]
    return " · ".join(parts) or "nothing to do"
