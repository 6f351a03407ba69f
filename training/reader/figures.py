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

from training.reader import network
from training.reader.batches import Example, arrays, in_order, span_mask
from training.reader.messages import NAMES, PHASES, POLARITIES, voices
from training.reader.network import ASPECTS, POINTERS, Parameters
from training.reader.train import examples_of


class Read(NamedTuple):
    """A statement that was read."""

    relation: int
    first: int
    last: int
    confidence: float
    phase: int
    polarity: int
    duration: int
    #: first and last token by pointer; (-1, -1): none
    pointers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """What the network says of a message: the chance that it states something, and of each span its relation."""

    states: float
    #: spans (first, last), their relation but for none, and the chance that they have one; by falling chance
    spans: list[tuple[int, int, int, float]]


def score(parameters: Parameters, examples: Sequence[Example]) -> tuple[list[Scored], list[npt.NDArray[np.float32]]]:
    """Return what the network says of messages, and their hidden states."""
    upper = jax.jit(lambda batch: network.upper(parameters, batch, batch["states"], None))
    heads = parameters["heads"]
    spans = jax.jit(lambda hidden: jax.nn.log_softmax(network.spans(heads, hidden, None)))
    states = jax.jit(lambda hidden, real: jax.nn.sigmoid(network.message(heads, hidden, real)))
    scored: list[Scored] = [Scored(0, [])] * len(examples)
    kept: list[npt.NDArray[np.float32]] = [np.empty(0, np.float32)] * len(examples)
    for indexes, chosen in in_order(examples):
        batch = arrays(chosen)
        hidden = upper(batch)
        logits, chance = np.asarray(spans(hidden)), np.asarray(states(hidden, batch["real"]))
        for row, index in enumerate(indexes):
            mask = span_mask(chosen[row].encoded)
            found = logits[row, : len(mask)]
            some = 1 - np.exp(found[..., 0])
            places = np.argwhere(mask & (some > 0.05))
            rows = [
                (int(at), int(at + width), int(found[at, width, 1:].argmax()), float(some[at, width]))
                for at, width in places
            ]
            scored[index] = Scored(float(chance[row]), sorted(rows, key=lambda each: -each[3]))
            kept[index] = np.asarray(hidden[row])
    return scored, kept


def chosen_spans(scored: Scored, threshold: float, share: float) -> list[tuple[int, int, int, float]]:
    """Return spans that are taken, surest first, none across another; `share`: how much the message's chance counts."""
    taken: list[tuple[int, int, int, float]] = []
    for first, last, relation, chance in scored.spans:
        confidence = chance ** (1 - share) * scored.states**share
        if confidence >= threshold and all(last < a or first > b for a, b, _, _ in taken):
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


def measure(examples: Sequence[Example], scored: Sequence[Scored], threshold: float, share: float) -> Figures:
    """Return the figures of messages at a threshold."""
    right = Counter[str]()
    for each, said in zip(examples, scored, strict=True):
        taken = chosen_spans(said, threshold, share)
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


def fit(examples: Sequence[Example], scored: Sequence[Scored]) -> tuple[float, float]:
    """Return the threshold, and how much the message's chance counts, with the best figures of messages and objects."""
    tried = [(float(threshold), share) for threshold in np.arange(0.2, 0.75, 0.05) for share in (0.0, 0.25, 0.5)]
    return max(tried, key=lambda each: sum(measure(examples, scored, *each)[:3:2]))


def overlap(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the share of tokens that two spans have in common, of all that they have."""
    common = min(one[1], other[1]) - max(one[0], other[0]) + 1
    return max(0, common) / (max(one[1], other[1]) - min(one[0], other[0]) + 1)


def aspects(
    parameters: Parameters, examples: Sequence[Example], hidden: Sequence[npt.NDArray[np.float32]]
) -> dict[str, float]:
    """Return how often what is said of labelled objects is right; pointers count where one is labelled or given."""
    find = jax.jit(
        lambda states, real, first, last: network.objects(parameters["heads"], states, real, first, last, None)
    )
    right, wanted = Counter[str](), Counter[str]()
    for indexes, chosen in in_order(examples):
        batch = arrays(chosen)
        states = np.zeros_like(batch["states"])
        for row, index in enumerate(indexes):
            states[row] = hidden[index]
        found = {
            name: np.asarray(each).argmax(-1)
            for name, each in find(states, batch["real"], batch["first"], batch["last"]).items()
        }
        said = batch["said"]
        for number, name in enumerate(ASPECTS):
            right[name] += int((found[name] == batch["aspects"][..., number])[said].sum())
            wanted[name] += int(said.sum())
        for number, name in enumerate(POINTERS):
            given = np.stack([found[f"{name}.first"], found[f"{name}.last"]], -1)
            given[(given == 0).any(-1) | (given[..., 0] > given[..., 1])] = 0
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


def by_relation(examples: Sequence[Example], scored: Sequence[Scored], threshold: float, share: float) -> None:
    """Print recall and confusions by relation."""
    wanted, right, instead = Counter[int](), Counter[int](), Counter[tuple[str, str]]()
    for each, said in zip(examples, scored, strict=True):
        taken = chosen_spans(said, threshold, share)
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
    threshold, share = fit(parts["dev"], dev)
    print(f"threshold {threshold:.2f}, share {share}")
    for part in parts:
        scored, hidden = score(parameters, parts[part])
        print(
            part,
            *(
                f"{name} {value:.3f}"
                for name, value in measure(parts[part], scored, threshold, share)._asdict().items()
            ),
        )
        print("  ", *(f"{name} {value:.2f}" for name, value in aspects(parameters, parts[part], hidden).items()))
    by_relation(parts[given.part], scored, threshold, share)
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
            [(NAMES[r], words(each, a, b), round(c, 2)) for a, b, r, c in chosen_spans(said, threshold, share)],
        )


def words(each: Example, first: int, last: int) -> str:
    """Return the text of a span."""
    text = (each.message.question, each.message.text)[each.encoded.side[first]]
    return text[each.encoded.offsets[first][0] : each.encoded.offsets[last][1]]


if __name__ == "__main__":
    main()
