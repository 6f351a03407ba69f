"""Write a trained reader as ONNX: matrices in eight bits with a scale a column, computed in float32.

The weights are unfolded when the model is loaded (`Cast`, `Mul`), so activations are never rounded and a message is
read the same in a batch and alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from training.reader.network import ASPECTS, EPSILON, HEADS, HIDDEN, POINT, POINTERS, RELATIONS, SPAN, WIDTH, Parameters

OPSET = 17
#: Smaller ones stay as they are.
SMALLEST_QUANTISED = 16_384


class Graph:
    """A graph that is being written: nodes in order, and constants."""

    def __init__(self) -> None:
        """Begin an empty graph."""
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: npt.ArrayLike) -> str:
        """Add a constant and return its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(
        self, operator: str, *inputs: str, to: str | None = None, cast: int | None = None, **attributes: Any
    ) -> str:
        """Add a node and return the name of its value."""
        name = to or f"v{len(self.nodes)}"
        attributes |= {} if cast is None else {"to": cast}
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def shape(self, values: str, *sizes: int) -> str:
        """Give a value another shape; 0 keeps a size, -1 takes what is left."""
        return self.add("Reshape", values, self.constant(np.array(sizes, np.int64)))

    def weights(self, values: npt.NDArray[np.float32]) -> str:
        """Add a matrix, in eight bits if it is large."""
        if values.size < SMALLEST_QUANTISED:
            return self.constant(values.astype(np.float32))
        scale = np.abs(values).max(0, keepdims=True) / 127
        rounded = np.clip(np.round(values / scale), -127, 127).astype(np.int8)
        whole = self.add("Cast", self.constant(rounded), cast=TensorProto.FLOAT)
        return self.add("Mul", whole, self.constant(scale.astype(np.float32)))

    def linear(self, parameters: Parameters, values: str, to: str | None = None) -> str:
        """Multiply and add."""
        product = self.add("MatMul", values, self.weights(parameters["w"]))
        return self.add("Add", product, self.constant(parameters["b"].astype(np.float32)), to=to)

    def norm(self, parameters: Parameters, values: str) -> str:
        """Scale to mean 0 and variance 1, and by what was learned."""
        weights = [self.constant(parameters[name].astype(np.float32)) for name in ("w", "b")]
        return self.add("LayerNormalization", values, *weights, axis=-1, epsilon=EPSILON)

    def model(
        self, inputs: Sequence[tuple[str, int, Sequence[Any]]], outputs: Mapping[str, Sequence[Any]], **metadata: str
    ) -> bytes:
        """Return the graph as a model."""
        given = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
        wanted = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in outputs.items()]
        graph = helper.make_graph(self.nodes, "reader", given, wanted, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        helper.set_model_props(model, metadata)
        onnx.checker.check_model(model)
        serialized: bytes = model.SerializeToString()
        return serialized


def spans_model(parameters: Parameters, **metadata: str) -> bytes:
    """Return the layers and the heads of spans and messages.

    Inputs: `states` (messages, tokens, 384), `side` and `letters` (messages, tokens); no token fills up.
    Outputs: `hidden`; `relations` (messages, tokens, WIDTH, RELATIONS), logits, none first; `something` (messages, 1),
    logits.
    """
    graph, heads = Graph(), parameters["heads"]
    side = graph.add("Gather", graph.constant(parameters["side"].astype(np.float32)), "side", axis=0)
    letters = graph.add("Gather", graph.constant(parameters["letters"].astype(np.float32)), "letters", axis=0)
    hidden = graph.add("Add", graph.add("Add", "states", side), letters)
    for layer in parameters["layers"]:
        hidden = _layer(graph, layer, hidden)
    hidden = graph.add("Identity", hidden, to="hidden")
    _spans(graph, heads, hidden)
    mean = graph.add("ReduceMean", hidden, axes=[1], keepdims=0)
    highest = graph.add("ReduceMax", hidden, axes=[1], keepdims=0)
    graph.linear(heads["states"], graph.add("Concat", mean, highest, axis=-1), to="something")
    shape: list[Any] = ["messages", "tokens"]
    tokens = [(name, TensorProto.INT64, shape) for name in ("side", "letters")]
    inputs = [("states", TensorProto.FLOAT, [*shape, HIDDEN]), *tokens]
    outputs = {"hidden": [*shape, HIDDEN], "relations": [*shape, WIDTH, RELATIONS], "something": ["messages", 1]}
    return graph.model(inputs, outputs, **metadata)


def _layer(graph: Graph, layer: Parameters, hidden: str) -> str:
    size = HIDDEN // HEADS

    def split(name: str, order: Sequence[int]) -> str:
        values = graph.shape(graph.linear(layer[name], hidden), 0, 0, HEADS, size)
        return graph.add("Transpose", values, perm=order)

    query, key, value = split("query", (0, 2, 1, 3)), split("key", (0, 2, 3, 1)), split("value", (0, 2, 1, 3))
    scores = graph.add("Mul", graph.add("MatMul", query, key), graph.constant(np.float32(size**-0.5)))
    mixed = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
    mixed = graph.shape(graph.add("Transpose", mixed, perm=(0, 2, 1, 3)), 0, 0, HIDDEN)
    hidden = graph.norm(layer["norm1"], graph.add("Add", hidden, graph.linear(layer["mixed"], mixed)))
    inner = graph.linear(layer["inner"], hidden)
    share = graph.add("Erf", graph.add("Mul", inner, graph.constant(np.float32(2**-0.5))))
    half = graph.add("Mul", inner, graph.constant(np.float32(0.5)))
    inner = graph.add("Mul", half, graph.add("Add", share, graph.constant(np.float32(1))))
    return graph.norm(layer["norm2"], graph.add("Add", hidden, graph.linear(layer["outer"], inner)))


def _spans(graph: Graph, heads: Parameters, hidden: str) -> None:
    first = graph.add("Unsqueeze", graph.linear(heads["first"], hidden), graph.constant(np.array([2], np.int64)))
    pads = graph.constant(np.array([0, 0, 0, 0, WIDTH, 0], np.int64))
    last = graph.add("Pad", graph.linear(heads["last"], hidden), pads)
    tokens = graph.add("Gather", graph.add("Shape", hidden), graph.constant(np.array([1], np.int64)), axis=0)
    axis = graph.constant(np.array([1], np.int64))
    ends = []
    for width in range(WIDTH):
        at = graph.constant(np.array([width], np.int64))
        moved = graph.add("Slice", last, at, graph.add("Add", tokens, at), axis)
        ends.append(graph.add("Unsqueeze", moved, graph.constant(np.array([2], np.int64))))
    whole = graph.add("Add", graph.add("Concat", *ends, axis=2), first)
    whole = graph.add("Add", whole, _means(graph, graph.linear(heads["mean"], hidden), tokens))
    whole = graph.add("Relu", graph.add("Add", whole, graph.constant(heads["width"].astype(np.float32))))
    flat = graph.shape(whole, -1, SPAN)
    logits = graph.linear(heads["relation"], flat)
    sizes = graph.add("Shape", hidden)
    sizes = graph.add("Slice", sizes, graph.constant(np.array([0], np.int64)), graph.constant(np.array([2], np.int64)))
    shape = graph.add("Concat", sizes, graph.constant(np.array([WIDTH, RELATIONS], np.int64)), axis=0)
    graph.add("Reshape", logits, shape, to="relations")


def _means(graph: Graph, values: str, tokens: str) -> str:
    """The mean of the values of each span; those beyond the text are of no use."""
    axis, place = graph.constant(np.array([1], np.int64)), graph.constant(np.array([2], np.int64))
    pads = graph.constant(np.array([0, 1, 0, 0, WIDTH, 0], np.int64))
    sums = graph.add("Pad", graph.add("CumSum", values, graph.constant(np.int64(1))), pads)
    means = []
    before = graph.add("Slice", sums, graph.constant(np.array([0], np.int64)), tokens, axis)
    for width in range(1, WIDTH + 1):
        at = graph.constant(np.array([width], np.int64))
        moved = graph.add("Slice", sums, at, graph.add("Add", tokens, at), axis)
        mean = graph.add("Mul", graph.add("Sub", moved, before), graph.constant(np.float32(1 / width)))
        means.append(graph.add("Unsqueeze", mean, place))
    return graph.add("Concat", *means, axis=2)


def objects_model(parameters: Parameters) -> bytes:
    """Return the heads of objects.

    Inputs: `hidden` (objects, tokens, 384) of each object's message; `edges` (objects, 768), the states of the first
    and last token; `inside` (objects, tokens), 1 / number of its tokens on each of them, else 0.
    Outputs: logits of each aspect, and of the first and last token of each pointer, with one for none before them.
    """
    graph, heads = Graph(), parameters["heads"]
    middle = graph.constant(np.array([1], np.int64))
    mean = graph.add("MatMul", graph.add("Unsqueeze", "inside", middle), "hidden")
    whole = graph.add("Concat", "edges", graph.add("Squeeze", mean, middle), axis=-1)
    of = graph.add("Relu", graph.linear(heads["object"], whole))
    outputs = {graph.linear(heads[name], of, to=name): ["objects", size] for name, size in ASPECTS.items()}
    for edge in ("first", "last"):
        keys = graph.linear(heads[f"tokens.{edge}"], "hidden")
        for name in POINTERS:
            asked = graph.linear(heads[f"{name}.{edge}"], of)
            asked = graph.add("Mul", asked, graph.constant(np.float32(POINT**-0.5)))
            scores = graph.add("MatMul", keys, graph.add("Unsqueeze", asked, graph.constant(np.array([2], np.int64))))
            scores = graph.add("Squeeze", scores, graph.constant(np.array([2], np.int64)))
            none = graph.linear(heads[f"{name}.none"], of)
            outputs[graph.add("Concat", none, scores, axis=1, to=f"{name}_{edge}")] = ["objects", "places"]
    shape: list[Any] = ["objects", "tokens"]
    inputs = [
        ("hidden", TensorProto.FLOAT, [*shape, HIDDEN]),
        ("edges", TensorProto.FLOAT, ["objects", 2 * HIDDEN]),
        ("inside", TensorProto.FLOAT, shape),
    ]
    return graph.model(inputs, outputs)
