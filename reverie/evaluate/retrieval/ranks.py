"""Measures of a ranking against the needs of a question. Pure.

A hit stands for several ids: its own, and those of the turns behind it. Each needed id counts once, at the first hit
that stands for it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

Ranking = Sequence[Collection[UUID]]
"""The ids that each hit stands for, best hit first."""


class Ranks(NamedTuple):
    """The measures of one ranking, or their means over questions."""

    precision_5: float
    ndcg_5: float
    recall_10: float
    #: Share of questions with anything needed among the first ten hits.
    found_10: float


def precision_at(ranking: Ranking, needs: Collection[UUID], k: int) -> float:
    """Return P@k: the share of the first k places whose hit stands for a needed id.

    Formula: |{i <= k: hit i stands for a needed id}| / k. Range 0 to 1. A missing hit counts as wrong. With n needed
    turns, each recalled once, it cannot exceed n / k. Source: Manning, Raghavan and Schuetze, Introduction to
    Information Retrieval, 8.4; Agent 8.1.
    """
    return sum(not set(needs).isdisjoint(ids) for ids in ranking[:k]) / k


def ndcg_at(ranking: Ranking, needs: Collection[UUID], k: int) -> float:
    """Return NDCG@k with binary gains: needed ids early in the ranking, as a share of the best order.

    Formula: sum over i <= k of g(i) / log2(i + 1), divided by the same sum with min(k, needed) ones first; g(i) is 1 if
    hit i stands for a needed id that no hit before it stands for. Range 0 to 1. Source: Järvelin and Kekäläinen 2002;
    Agent 8.1.
    """
    missing, gain = set(needs), 0.0
    for place, ids in enumerate(ranking[:k], 1):
        if not missing.isdisjoint(ids):
            missing.difference_update(ids)
            gain += 1 / math.log2(place + 1)
    return gain / sum(1 / math.log2(place + 1) for place in range(1, min(k, len(set(needs))) + 1))


def recall_at(ranking: Ranking, needs: Collection[UUID], k: int) -> float:
    """Return R@k: the share of the needed ids that the first k hits stand for.

    Formula: |needed and behind the first k hits| / |needed|. Range 0 to 1. Source: as for P@k.
    """
    found = {id_ for ids in ranking[:k] for id_ in ids}
    return len(found.intersection(needs)) / len(set(needs))


def ranks(ranking: Ranking, needs: Collection[UUID]) -> Ranks:
    """Return all measures of a ranking; `needs` are not empty."""
    recall_10 = recall_at(ranking, needs, 10)
    return Ranks(precision_at(ranking, needs, 5), ndcg_at(ranking, needs, 5), recall_10, float(recall_10 > 0))


def mean_ranks(each: Sequence[Ranks]) -> Ranks | None:
    """Return the mean of each measure; None without questions."""
    return Ranks(*(math.fsum(values) / len(each) for values in zip(*each, strict=True))) if each else None
