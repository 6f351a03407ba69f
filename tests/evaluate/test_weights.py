"""Weights are fitted so that what is needed comes first, and rankings are measured by hand-made cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reverie.evaluate.ranking.weights import Example, fit_weights, mean, measured, qualities, ranking
from reverie.policy import SIGNALS, QueryKind


def example(
    rows: list[dict[str, float]], needs: set[int], *, places: list[int] | None = None, **given: object
) -> Example:
    """An example whose candidates have these signals; each is a turn of its own unless `places` says otherwise."""
    kind: QueryKind = given.get("kind", "message")  # type: ignore[assignment]
    return Example(
        source=str(given.get("source", "set")),
        kind=kind,
        group=str(given.get("group", "one")),
        category="",
        signals=np.array([[row.get(name, 0.0) for name in SIGNALS] for row in rows], np.float32),
        places=np.array(range(len(rows)) if places is None else places),
        needs=frozenset(needs),
    )


def standing_examples(number: int = 40, *, sources: tuple[str, ...] = ("set",), useful: bool = True) -> list[Example]:
    """Examples in which what is needed is standing; `useful`: small talk is nearer than it is."""
    random = np.random.default_rng(5)
    made = []
    for place in range(number):
        talk = [{"similarity": 0.6 + random.uniform(0, 0.1)} for _ in range(20)]
        needed = {"similarity": 0.5 if useful else 0.9, "standing": 1.0}
        source = sources[place % len(sources)]
        made.append(example([*talk, needed], {20}, source=source, group=f"c{place % 7}"))
    return made


def test_a_signal_that_tells_what_is_needed_gains_weight() -> None:
    examples = standing_examples()
    before = {"similarity": 1.0, "standing": 0.01}
    after = fit_weights(examples, before, ("similarity", "standing"))
    assert after["standing"] > 0.1
    assert mean(qualities(examples, before)).recall_10 == 0
    assert mean(qualities(examples, after)).recall_10 == 1
    assert sum(map(abs, after.values())) == pytest.approx(1.01, abs=0.02), "scores keep their size"


def test_without_what_is_needed_nothing_is_learned() -> None:
    before = {"similarity": 1.0}
    assert fit_weights([example([{"similarity": 0.3}], {5})], before, ("similarity",)) == before


def test_a_small_source_is_no_small_matter() -> None:
    """Of two sources that want the opposite, the smaller one counts more than by its number."""
    words = [example([{"lexical": 1.0}, {"similarity": 1.0}], {0}, source="words") for _ in range(9)]
    sense = [example([{"lexical": 1.0}, {"similarity": 1.0}], {1}, source="sense") for _ in range(36)]
    start = {"similarity": 0.5, "lexical": 0.5}
    together = fit_weights([*words, *sense], start, tuple(start))
    assert together["similarity"] > together["lexical"]
    by_number = fit_weights([*words, *[example([{"lexical": 1.0}, {"similarity": 1.0}], {1}, source="words")] * 36],
                            start, tuple(start))  # fmt: skip
    assert together["lexical"] > by_number["lexical"]


def test_a_turn_has_the_place_of_its_best_item() -> None:
    rows = [{"similarity": 0.2}, {"similarity": 0.9}, {"similarity": 0.5}, {"similarity": 0.8}]
    weights = np.array([float(name == "similarity") for name in SIGNALS])
    assert ranking(example(rows, {0}, places=[0, 1, 0, -1]), weights) == [1, 0]


def test_measures() -> None:
    order = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"]
    found = measured(order, frozenset({"b", "f", "k"}))
    assert found.recall_5 == pytest.approx(1 / 3)
    assert found.recall_10 == pytest.approx(2 / 3)
    best = 1 + 1 / math.log2(3) + 1 / 2
    assert found.ndcg_10 == pytest.approx((1 / math.log2(3) + 1 / math.log2(7)) / best)


def test_without_a_start_the_penalty_alone_decides_how_large_weights_are() -> None:
    examples = [example([{"similarity": 0.5}, {"similarity": 0.4, "standing": 1.0}], {1})] * 5
    loose, held = (fit_weights(examples, {}, ("similarity", "standing"), hold=hold) for hold in (0.002, 0.2))
    assert qualities(examples, loose)[0].ndcg_10 == 1.0
    assert loose["standing"] > held["standing"] > 0
