"""Measures the agreement of two labellers: `python -m training.reader.agree FIRST SECOND`, files or folders.

The second has labels for some messages of the first, in the same order. Statements match if they have the same relation
and share a word of their objects.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from training.reader.check import read_voice

Labels = dict[str, Any]
#: Words at the beginning of an object that are ignored.
LEADING = {"a", "an", "the", "my", "our", "your", "his", "her", "their"}


class Agreement(NamedTuple):
    """The agreement over all pairs of messages."""

    messages: int
    states: float  #: the part of the messages on which both say whether something is stated
    kappa: float
    overlapping: float  #: F1 of statements with the same relation and overlapping objects
    exact: float  #: F1 of statements with the same relation and the same object
    matched: int
    details: dict[str, float]  #: the part of the matched statements that agree, by key


def words(span: str) -> list[str]:
    """Return the words of a span in lower case, without leading articles and possessives."""
    found = re.findall(r"\w+", span.lower())
    while len(found) > 1 and found[0] in LEADING:
        found.pop(0)
    return found


def overlap(one: str, other: str) -> float:
    """Return the share of the words of two spans that both have."""
    left, right = set(words(one)), set(words(other))
    return len(left & right) / len(left | right) if left | right else 0.0


def pairs_of_messages(first: Sequence[Labels], second: Sequence[Labels]) -> Iterator[tuple[Labels, Labels]]:
    """Yield each message of the second with the same message of the first."""
    rest = iter(first)
    for message in second:
        same = next((one for one in rest if (one["t"], one.get("q")) == (message["t"], message.get("q"))), None)
        if same is None:
            raise ValueError(f"not among the messages of the first, or in another order: {message['t']!r}")
        yield same, message


def pairs_of_statements(first: Sequence[Labels], second: Sequence[Labels]) -> list[tuple[Labels, Labels]]:
    """Return the pairs of matching statements, the closest objects first, each statement once."""
    close = [
        (overlap(one["o"], other["o"]), -left, -right)
        for left, one in enumerate(first)
        for right, other in enumerate(second)
        if one["r"] == other["r"] and overlap(one["o"], other["o"])
    ]
    pairs: dict[int, int] = {}
    for _, left, right in sorted(close, reverse=True):
        if left not in pairs and right not in pairs.values():
            pairs[left] = right
    return [(first[-left], second[-right]) for left, right in pairs.items()]


def share(part: float, whole: float) -> float:
    """Return the share of a part in a whole; 1 if the whole is 0."""
    return part / whole if whole else 1.0


def agreement(pairs: Sequence[tuple[Labels, Labels]]) -> Agreement:
    """Return how far the labels of pairs of messages agree."""
    said = [(bool(first["s"]), bool(second["s"])) for first, second in pairs]
    states = share(sum(one == other for one, other in said), len(said))
    left, right = (share(sum(column), len(said)) for column in zip(*said, strict=True))
    by_chance = left * right + (1 - left) * (1 - right)
    matched = [pair for first, second in pairs for pair in pairs_of_statements(first["s"], second["s"])]
    same = [pair for pair in matched if words(pair[0]["o"]) == words(pair[1]["o"])]
    total = sum(len(first["s"]) + len(second["s"]) for first, second in pairs)
    defaults = {"p": "holds", "h": "", "n": 0, "tp": ""}

    def agree(key: str, one: Labels, other: Labels) -> bool:
        left, right = one.get(key, defaults[key]), other.get(key, defaults[key])
        return bool(left == right or (key in ("h", "tp") and overlap(left, right)))

    return Agreement(
        messages=len(pairs),
        states=states,
        kappa=share(states - by_chance, 1 - by_chance),
        overlapping=share(2 * len(matched), total),
        exact=share(2 * len(same), total),
        matched=len(matched),
        details={key: share(sum(agree(key, *pair) for pair in matched), len(matched)) for key in defaults},
    )


def main() -> int:
    """Print the agreement of the files, or folders of files of the same names, named on the command line."""
    first, second = map(Path, sys.argv[1:])
    files = (
        [(first / file.name, file) for file in sorted(second.glob("*.jsonl"))] if second.is_dir() else [(first, second)]
    )
    pairs = [pair for one, other in files for pair in pairs_of_messages(read_voice(one)[1], read_voice(other)[1])]
    found = agreement(pairs)
    print(f"{found.messages} messages of {len(files)} voices")
    print(f"states something: agreement {found.states:.3f}, kappa {found.kappa:.3f}")
    print(f"statements: F1 {found.overlapping:.3f} with overlapping objects, {found.exact:.3f} with the same object")
    print(f"{found.matched} matched statements agree on", ", ".join(f"{k} {v:.3f}" for k, v in found.details.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
