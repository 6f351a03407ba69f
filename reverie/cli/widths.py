"""Compute the column widths of a table, in cells of a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

#: Width that a text column gets before it wraps, so that it does not become one word per line.
_READABLE = 20


def longest_line(texts: Iterable[str]) -> int:
    """Return the width of the longest line."""
    from rich.cells import cell_len

    return max((cell_len(line) for text in texts for line in text.splitlines()), default=0)


def least_width(texts: Sequence[str], *, folds: bool) -> int:
    """Return the least width of a column: its longest line, or its longest word if it may wrap (`folds`)."""
    longest = longest_line(texts)
    if not folds:
        return longest
    return max(min(longest, _READABLE), longest_line(word for text in texts for word in text.split()))


def fitting(widths: Sequence[int], room: int, *, kept: Collection[int] = ()) -> list[int]:
    """Return the positions of the columns that fit into `room`.

    The widest columns are dropped first, those in `kept` last. At least one column remains.
    """
    beside = list(range(len(widths)))
    while len(beside) > 1 and sum(widths[place] for place in beside) > room:
        beside.remove(max(beside, key=lambda place: (place not in kept, widths[place])))
    return beside


def shared_widths(longest: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the width of each column: its longest line, with the widest columns narrowed until all fit into `room`."""
    widths = [max(least[place], min(length, room)) for place, length in enumerate(longest)]
    while sum(widths) > room:
        narrowable = [place for place, width in enumerate(widths) if width > least[place]]
        if not narrowable:
            break
        widths[max(narrowable, key=lambda place: widths[place])] -= 1
    return widths
