"""Measure a trained reader: `python -m training.reader.figures FILE [--part test] [--show 40]`.

A statement is right if its relation is and its object shares at least half of its tokens with the labelled one
(`object`), or all of them (`exact`).
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from reverie.inference.reader.decoding import POINTERS
from training.reader import network
from training.reader.batches import Example, arrays, in_order, span_mask
from training.reader.messages import NAMES, PHASES, POLARITIES, voices
from training.reader.network import ASPECTS, Parameters
from training.reader.train import examples_of

#: The least chance of a span by which it may be an object, and how many may be in a message.
LEAST, MOST = 0.05, 24


class Candidate(NamedTuple):
    """A span that may be an object."""

    first: int
    last: int
    #: the likeliest relation, but for none
    relation: int
    #: the chance that it is an object, by the spans; that it has a relation, by what is said of it
    by_span: float
    by_relation: float


class Weights(NamedTuple):
    """What decides which spans are taken."""

    #: the least confidence
    threshold: float
    #: how much the chances of the message and of the span count, beside that of the relation
    message: float
    span: float


@dataclass(frozen=True, slots=True)
class Scored:
    """What the network says of a message: the chance that it states something, and spans that may be objects."""

    states: float
    candidates: list[Candidate]


def score(parameters: Parameters, examples: Sequence[Example]) -> tuple[list[Scored], list[npt.NDArray[np.float32]]]:
    """Return what the network says of messages, and their hidden states."""
    heads = parameters["heads"]
    upper = jax.jit(lambda batch: network.upper(parameters, batch, batch["states"], None))
    spans = jax.jit(lambda hidden: jax.nn.sigmoid(network.spans(heads, hidden)))
    states = jax.jit(lambda hidden, real: jax.nn.sigmoid(network.message(heads, hidden, real)))
    relations = jax.jit(
        lambda *given: jax.nn.softmax(network.objects(heads, network.features(*given), None)[1]["relation"])
    )
    scored: list[Scored] = [Scored(0, [])] * len(examples)
    kept: list[npt.NDArray[np.float32]] = [np.empty(0, np.float32)] * len(examples)
    for indexes, chosen in in_order(examples):
        batch = arrays(chosen)
        hidden = upper(batch)
        by_span, chance = np.asarray(spans(hidden)), np.asarray(states(hidden, batch["real"]))
        first, last = (np.zeros((len(hidden), MOST), np.int32) for _ in range(2))
        places = []
        for row, each in enumerate(chosen):
            mask = span_mask(each.encoded)
            found = np.argwhere(mask & (by_span[row, : len(mask)] > LEAST))
            found = found[np.argsort(-by_span[row, found[:, 0], found[:, 1]])][:MOST]
            first[row, : len(found)], last[row, : len(found)] = found[:, 0], found.sum(1)
            places.append(found)
        by_relation = np.asarray(relations(hidden, batch["real"], first, last))
        for row, index in enumerate(indexes):
            rows = [
                Candidate(
                    int(at), int(at + width), int(some[1:].argmax()), float(by_span[row, at, width]), 1 - float(some[0])
                )
                for (at, width), some in zip(places[row], by_relation[row], strict=False)
            ]
            scored[index] = Scored(float(chance[row]), rows)
            kept[index] = np.asarray(hidden[row])
    return scored, kept


def chosen_spans(scored: Scored, weights: Weights) -> list[tuple[int, int, int, float]]:
    """Return spans that are taken, surest first, none across another: first, last, relation, confidence."""
    taken: list[tuple[int, int, int, float]] = []
    of_relation = 1 - weights.message - weights.span
    sure = [
        (each.by_relation**of_relation * each.by_span**weights.span * scored.states**weights.message, each)
        for each in scored.candidates
    ]
    for confidence, (first, last, relation, _, _) in sorted(sure, key=lambda each: -each[0]):
        if confidence >= weights.threshold and all(last < a or first > b for a, b, _, _ in taken):
            taken.append((first, last, relation, confidence))
    return taken


class Figures(NamedTuple):
    """Figures of a set."""

    states_f1: float
    exact: float
    object: float
    precision: float
    recall: float


def f1(right: int, found: int, wanted: int) -> float:
    """Return the harmonic mean of precision and recall."""
    return 2 * right / max(1, found + wanted)


def measure(examples: Sequence[Example], scored: Sequence[Scored], weights: Weights) -> Figures:
    """Return the figures of messages."""
    right = Counter[str]()
    for each, said in zip(examples, scored, strict=True):
        taken = chosen_spans(said, weights)
        right["found"] += len(taken)
        right["wanted"] += len(each.objects)
        right["states found"] += bool(taken)
        right["states wanted"] += bool(len(each.objects))
        right["states"] += bool(taken) and bool(len(each.objects))
        left = [tuple(map(int, row)) for row in each.objects]
        for first, last, relation, _ in taken:
            matches = [row for row in left if row[0] == relation + 1 and overlap(row[1:], (first, last)) >= 0.5]
            if matches:
                _, best = max((overlap(row[1:], (first, last)), row) for row in matches)
                left.remove(best)
                right["object"] += 1
                right["exact"] += best[1:] == (first, last)
    return Figures(
        f1(right["states"], right["states found"], right["states wanted"]),
        f1(right["exact"], right["found"], right["wanted"]),
        f1(right["object"], right["found"], right["wanted"]),
        right["object"] / max(1, right["found"]),
        right["object"] / max(1, right["wanted"]),
    )


def fit(examples: Sequence[Example], scored: Sequence[Scored]) -> Weights:
    """Return the weights with the best figures of messages and objects."""
    tried = [
        Weights(float(threshold), message, span)
        for threshold in np.arange(0.2, 0.75, 0.05)
        for message in (0.0, 0.2, 0.4)
        for span in (0.0, 0.3, 0.6)
    ]
    return max(tried, key=lambda each: sum(measure(examples, scored, each)[:3:2]))


def overlap(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the share of tokens that two spans have in common, of all that they have."""
    common = min(one[1], other[1]) - max(one[0], other[0]) + 1
    return max(0, common) / (max(one[1], other[1]) - min(one[0], other[0]) + 1)


