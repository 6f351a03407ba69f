"""Calls saved and agreement, and whether an order of turns is better than another beyond noise."""

from __future__ import annotations

import numpy as np
import pytest

from reverie.evaluate.distill.curve import agreement_at, gain
from reverie.evaluate.distill.labels import TurnExample


def example(person: str, found: int, claimed: int, same: int) -> TurnExample:
    return TurnExample(person, 0.5, (), found, claimed, same)


def test_what_is_asked_about_is_as_the_model_has_it() -> None:
    turns = [example("a", 1, 1, 1), example("a", 2, 1, 0), example("b", 0, 1, 0), example("b", 0, 0, 0)]
    sure = np.array([0.9, 0.1, 0.2, 0.8])
    assert agreement_at(turns, sure, 0.0) == (0.0, 1.0)
    assert agreement_at(turns, sure, 0.5) == (0.5, 1.0), "the two that are asked about are wrong"
    saved, agreement = agreement_at(turns, sure, 1.0)
    assert (saved, agreement) == (1.0, pytest.approx(2 * 1 / (3 + 3)))
    assert agreement_at([example("a", 0, 0, 0)], np.array([1.0]), 1.0).agreement == 1.0


def people(number: int, errors: int = 1) -> list[TurnExample]:
    """Of each, ten turns that are right and ten that are not."""
    return [example(f"p{person}", errors * (turn % 2), 0, 0) for person in range(number) for turn in range(20)]


def test_an_order_with_the_errors_first_avoids_some() -> None:
    turns = people(12)
    blind = np.random.default_rng(1).random(len(turns))
    knowing = np.array([1.0 - one.errors for one in turns])
    better = gain(turns, blind, knowing, 0.95)
    assert better.is_real and 0 < better.low < better.mean < better.high
    assert better == gain(turns, blind, knowing, 0.95), "seeded"
    assert not gain(turns, knowing, blind, 0.95).is_real and not gain(turns, blind, blind, 0.95).is_real


def test_what_helps_with_one_person_alone_is_noise() -> None:
    """What helps with one of eight people and harms with another is no gain, however many turns they have."""
    turns = people(8)
    first = np.array([0.5] * len(turns)) + np.arange(len(turns)) * 1e-6
    second = first.copy()
    for place, one in enumerate(turns):
        if one.subject_id in ("p0", "p1"):
            second[place] += (0.4 if one.errors else -0.4) * (1 if one.subject_id == "p1" else -1.1)
    assert not gain(turns, first, second, 0.95).is_real
