"""Measures a trained reader: `python -m training.reader.figures FILE [--part test] [--show 40]`.

The reader's own code chooses the spans. A statement is right if its relation is right and its object shares at least
half of its tokens with the labelled one (`object`), or all of them (`exact`).
"""

from __future__ import annotations

import argparse
import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from reverie.inference.reader.decoding import (
    MOST_CANDIDATES,
    POINTERS,
    CandidateSpan,
    Numbers,
    ObjectSpan,
    TokenPlaces,
    candidates,
    chance_of,
    objects,
    pointed,
    ranked,
)
from training.reader import network
from training.reader.batches import Example, arrays, in_order
from training.reader.messages import NAMES, PHASES, POLARITIES, voices
from training.reader.network import ASPECTS, Parameters
from training.reader.train import examples_of


class Weights(NamedTuple):
    """The numbers that decide which spans are taken."""

    #: the least confidence
    threshold: float
    #: the weights of the chances of the message and of the span, beside that of the relation
    message: float
    span: float


class Scored(NamedTuple):
    """The network's logits for a message, as the reader gets them from ONNX."""

    something: float
    spans: list[CandidateSpan]
    #: (spans, RELATIONS)
    relations: Numbers


def score(parameters: Parameters, examples: Sequence[Example]) -> tuple[list[Scored], list[Numbers]]:
    """Return the network's logits for messages, and their hidden states."""
    heads = parameters["heads"]
    upper = jax.jit(lambda batch: network.upper(parameters, batch, batch["states"], None))
    edges = jax.jit(lambda hidden: network.edges(heads, hidden))
    something = jax.jit(lambda hidden, real: network.message(heads, hidden, real))
    relations = jax.jit(lambda *given: network.objects(heads, network.features(*given), None)[1]["relation"])
    scored: dict[int, Scored] = {}
    kept: dict[int, Numbers] = {}
    for indexes, chosen in in_order(examples):
        batch = arrays(chosen)
        hidden = upper(batch)
        by_edges, states = np.asarray(edges(hidden)), np.asarray(something(hidden, batch["real"]))
        first, last = (np.zeros((len(hidden), MOST_CANDIDATES), np.int32) for _ in range(2))
        spans = []
        for row, each in enumerate(chosen):
            tokens = len(each.encoded.side)
            found = candidates(by_edges[row, :tokens, :tokens], places(each), np.asarray(heads["width"]))
            first[row, : len(found)], last[row, : len(found)] = ([span[at] for span in found] for at in (0, 1))
            spans.append(found)
        logits = np.asarray(relations(hidden, batch["real"], first, last))
        for row, index in enumerate(indexes):
            scored[index] = Scored(float(states[row]), spans[row], logits[row, : len(spans[row])])
            kept[index] = np.asarray(hidden[row])
    return [scored[index] for index in range(len(examples))], [kept[index] for index in range(len(examples))]


def places(each: Example) -> TokenPlaces:
    """Return the places of a message's tokens in the form that the reader uses."""
    encoded = each.encoded
    return TokenPlaces(encoded.side == 0, encoded.offsets, encoded.begins, encoded.ends, encoded.letters)


def chosen_spans(scored: Scored, weights: Weights) -> list[ObjectSpan]:
    """Return the spans that the reader takes."""
    if not scored.spans:
        return []
    spans = ranked(scored.spans, scored.relations, chance_of(scored.something), weights._asdict())
    return objects(spans, weights.threshold)


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
        for first, last, relation, *_ in taken:
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
    """Return the number of tokens that two spans share, as a share of all tokens from the first to the last."""
    common = min(one[1], other[1]) - max(one[0], other[0]) + 1
    return max(0, common) / (max(one[1], other[1]) - min(one[0], other[0]) + 1)


def aspects(parameters: Parameters, examples: Sequence[Example], hidden: Sequence[Numbers]) -> dict[str, float]:
    """Return how often the aspects of labelled objects are right; pointers count if one is labelled or found."""
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
        for number, name in enumerate(POINTERS):
            given = _pointed(found, name, chosen, said)
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


def _pointed(
    found: Mapping[str, Numbers], name: str, chosen: Sequence[Example], said: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return the first and the last token to which each object points, plus one; 0, 0: none."""
    given = np.zeros((*said.shape, 2), np.int64)
    for row, at in np.argwhere(said).tolist():
        tokens = places(chosen[row])
        first, last = (found[f"{name}.{edge}"][row, at, : len(tokens.begins) + 1] for edge in ("first", "last"))
        if place := pointed(first, last, tokens, POINTERS[name]):
            given[row, at] = place[0] + 1, place[1] + 1
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
            over = [r for a, b, r, *_ in taken if overlap((a, b), (first, last)) >= 0.5]
            right[relation - 1] += relation - 1 in over
            if relation - 1 not in over:
                instead[NAMES[relation - 1], NAMES[over[0]] if over else "-"] += 1
        for first, last, relation, *_ in taken:
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
            [(NAMES[r], words(each, a, b), round(c, 2)) for a, b, r, c, _ in chosen_spans(said, weights)],
        )


def words(each: Example, first: int, last: int) -> str:
    """Return the text of a span."""
    text = (each.message.question, each.message.text)[each.encoded.side[first]]
    return text[each.encoded.offsets[first][0] : each.encoded.offsets[last][1]]


if __name__ == "__main__":
    main()
