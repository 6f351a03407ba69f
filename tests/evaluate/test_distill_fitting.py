"""A head fitted on turns: it finds what tells, is the same again, and asks as often as the reader alone."""

from __future__ import annotations

import numpy as np

from reverie.evaluate.distill.fitting import fitted_head
from reverie.evaluate.distill.labels import TurnExample
from reverie.inference.reader import AskedMessage, MessageReading, TextPlace, head_signs, own_sureness


def turns(number: int = 600) -> list[TurnExample]:
    """Messages of one statement, read with any confidence, and right unless they are long."""
    random = np.random.default_rng(3)
    made = []
    for _ in range(number):
        sure, length = round(float(random.uniform(0.4, 0.83)), 3), int(random.integers(10, 390))
        message = AskedMessage("x" * length)
        of = [MessageReading("likes", TextPlace(False, 0, 1), "holds", 0, None, None, None, None, None, None, sure)]
        is_right = random.random() < (0.9 if length < 200 else 0.3)
        made.append(
            TurnExample("ana", own_sureness(of, 0.9), head_signs(message, of, 0.9), 1, 1, int(is_right))
        )  # fmt: skip
    return made


def test_it_learns_what_tells_and_is_the_same_again() -> None:
    given = turns()
    head = fitted_head(given, "reader-1")
    assert head == fitted_head(given, "reader-1") and head.version.startswith("reader-1+")
    assert fitted_head(given[1:], "reader-1").version != head.version
    sure = np.array([head.sureness(one.signs) for one in given])
    right = np.array([not one.errors for one in given])
    assert right[sure >= np.median(sure)].mean() > 0.8 > 0.45 > right[sure < np.median(sure)].mean()


def test_at_each_sure_as_many_turns_are_asked_about_as_before() -> None:
    given = turns()
    head = fitted_head(given, "reader-1")
    before, after = (np.array([one.sureness for one in given]), np.array([head.sureness(one.signs) for one in given]))
    for sure in (0.45, 0.5, 0.6, 0.7, 0.8):
        assert abs((before < sure).mean() - (after < sure).mean()) < 0.03