def aspects(
    parameters: Parameters, examples: Sequence[Example], hidden: Sequence[npt.NDArray[np.float32]]
) -> dict[str, float]:
    """Return how often what is said of labelled objects is right; pointers count where one is labelled or given."""
    find = jax.jit(lambda states, real, first, last: _said(parameters["heads"], states, real, first, last))
    right, wanted = Counter[str](), Counter[str]()
    for indexes, chosen in in_order(examples):
        batch = arrays(chosen)
        states = np.zeros_like(batch["states"])
        for row, index in enumerate(indexes):
            states[row] = hidden[index]
        found = {
            name: np.asarray(each) for name, each in find(states, batch["real"], batch["first"], batch["last"]).items()
        }
        said = batch["said"]
        for number, name in enumerate(ASPECTS):
            right[name] += int((found[name].argmax(-1) == batch["aspects"][..., number])[said].sum())
            wanted[name] += int(said.sum())
        for number, (name, longest) in enumerate(POINTERS.items()):
            given = _pointed(found[f"{name}.first"], found[f"{name}.last"], longest)
            target = batch["pointers"][..., number, :]
            some = said & ((given > 0).any(-1) | (target > 0).any(-1))
            same = (given == target).all(-1)
            right[name] += int(same[some].sum())
            wanted[name] += int(some.sum())
            touching = (
                (given[..., 0] <= target[..., 1])
                & (given[..., 1] >= target[..., 0])
                & (given > 0).all(-1)
                & (target > 0).all(-1)
            )
            right[f"{name} touched"] += int(touching[some].sum())
            wanted[f"{name} touched"] += int(some.sum())
    return {name: right[name] / max(1, wanted[name]) for name in wanted}


