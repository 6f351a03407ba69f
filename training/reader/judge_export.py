"""Put a trained judge where Reverie loads it from: `python -m training.reader.judge_export FILE PAIRS`.

Its layers are written in whole numbers, as those of the reader are; their ranges are fitted on pairs of `train`. The
name of the model has the digest of its weights.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto

from training.reader.export import FACTOR, FOLDER, Graph, layer
from training.reader.judge import Pair, Texts, read_pairs
from training.reader.network import HIDDEN, Parameters
from training.reader.whole import Ranges, in_whole_numbers

JUDGE = FOLDER.parent / "judge"
#: Pairs on which the ranges of whole numbers are fitted.
FITTED = 600
#: What a token that is not of a text has in place of its states, so that no highest value is its own.
LOWEST = -100.0


def judge_model(parameters: Parameters, *, watched: bool = False) -> bytes:
    """Return the layers and the head; `watched`: with all that `Ranges` are fitted on.

    Inputs: `states` (pairs, tokens, 384), `side` and `kinds` (pairs, tokens); no token fills up.
    Output: `ends` (pairs, 1), logits of "the message makes the statement untrue".
    """
    graph = Graph()
    side, kinds = (
        graph.add("Gather", graph.learned(parameters[name], f"added/{name}"), given, axis=0)
        for name, given in (("side", "side"), ("letters", "kinds"))
    )
    hidden = graph.add("Add", graph.add("Add", "states", side), kinds)
    for number, of_layer in enumerate(parameters["layers"]):
        hidden = layer(graph, f"layers/{number}", of_layer, hidden)
    is_old = graph.add("Equal", "side", graph.constant(np.int64(0)))
    told = [*_told(graph, hidden, is_old), *_told(graph, hidden, graph.add("Not", is_old))]
    inner = graph.add("Relu", graph.head("pair", parameters, graph.add("Concat", *told, axis=-1)))
    graph.head("ends", parameters, inner, to="ends")
    shape: list[Any] = ["pairs", "tokens"]
    inputs = [("states", TensorProto.FLOAT, [*shape, HIDDEN])]
    inputs += [(name, TensorProto.INT64, shape) for name in ("side", "kinds")]
    outputs: dict[str, list[Any]] = {"ends": ["pairs", 1]}
    for name, values in graph.factors.items() if watched else ():
        outputs[graph.add("Identity", values, to=f"{FACTOR}{name}")] = [*shape, "size"]
    return graph.model(inputs, outputs)


def _told(graph: Graph, hidden: str, of: str) -> list[str]:
    """Mean and highest values of the tokens of a text."""
    mask = graph.add("Unsqueeze", of, graph.constant(np.array([2], np.int64)))
    taken = graph.add("Where", mask, hidden, graph.constant(np.float32(0)))
    axes = graph.constant(np.array([1], np.int64))
    number = graph.add("ReduceSum", graph.add("Cast", mask, cast=TensorProto.FLOAT), axes, keepdims=0)
    mean = graph.add("Div", graph.add("ReduceSum", taken, axes, keepdims=0), number)
    highest = graph.add(
        "ReduceMax", graph.add("Where", mask, hidden, graph.constant(np.float32(LOWEST))), axes=[1], keepdims=0
    )
    return [mean, highest]


def given(texts: Texts, pair: Pair) -> dict[str, Any]:
    """Return the inputs of the model for one pair."""
    tokens = texts.tokens(pair)
    batch = texts.arrays([pair], tokens, rows=1)
    return {
        "states": batch["states"],
        "side": batch["side"].astype(np.int64),
        "kinds": batch["letters"].astype(np.int64),
    }


def ranges(parameters: Parameters, texts: Texts, pairs: Sequence[Pair]) -> Ranges:
    """Return the lowest and highest values that the rows of the matrices are multiplied with, over some pairs."""
    session = onnxruntime.InferenceSession(judge_model(parameters, watched=True), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs() if output.name.startswith(FACTOR)]
    found: dict[str, Any] = {name: np.zeros((2, 1)) for name in names}
    for pair in pairs:
        for name, values in zip(names, session.run(names, given(texts, pair)), strict=True):
            lowest, highest = found[name]
            found[name] = np.stack([np.minimum(lowest, values[0].min(0)), np.maximum(highest, values[0].max(0))])
    return {name.removeprefix(FACTOR): values for name, values in found.items()}


def main() -> None:
    """Write the model's files."""
    lower, parameters = pickle.loads(Path(sys.argv[1]).read_bytes())
    texts = Texts(lower)
    pairs = [pair for pair in read_pairs(Path(sys.argv[2])) if pair.part == "train"]
    some = [pairs[at] for at in np.random.default_rng(1).choice(len(pairs), FITTED, replace=False)]
    texts.read(some)
    written = judge_model(in_whole_numbers(parameters, ranges(parameters, texts, some)))
    name = f"judge-{hashlib.sha256(written).hexdigest()[:8]}"
    (JUDGE / "judge.onnx").write_bytes(written)
    (JUDGE / "judge.json").write_text(json.dumps({"model": name}) + "\n", encoding="utf-8")
    print(name)


if __name__ == "__main__":
    main()
