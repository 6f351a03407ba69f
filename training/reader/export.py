"""Write a trained reader as ONNX: matrices in eight bits with a scale a column.

In the layers what is multiplied is rounded to eight bits as well, by scales that are fitted once and kept in the model:
sums of whole numbers are exact, so a message is read the same in a batch and alone, on any processor. The heads unfold
their weights when the model is loaded (`Cast`, `Mul`) and compute in float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from reverie.inference.reader.decoding import POINTERS
from training.reader.network import ASPECTS, EDGE, EPSILON, HEADS, HIDDEN, POINT, RELATIONS, Parameters

OPSET = 17
#: Smaller ones stay as they are.
SMALLEST_QUANTISED = 16_384
#: Steps of a weight whose products with bytes never overflow sixteen bits, which older processors add up in.
WHOLE_WEIGHTS = 63

#: By the name of a matrix in the layers: the lowest and highest values that its rows are multiplied with, (2, rows).
Ranges = Mapping[str, npt.NDArray[np.float32]]


#: Before the names of outputs that ranges are fitted on.
FACTOR = "factor."


class Graph:
    """A graph that is being written: nodes in order, and constants."""

    def __init__(self) -> None:
        """Begin an empty graph."""
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        #: what is multiplied with a matrix of the layers, by the name of the matrix
        self.factors: dict[str, str] = {}

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

    def whole(self, name: str, parameters: Parameters, values: str, ranges: Ranges | None) -> str:
        """Multiply in whole numbers and add; in float32 where the ranges are not known yet (SmoothQuant, Xiao 2022)."""
        self.factors[name] = values
        if ranges is None:
            return self.linear(parameters, values)
        # a few columns of what is multiplied are large: what they are divided by, their rows are multiplied with
        columns, rows = ranges[name], np.maximum(np.abs(parameters["w"]).max(1), 1e-6)
        shift = np.sqrt(np.maximum(np.abs(columns).max(0), 1e-3) / rows)
        lowest, highest = (columns[0] / shift).min(), (columns[1] / shift).max()
        step = (highest - lowest) / 255
        weights = parameters["w"] * shift[:, None]
        scale = np.abs(weights).max(0) / WHOLE_WEIGHTS
        rounded = np.clip(np.round(weights / scale), -WHOLE_WEIGHTS, WHOLE_WEIGHTS).astype(np.int8)
        zero = self.constant(np.uint8(round(float(-lowest / step))))
        factors = self.add("Mul", values, self.constant((1 / (shift * step)).astype(np.float32)))
        factors = self.add("QuantizeLinear", factors, self.constant(np.float32(1)), zero)
        sums = self.add("MatMulInteger", factors, self.constant(rounded), zero)
        scales = self.constant((step * scale).astype(np.float32))
        product = self.add("Mul", self.add("Cast", sums, cast=TensorProto.FLOAT), scales)
        return self.add("Add", product, self.constant(parameters["b"].astype(np.float32)))

    def norm(self, parameters: Parameters, values: str) -> str:
        """Scale to mean 0 and variance 1, and by what was learned."""
        weights = [self.constant(parameters[name].astype(np.float32)) for name in ("w", "b")]
        return self.add("LayerNormalization", values, *weights, axis=-1, epsilon=EPSILON)

    def model(self, inputs: Sequence[tuple[str, int, Sequence[Any]]], outputs: Mapping[str, Sequence[Any]]) -> bytes:
        """Return the graph as a model."""
        given = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
        wanted = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in outputs.items()]
        graph = helper.make_graph(self.nodes, "reader", given, wanted, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        onnx.checker.check_model(model)
        serialized: bytes = model.SerializeToString()
        return serialized


def spans_model(parameters: Parameters, ranges: Ranges | None = None, *, watched: bool = False) -> bytes:
    """Return the layers and the heads of spans and messages; `watched`: with all that `ranges` are fitted on.

    Inputs: `states` (messages, tokens, 384), `side` and `letters` (messages, tokens); no token fills up.
    Outputs: `hidden`; `keys` (messages, tokens, 2, POINT), to which objects point by their first and last token;
    `spans` (messages, tokens, tokens), logits of "is an object" by first and last token, but for what their width adds;
    `something` (messages, 1), logits.
    """
    graph, heads = Graph(), parameters["heads"]
    side = graph.add("Gather", graph.constant(parameters["side"].astype(np.float32)), "side", axis=0)
    letters = graph.add("Gather", graph.constant(parameters["letters"].astype(np.float32)), "letters", axis=0)
    hidden = graph.add("Add", graph.add("Add", "states", side), letters)
    for number, layer in enumerate(parameters["layers"]):
        hidden = _layer(graph, str(number), layer, hidden, ranges)
    hidden = graph.add("Identity", hidden, to="hidden")
    _spans(graph, heads, hidden)
    keys = [graph.linear(heads[f"tokens.{edge}"], hidden) for edge in ("first", "last")]
    shape_of_keys = graph.constant(np.array([0, 0, 2, POINT], np.int64))
    graph.add("Reshape", graph.add("Concat", *keys, axis=-1), shape_of_keys, to="keys")
    mean = graph.add("ReduceMean", hidden, axes=[1], keepdims=0)
    highest = graph.add("ReduceMax", hidden, axes=[1], keepdims=0)
    graph.linear(heads["states"], graph.add("Concat", mean, highest, axis=-1), to="something")
    shape: list[Any] = ["messages", "tokens"]
    tokens = [(name, TensorProto.INT64, shape) for name in ("side", "letters")]
    inputs = [("states", TensorProto.FLOAT, [*shape, HIDDEN]), *tokens]
    outputs = {
        "hidden": [*shape, HIDDEN], "keys": [*shape, 2, POINT], "spans": [*shape, "last"], "something": ["messages", 1],
    }  # fmt: skip
    for name, values in graph.factors.items() if watched else ():
        outputs[graph.add("Identity", values, to=f"{FACTOR}{name}")] = [*shape, "size"]
    return graph.model(inputs, outputs)


def _layer(graph: Graph, place: str, layer: Parameters, hidden: str, ranges: Ranges | None) -> str:
    size = HIDDEN // HEADS

    def linear(name: str, values: str) -> str:
        return graph.whole(f"{place}.{name}", layer[name], values, ranges)

    def split(name: str, order: Sequence[int]) -> str:
        values = graph.shape(linear(name, hidden), 0, 0, HEADS, size)
        return graph.add("Transpose", values, perm=order)

    query, key, value = split("query", (0, 2, 1, 3)), split("key", (0, 2, 3, 1)), split("value", (0, 2, 1, 3))
    scores = graph.add("Mul", graph.add("MatMul", query, key), graph.constant(np.float32(size**-0.5)))
    mixed = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
    mixed = graph.shape(graph.add("Transpose", mixed, perm=(0, 2, 1, 3)), 0, 0, HIDDEN)
    hidden = graph.norm(layer["norm1"], graph.add("Add", hidden, linear("mixed", mixed)))
    inner = linear("inner", hidden)
    share = graph.add("Erf", graph.add("Mul", inner, graph.constant(np.float32(2**-0.5))))
    half = graph.add("Mul", inner, graph.constant(np.float32(0.5)))
    inner = graph.add("Mul", half, graph.add("Add", share, graph.constant(np.float32(1))))
    return graph.norm(layer["norm2"], graph.add("Add", hidden, linear("outer", inner)))


def _spans(graph: Graph, heads: Parameters, hidden: str) -> None:
    first, last = graph.linear(heads["first"], hidden), graph.linear(heads["last"], hidden)
    pairs = graph.add("MatMul", first, graph.add("Transpose", last, perm=(0, 2, 1)))
    pairs = graph.add("Mul", pairs, graph.constant(np.float32(EDGE**-0.5)))
    of_token = graph.linear(heads["token"], hidden)
    begins, ends, inside = (
        graph.add("Gather", of_token, graph.constant(np.int64(place)), axis=2) for place in range(3)
    )
    sums = graph.add("CumSum", inside, graph.constant(np.int64(1)))
    begins = graph.add(
        "Add", graph.add("Sub", begins, sums), inside
    )  # the sum up to the last, less that before the first
    ends = graph.add("Add", ends, sums)
    begins = graph.add("Unsqueeze", begins, graph.constant(np.array([2], np.int64)))
    ends = graph.add("Unsqueeze", ends, graph.constant(np.array([1], np.int64)))
    graph.add("Add", graph.add("Add", pairs, begins), ends, to="spans")


def objects_model(parameters: Parameters) -> bytes:
    """Return the heads of objects.

    Inputs: `features` (objects, 4 * 384), the states of the first and last token and the means of the span and of its
    message; `keys` (objects, tokens, 2, POINT) of each object's message.
    Outputs: logits of `relation` (none first), of each aspect, and of the first and last token of each pointer, with
    one for none before them.
    """
    graph, heads = Graph(), parameters["heads"]
    of = graph.add("Relu", graph.linear(heads["object"], "features"))
    sizes = {"relation": RELATIONS} | ASPECTS
    outputs: dict[str, list[Any]] = {
        graph.linear(heads[name], of, to=name): ["objects", size] for name, size in sizes.items()
    }
    for place, edge in enumerate(("first", "last")):
        keys = graph.add("Gather", "keys", graph.constant(np.int64(place)), axis=2)
        for name in POINTERS:
            asked = graph.linear(heads[f"{name}.{edge}"], of)
            asked = graph.add("Mul", asked, graph.constant(np.float32(POINT**-0.5)))
            scores = graph.add("MatMul", keys, graph.add("Unsqueeze", asked, graph.constant(np.array([2], np.int64))))
            scores = graph.add("Squeeze", scores, graph.constant(np.array([2], np.int64)))
            none = graph.linear(heads[f"{name}.none"], of)
            outputs[graph.add("Concat", none, scores, axis=1, to=f"{name}_{edge}")] = ["objects", "places"]
    inputs = [
        ("features", TensorProto.FLOAT, ["objects", 4 * HIDDEN]),
        ("keys", TensorProto.FLOAT, ["objects", "tokens", 2, POINT]),
    ]
    return graph.model(inputs, outputs)
