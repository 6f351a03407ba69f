"""How wide the columns of a table are: pure decisions in cells of a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

#: A text is given so much before it folds, so that no column is a tower of single words.
_READABLE = 20


def longest_line(texts: Iterable[str]) -> int:
    """Return the cells of the longest line."""
    from rich.cells import cell_len

    return max((cell_len(line) for text in texts for line in text.splitlines()), default=0)


def least_width(texts: Sequence[str], *, folds: bool) -> int:
    """Return the cells that a column needs: all of them, or where it folds those of its longest word."""
    longest = longest_line(texts)
    if not folds:
        return longest
    return max(min(longest, _READABLE), longest_line(word for text in texts for word in text.split()))


def fitting(widths: Sequence[int], room: int, *, kept: Collection[int] = ()) -> list[int]:
    """Return the places of the columns that fit into `room`: the widest go first, those `kept` last; one stays."""
    beside = list(range(len(widths)))
    while len(beside) > 1 and sum(widths[place] for place in beside) > room:
        beside.remove(max(beside, key=lambda place: (place not in kept, widths[place])))
    return beside


def shared_widths(longest: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the width of each column: as long as its longest line, the widest shortened until they fit into `room`."""
    widths = [max(least[place], min(length, room)) for place, length in enumerate(longest)]
    while sum(widths) > room:
        able = [place for place, width in enumerate(widths) if width > least[place]]
        if not able:
            break
        widths[max(able, key=lambda place: widths[place])] -= 1
    return widths