def _pointed(first: npt.NDArray[np.float32], last: npt.NDArray[np.float32], longest: int) -> npt.NDArray[np.int64]:
    """One more than the first and the last token of the best span of `longest` tokens at most; 0, 0: none."""
    width = np.arange(first.shape[-1] - 1) - np.arange(first.shape[-1] - 1)[:, None]
    scores = first[..., 1:, None] + last[..., None, 1:]
    scores = np.where((width >= 0) & (width < longest), scores, -np.inf).reshape(*first.shape[:-1], -1)
    best = scores.argmax(-1)
    given = np.stack([best // width.shape[0] + 1, best % width.shape[0] + 1], -1)
    given[scores.max(-1) <= first[..., 0] + last[..., 0]] = 0
    return given


def _said(
    heads: Parameters, states: jax.Array, real: jax.Array, first: jax.Array, last: jax.Array
) -> dict[str, jax.Array]:
    of, found = network.objects(heads, network.features(states, real, first, last), None)
    return found | network.pointers(heads, of, states, real)


def by_relation(examples: Sequence[Example], scored: Sequence[Scored], weights: Weights) -> None:
    """Print recall and confusions by relation."""
    wanted, right, instead = Counter[int](), Counter[int](), Counter[tuple[str, str]]()
    for each, said in zip(examples, scored, strict=True):
        taken = chosen_spans(said, weights)
        for relation, first, last in each.objects:
            wanted[relation - 1] += 1
            over = [r for a, b, r, _ in taken if overlap((a, b), (first, last)) >= 0.5]
            right[relation - 1] += relation - 1 in over
            if relation - 1 not in over:
                instead[NAMES[relation - 1], NAMES[over[0]] if over else "-"] += 1
        for first, last, relation, _ in taken:
            if not any(overlap((first, last), row[1:]) >= 0.5 for row in each.objects):
                instead["-", NAMES[relation]] += 1
    print(" ".join(f"{NAMES[each]} {right[each]}/{number}" for each, number in wanted.most_common()))
    print(" ".join(f"{one}>{other} {number}" for (one, other), number in instead.most_common(60)))


def main() -> None:
    """Fit the threshold on dev and print the figures of a part."""
    options = argparse.ArgumentParser()
    options.add_argument("file", type=Path)
    options.add_argument("--part", default="test")
    options.add_argument("--show", type=int, default=0)
    given = options.parse_args()
    lower, parameters = pickle.loads(given.file.read_bytes())
    parameters = jax.tree.map(jnp.asarray, parameters)
    messages = list(voices())
    parts = {part: examples_of([each for each in messages if each.part == part], lower) for part in ("dev", given.part)}
    dev, _ = score(parameters, parts["dev"])
    weights = fit(parts["dev"], dev)
    print(weights)
    for part in parts:
        scored, hidden = score(parameters, parts[part])
        print(
            part,
            *(f"{name} {value:.3f}" for name, value in measure(parts[part], scored, weights)._asdict().items()),
        )
        print("  ", *(f"{name} {value:.2f}" for name, value in aspects(parameters, parts[part], hidden).items()))
    by_relation(parts[given.part], scored, weights)
    for each, said in list(zip(parts[given.part], scored, strict=True))[:: max(1, len(scored) // max(1, given.show))][
        : given.show
    ]:
        print(repr(each.message.text))
        print(
            "   want",
            [
                (NAMES[r - 1], words(each, a, b), PHASES[p], POLARITIES[n])
                for (r, a, b), (p, n, _) in zip(each.objects, each.aspects, strict=True)
            ],
        )
        print(
            "   read",
            [(NAMES[r], words(each, a, b), round(c, 2)) for a, b, r, c in chosen_spans(said, weights)],
        )


def words(each: Example, first: int, last: int) -> str:
    """Return the text of a span."""
    text = (each.message.question, each.message.text)[each.encoded.side[first]]
    return text[each.encoded.offsets[first][0] : each.encoded.offsets[last][1]]


if __name__ == "__main__":
    main()
