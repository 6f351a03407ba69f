"""Are sensitive sentences recognised? Precision and recall by class, on sentences written before and after the rules.

    python -m bench.sensitivity [--verbose]

`bench/sets/sensitivity.tsv` has sentences of our own with their classes. The `first` half was written while the rules
were developed, the `second` after they were frozen; no rule has changed since.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.report import print_table
from reverie.language.sensitive.classes import sensitive_classes
from reverie.policy.sensitivity import SENSITIVE_CLASSES

SET = Path(__file__).resolve().parent / "sets" / "sensitivity.tsv"
HALVES = ("first", "second", "third")


class Labelled(NamedTuple):
    """A sentence with its classes."""

    half: str
    classes: frozenset[str]
    text: str


def labelled() -> list[Labelled]:
    """Return the sentences of the set."""
    rows = csv.DictReader(SET.read_text(encoding="utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [Labelled(row["half"], frozenset(row["classes"].split(",")) - {"none"}, row["text"]) for row in rows]


def measured(half: str) -> Iterator[tuple[str, int, float, float]]:
    """Yield each class with its number of sentences in a half, precision and recall; last `any`, for all classes."""
    read = [(each.classes, sensitive_classes(each.text)) for each in labelled() if each.half == half]
    for name in SENSITIVE_CLASSES:
        yield name, *rates([(name in true, name in found) for true, found in read])
    yield "any", *rates([(bool(true), bool(found)) for true, found in read])


def rates(flags: list[tuple[bool, bool]]) -> tuple[int, float, float]:
    """Return the number of true flags, precision and recall, from pairs of true and recognised."""
    hits = sum(true and found for true, found in flags)
    true, found = sum(true for true, _ in flags), sum(found for _, found in flags)
    return true, hits / found if found else 1.0, hits / true if true else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true", help="show the sentences that are read otherwise")
    given = parser.parse_args()
    for half in HALVES:
        rows = [(name, number, f"{right:.2f}", f"{found:.2f}") for name, number, right, found in measured(half)]
        print_table(f"Sensitive sentences, {half} half", ("class", "sentences", "precision", "recall"), rows)
    for each in labelled() if given.verbose else ():
        if (found := sensitive_classes(each.text)) != each.classes:
            print(f"{each.half}: {sorted(each.classes)} read as {sorted(found)}: {each.text}")


if __name__ == "__main__":
    main()
