"""Measures of a ranking, against values worked out by hand."""

from __future__ import annotations

import math
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.evaluate.retrieval.ranks import mean_ranks, ndcg_at, precision_at, ranks, recall_at

A, B, C, D, E = (UUID(int=number) for number in range(5))


def test_precision_counts_places_that_are_missing_as_wrong() -> None:
    assert precision_at([{A}, {C}, {B}], {A, B}, 5) == 2 / 5
    assert precision_at([], {A}, 5) == 0


def test_recall_is_the_share_of_what_is_needed() -> None:
    assert recall_at([{C}, {A}], {A, B}, 10) == 1 / 2
    assert recall_at([{C}, {A, B}], {A, B}, 10) == 1, "one memory may stand for both"
    assert recall_at([{C}, {A}], {A}, 1) == 0


def test_gain_is_less_further_down_and_counts_each_turn_once() -> None:
    assert ndcg_at([{A}, {B}], {A, B}, 5) == 1
    assert ndcg_at([{C}, {A}], {A}, 5) == pytest.approx(1 / math.log2(3))
    again = ndcg_at([{A}, {A}, {B}], {A, B}, 5)
    assert again == pytest.approx((1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))


def test_more_is_needed_than_there_are_places() -> None:
    needs = {UUID(int=number) for number in range(8)}
    assert ndcg_at([{one} for one in sorted(needs)], needs, 5) == 1


def test_means() -> None:
    best, worst = ranks([{A}], {A}), ranks([{C}], {A})
    mean = mean_ranks([best, worst])
    assert mean is not None
    assert (mean.precision_5, mean.ndcg_5, mean.recall_10, mean.found_10) == (0.1, 0.5, 0.5, 0.5)
    assert mean_ranks([]) is None


@given(
    st.lists(st.sets(st.sampled_from([A, B, C, D, E]), max_size=3), max_size=12),
    st.sets(st.sampled_from([A, B, C]), min_size=1),
)
def test_all_are_shares(ranking: list[set[UUID]], needs: set[UUID]) -> None:
    assert all(0 <= value <= 1 + 1e-12 for value in ranks(ranking, needs))
