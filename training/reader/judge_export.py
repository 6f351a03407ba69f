"""Writes a trained judge to Reverie's folder of models: `python -m training.reader.judge_export FILE PAIRS`.

Its layers are stored in whole numbers, like those of the reader; their ranges are fitted on pairs of `train`. The name
of the model contains the digest of its weights.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto

from reverie.inference.judge.pairs import STATEMENT, statement_kinds
from training.reader.export import FOLDER, FUSED, Graph, layer, ranges_of
from training.reader.judge import Pair, Texts, read_pairs
from training.reader.network import HEADS, HIDDEN, Parameters
from training.reader.whole import in_whole_numbers

JUDGE = FOLDER.parent / "judge"
#: Pairs on which the ranges of whole numbers are fitted.
FITTED = 600
#: The value in place of the states of a token outside a text, so that it is never the highest.
LOWEST = -100.0


def judge_model(parameters: Parameters, *, watched: bool = False) -> bytes:
    """Return the layers and the head; `watched`: in one piece, with the values on which `Ranges` are fitted.

    The file has two models and is cut below `message` and below `ends`; `real` is 0 for padding. The model of messages:
    inputs `message_states` (messages, tokens, 384), `message_side`, `message_kinds` and `message_real` (messages,
    tokens); output `message`, for each token the values that statements attend to in each layer, and its last states.
    The model of statements: inputs `read` (pairs, tokens of the message, 9 * 384), which is `message`, `read_real`, and
    `states`, `kinds` and `real` of the statements; output `ends` (pairs, 1), logits of "the message makes the statement
    untrue".
    """
    graph = Graph()
    _message(graph, parameters)
    read, read_real = ("message", "message_real") if watched else ("read", "read_real")
    states, of_statement = _statement(graph, parameters, read, read_real)
    told = [*_told(graph, of_statement, "real"), *_told(graph, states, read_real)]
    inner = graph.add("Relu", graph.head("pair", parameters, graph.add("Concat", *told, axis=-1)))
    graph.head("ends", parameters, inner, to="ends")
    of_message: list[Any] = ["messages", "tokens"]
    of_pair: list[Any] = ["pairs", "said"]
    inputs: list[tuple[str, int, list[Any]]] = [
        ("message_states", TensorProto.FLOAT, [*of_message, HIDDEN]),
        ("message_side", TensorProto.INT64, of_message),
        ("message_kinds", TensorProto.INT64, of_message),
        ("message_real", TensorProto.INT32, of_message),
        ("states", TensorProto.FLOAT, [*of_pair, HIDDEN]),
        ("kinds", TensorProto.INT64, of_pair),
        ("real", TensorProto.INT32, of_pair),
    ]
    seen = 2 * len(parameters["layers"]) + 1
    if not watched:
        inputs += [
            ("read", TensorProto.FLOAT, ["pairs", "tokens", seen * HIDDEN]),
            ("read_real", TensorProto.INT32, ["pairs", "tokens"]),
        ]
    outputs: dict[str, Any] = {"message": [*of_message, seen * HIDDEN], "ends": ["pairs", 1]}
    return graph.model(inputs, outputs | (graph.watched() if watched else {}))


def _added(graph: Graph, parameters: Parameters, states: str, **of: str) -> str:
    """Return the states plus the learned vectors for the side and the letters of each token."""
    for name, given in of.items():
        learned = graph.constant(np.asarray(parameters[name], np.float32), f"added/{name}")
        states = graph.add("Add", states, graph.add("Gather", learned, given, axis=0))
    return states


def _message(graph: Graph, parameters: Parameters) -> None:
    hidden = _added(graph, parameters, "message_states", side="message_side", letters="message_kinds")
    seen: list[str] = []

    def attend(graph: Graph, query: str, key: str, value: str) -> str:
        seen.extend((key, value))
        return _attended(graph, query, key, value, "message_real")

    for number, of_layer in enumerate(parameters["layers"]):
        hidden = layer(graph, f"layers/{number}", of_layer, hidden, attend)
    graph.add("Concat", *seen, hidden, axis=-1, to="message")


def _statement(graph: Graph, parameters: Parameters, read: str, read_real: str) -> tuple[str, str]:
    """Return the states of the messages, and those of the statements, which attend to them."""
    place = graph.constant(np.array([STATEMENT], np.int64))
    hidden = _added(graph, parameters, "states", side=place, letters="kinds")
    real = graph.add("Concat", read_real, "real", axis=1)
    *seen, states = graph.split(read, 2 * len(parameters["layers"]) + 1)

    def attend(graph: Graph, query: str, key: str, value: str) -> str:
        of_message = seen.pop(0), seen.pop(0)
        key, value = (
            graph.add("Concat", before, own, axis=1) for before, own in zip(of_message, (key, value), strict=True)
        )
        return _attended(graph, query, key, value, real)

    for number, of_layer in enumerate(parameters["layers"]):
        hidden = layer(graph, f"layers/{number}", of_layer, hidden, attend)
    return states, hidden


def _attended(graph: Graph, query: str, key: str, value: str, real: str) -> str:
    return graph.add("MultiHeadAttention", query, key, value, "", real, num_heads=HEADS, domain=FUSED)


def _told(graph: Graph, hidden: str, real: str) -> list[str]:
    """Return the mean and the highest values of the tokens of a text."""
    is_real = graph.add("Cast", real, cast=TensorProto.BOOL)
    mask = graph.add("Unsqueeze", is_real, graph.constant(np.array([2], np.int64)))
    taken = graph.add("Where", mask, hidden, graph.constant(np.float32(0)))
    axes = graph.constant(np.array([1], np.int64))
    number = graph.add("ReduceSum", graph.add("Cast", mask, cast=TensorProto.FLOAT), axes, keepdims=0)
    mean = graph.add("Div", graph.add("ReduceSum", taken, axes, keepdims=0), number)
    highest = graph.add(
        "ReduceMax", graph.add("Where", mask, hidden, graph.constant(np.float32(LOWEST))), axes=[1], keepdims=0
    )
    return [mean, highest]


def given(texts: Texts, pair: Pair) -> dict[str, Any]:
    """Return the inputs of the watched model for one pair."""
    shown, said = texts.of_message(pair), texts.of_statement(pair)
    ids = np.concatenate([text.ids for _, text in shown])
    return {
        "message_states": np.concatenate([text.states for _, text in shown])[None].astype(np.float32),
        "message_side": np.repeat([side for side, _ in shown], [len(text.ids) for _, text in shown])[None],
        "message_kinds": np.concatenate([text.letters for _, text in shown])[None],
        "message_real": np.ones((1, len(ids)), np.int32),
        "states": said.states[None].astype(np.float32),
        "kinds": statement_kinds(said.ids, said.letters, ids)[None],
        "real": np.ones((1, len(said.ids)), np.int32),
    }


def main() -> None:
    """Write the model's files."""
    lower, parameters = pickle.loads(Path(sys.argv[1]).read_bytes())
    texts = Texts(lower)
    pairs = [pair for pair in read_pairs(Path(sys.argv[2])) if pair.part == "train"]
    some = [pairs[at] for at in np.random.default_rng(1).choice(len(pairs), FITTED, replace=False)]
    texts.read(some)
    ranges = ranges_of(judge_model(parameters, watched=True), (given(texts, pair) for pair in some))
    written = judge_model(in_whole_numbers(parameters, ranges))
    name = f"judge-{hashlib.sha256(written).hexdigest()[:8]}"
    (JUDGE / "judge.onnx").write_bytes(written)
    (JUDGE / "judge.json").write_text(json.dumps({"model": name}) + "\n", encoding="utf-8")
    print(name)


if __name__ == "__main__":
    main()
