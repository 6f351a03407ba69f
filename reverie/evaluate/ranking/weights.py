"""Fits weights on examples and measures their ranking. Pure, and independent of the source of an example."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reverie.policy import SIGNALS, QueryKind

Floats = npt.NDArray[np.float64]

#: Number of hits that count.
DEPTH = 10
#: The slope of the softmax over scores. With weights of the policies' size the best of about a hundred candidates
#: then has a probability near one half.
_SLOPE = 20.0
#: Strength of the penalty that keeps weights near their start.
HOLD = 0.2
_STEPS = 300
_RATE = 0.02


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Example:
    """A labelled query with its candidates."""

    #: Set or tenant of the query, its kind, and its conversation; no conversation is in two folds.
    source: str
    kind: QueryKind
    group: str
    category: str
    #: Shape (candidates, signals), in the order of `SIGNALS`.
    signals: npt.NDArray[np.float32]
    #: Number of each candidate's turn or session; -1: it has none.
    places: npt.NDArray[np.int64]
    #: Numbers of those that the query needs, including those that no search found.
    needs: frozenset[int]


class Quality(NamedTuple):
    """The quality of one ranking, or its mean over queries."""

    recall_5: float
    recall_10: float
    ndcg_10: float


def fit_weights(
    examples: Sequence[Example], start: Mapping[str, float], signals: Sequence[str], *, hold: float = HOLD
) -> dict[str, float]:
    """Return weights of these signals that rank needed turns first.

    It minimises the cross-entropy between the softmax of the scores and an even share for each needed turn, by Adam;
    each source counts the same. A penalty of `hold` keeps the weights near `start` if examples are few. An empty
    `start` and a small penalty fit without any knowledge of the present weights.
    """
    columns = [SIGNALS.index(name) for name in signals]
    first = np.array([start.get(name, 0.0) for name in signals])
    examples = [each for each in examples if _found(each).any()]
    if not examples:
        return dict(start)
    batch = _batch(examples, columns)
    weights, momentum, variance = first.copy(), np.zeros_like(first), np.zeros_like(first)
    for step in range(1, _STEPS + 1):
        gradient = batch.gradient(weights) + hold * (weights - first)
        momentum = 0.9 * momentum + 0.1 * gradient
        variance = 0.999 * variance + 0.001 * gradient**2
        weights -= _RATE * momentum / (1 - 0.9**step) / (np.sqrt(variance / (1 - 0.999**step)) + 1e-9)
    if np.abs(first).sum():  # only ratios matter; the same sum keeps scores comparable
        weights *= np.abs(first).sum() / np.abs(weights).sum()
    return {name: round(float(weight), 2) for name, weight in zip(signals, weights, strict=True)}


def qualities(examples: Sequence[Example], weights: Mapping[str, float]) -> list[Quality]:
    """Return the quality of the ranking of each example."""
    vector = np.array([weights.get(name, 0.0) for name in SIGNALS])
    return [measured(ranking(each, vector), each.needs) for each in examples]


def ranking(example: Example, vector: Floats) -> list[int]:
    """Return the numbers of turns or sessions by score, each at its best place."""
    order = np.argsort(-(example.signals @ vector), kind="stable")
    return [place for place in dict.fromkeys(example.places[order].tolist()) if place >= 0]


def measured(order: Sequence[int | str], needs: frozenset[int] | frozenset[str]) -> Quality:
    """Return the shares of needed items in the first five and ten, and the normalised gain of the first ten."""
    gains = sum(1 / math.log2(place + 2) for place, item in enumerate(order[:DEPTH]) if item in needs)
    most = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(needs))))
    found_5, found_10 = (len(needs.intersection(order[:depth])) for depth in (5, DEPTH))
    return Quality(found_5 / len(needs), found_10 / len(needs), gains / most)


def mean(found: Sequence[Quality]) -> Quality:
    """Return the mean of some qualities."""
    return Quality(*(float(value) for value in np.mean(np.array(found), axis=0)))


class _Batch(NamedTuple):
    """All candidates of all examples, one after the other."""

    signals: Floats
    #: Index of each example's first candidate, and the example of each candidate.
    starts: npt.NDArray[np.int64]
    of: npt.NDArray[np.int64]
    #: Share of each candidate's turn in the needs of its example; items of one turn divide it by score.
    share: Floats
    turn: npt.NDArray[np.int64]
    weight: Floats

    def gradient(self, weights: Floats) -> Floats:
        scores = _SLOPE * (self.signals @ weights)
        scores -= np.maximum.reduceat(scores, self.starts)[self.of]
        powers = np.exp(scores)
        probability = powers / np.add.reduceat(powers, self.starts)[self.of]
        of_turn = np.zeros(self.turn.max() + 1)
        np.add.at(of_turn, self.turn, powers)
        target = self.share * powers / of_turn[self.turn]
        slope: Floats = ((probability - target) * self.weight[self.of]) @ self.signals
        return slope


def _found(example: Example) -> npt.NDArray[np.bool_]:
    return np.isin(example.places, list(example.needs))


def _batch(examples: Sequence[Example], columns: Sequence[int]) -> _Batch:
    sizes = [len(each.places) for each in examples]
    per_source = Counter(each.source for each in examples)
    total = sum(map(math.sqrt, per_source.values()))
    shares, turns, count = [], [], 0
    for each in examples:
        needed = _found(each)
        shares.append(needed / len(set(each.places[needed].tolist())))
        _, turn = np.unique(each.places, return_inverse=True)
        turns.append(turn + count)
        count += int(turn.max()) + 1
    return _Batch(
        signals=np.concatenate([each.signals[:, columns] for each in examples]).astype(np.float64),
        starts=np.cumsum([0, *sizes[:-1]]),
        of=np.repeat(np.arange(len(examples)), sizes),
        share=np.concatenate(shares),
        turn=np.concatenate(turns),
        weight=np.array([1 / math.sqrt(per_source[each.source]) / total for each in examples]),
    )
