"""Writes a trained reader to Reverie's folder of models: `python -m training.reader.publish FILE`.

Thresholds and calibration are fitted on the voices of dev. The name of the model contains the digest of its weights.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from training.reader.batches import Example
from training.reader.export import ranges_of, spans_model, write
from training.reader.figures import Scored, Weights, chosen_spans, fit, overlap, score
from training.reader.messages import DURATIONS, NAMES, PHASES, POLARITIES, voices
from training.reader.network import Parameters
from training.reader.train import examples_of
from training.reader.whole import Ranges, in_whole_numbers

#: Overlapping groups of readings of similar confidence, by which the confidence is calibrated.
STEPS = 12


def calibration(examples: Sequence[Example], scored: Sequence[Scored], weights: Weights) -> list[list[float]]:
    """Return confidences, each with the share of right readings around it, both rising."""
    read = []
    for each, said in zip(examples, scored, strict=True):
        for first, last, relation, confidence, _ in chosen_spans(said, weights):
            wanted = (row for row in each.objects if row[0] == relation + 1)
            read.append((confidence, any(overlap(row[1:], (first, last)) >= 0.5 for row in wanted)))
    ordered = np.array(sorted(read), float)
    width = len(ordered) // 5
    groups = [ordered[at : at + width] for at in np.linspace(0, len(ordered) - width, STEPS).astype(int)]
    # the mean of two rising lines through the groups: one from below, one from above
    shares = np.array([group[:, 1].mean() for group in groups])
    right = (np.maximum.accumulate(shares) + np.minimum.accumulate(shares[::-1])[::-1]) / 2
    return [
        [round(float(group[:, 0].mean()), 3), round(float(share), 3)]
        for group, share in zip(groups, right, strict=True)
    ]


def ranges(parameters: Parameters, examples: Sequence[Example]) -> Ranges:
    """Return the lowest and highest values that the rows of the matrices are multiplied with, over some messages."""
    given = (
        {
            "states": each.encoded.states[None].astype(np.float32),
            "side": each.encoded.side[None].astype(np.int64),
            "letters": each.encoded.letters[None],
        }
        for each in examples
    )
    return ranges_of(spans_model(parameters, watched=True), given)


def main() -> None:
    """Write the model's files."""
    lower, found = pickle.loads(Path(sys.argv[1]).read_bytes())
    examples = examples_of([each for each in voices() if each.part == "dev"], lower)
    scored, _ = score(jax.tree.map(jnp.asarray, found), examples)
    weights = fit(examples, scored)
    parameters = jax.tree.map(np.asarray, found)
    numbers: dict[str, Any] = {
        "weights": {name: round(value, 3) for name, value in weights._asdict().items()},
        "widths": [round(float(each), 3) for each in parameters["heads"]["width"]],
        "calibration": calibration(examples, scored, weights),
        "phase": PHASES,
        "polarity": POLARITIES,
        "duration": [None if each == "none" else each for each in DURATIONS],
        "relations": NAMES,
    }
    print(write(in_whole_numbers(parameters, ranges(parameters, examples)), numbers), numbers["calibration"])


if __name__ == "__main__":
    main()
