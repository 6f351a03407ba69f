"""Writes a reader as ONNX, with ONNX Runtime's fused operators for CPUs (domain `com.microsoft`).

`python -m training.reader.export` writes the published reader again after a change to this module. Its files have the
weights under their names in the network, so that nothing has to be trained or rounded again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from reverie.inference.reader.decoding import POINTERS
from training.reader.network import ASPECTS, EDGE, EPSILON, HEADS, HIDDEN, POINT, RELATIONS, Parameters
from training.reader.whole import Ranges, RoundedMatrix, WholeMatrix, rounded

FOLDER = Path(__file__).parents[2] / "reverie" / "inference" / "reader"
OPSET = 17
#: The domain of the fused operators.
FUSED = "com.microsoft"
#: The prefix of the names of outputs on which ranges are fitted.
FACTOR = "factor."


class Graph:
    """A graph that is being written: nodes in order, and constants."""

    def __init__(self) -> None:
        """Begin an empty graph."""
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        #: the values that are multiplied with a matrix of the layers, by the name of the matrix
        self.factors: dict[str, list[str]] = {}

    def constant(self, values: npt.ArrayLike, name: str = "") -> str:
        """Add a constant and return its name; a learned one keeps its name in the network."""
        name = name or f"c{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.asarray(values), name)
        return name

    def learned(self, values: npt.ArrayLike, name: str) -> str:
        """Add numbers of the network in single precision."""
        return self.constant(np.asarray(values, dtype=np.float32), name)

    def add(
        self, operator: str, *inputs: str, to: str | None = None, cast: int | None = None, **attributes: Any
    ) -> str:
        """Add a node and return the name of its value."""
        name = to or f"v{len(self.nodes)}"
        attributes |= {} if cast is None else {"to": cast}
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def split(self, values: str, number: int) -> list[str]:
        """Split the last axis into `number` equal parts, and return their names."""
        names = [f"v{len(self.nodes)}.{part}" for part in range(number)]
        self.nodes.append(helper.make_node("Split", [values], names, axis=-1))
        return names

    def weights(self, values: npt.NDArray[np.float32] | RoundedMatrix, name: str) -> str:
        """Add a matrix, in eight bits if it is large."""
        values = rounded(values)
        if not isinstance(values, RoundedMatrix):
            return self.learned(values, name)
        whole = self.add("Cast", self.constant(values.weights, f"{name}/weights"), cast=TensorProto.FLOAT)
        return self.add("Mul", whole, self.constant(values.scale, f"{name}/scale"))

    def linear(self, name: str, parameters: Parameters, values: str, to: str | None = None) -> str:
        """Multiply and add."""
        product = self.add("MatMul", values, self.weights(parameters["w"], f"{name}/w"))
        return self.add("Add", product, self.learned(parameters["b"], f"{name}/b"), to=to)

    def head(self, name: str, parameters: Parameters, values: str, to: str | None = None) -> str:
        """Multiply and add as a head does."""
        return self.linear(f"heads/{name}", parameters["heads"][name], values, to)

    def multiply(self, name: str, parameters: Parameters | WholeMatrix, values: str) -> str:
        """Multiply and add as a layer does, in whole numbers if its matrix is in whole numbers."""
        self.factors.setdefault(name.removeprefix("layers/").replace("/", "."), []).append(values)
        if not isinstance(parameters, WholeMatrix):
            return self.linear(name, parameters, values)
        factors, zero, weights, scales, bias = (
            self.constant(each, f"{name}/{kind}") for kind, each in parameters._asdict().items()
        )
        unit = self.constant(np.float32(1))
        whole = self.add("QuantizeLinear", self.add("Mul", values, factors), unit, zero)
        given = (whole, weights, unit, scales, zero, "", bias)
        return self.add("MatMulIntegerToFloat", *given, domain=FUSED)

    def watched(self) -> dict[str, Sequence[Any]]:
        """Add all values that are multiplied with matrices of the layers as outputs, and return these."""
        return {
            self.add("Identity", values, to=f"{FACTOR}{name}.{number}"): ["rows", "tokens", "size"]
            for name, some in self.factors.items()
            for number, values in enumerate(some)
        }

    def norm(self, name: str, parameters: Parameters, values: str) -> str:
        """Scale to mean 0 and variance 1, then by the learned weights."""
        weights = [self.learned(parameters[each], f"{name}/{each}") for each in ("w", "b")]
        return self.add("LayerNormalization", values, *weights, axis=-1, epsilon=EPSILON)

    def model(self, inputs: Sequence[tuple[str, int, Sequence[Any]]], outputs: Mapping[str, Sequence[Any]]) -> bytes:
        """Return the graph as a model."""
        given = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
        wanted = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in outputs.items()]
        graph = helper.make_graph(self.nodes, "reader", given, wanted, list(self.constants.values()))
        operators = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
        model = helper.make_model(graph, opset_imports=operators, ir_version=10)
        onnx.checker.check_model(model)
        serialized: bytes = model.SerializeToString()
        return serialized


def spans_model(parameters: Parameters, *, watched: bool = False) -> bytes:
    """Return the layers and the heads of spans and messages; `watched`: with the values on which `Ranges` are fitted.

    Inputs: `states` (messages, tokens, 384), `side` and `letters` (messages, tokens), without padding.
    Outputs: `hidden`; `keys` (messages, tokens, 2, POINT), to which objects point by their first and last token;
    `spans` (messages, tokens, tokens), logits of "is an object" by first and last token, without the term of the width;
    `something` (messages, 1), logits.
    """
    graph = Graph()
    side, letters = (
        graph.add("Gather", graph.learned(parameters[name], f"added/{name}"), name, axis=0)
        for name in ("side", "letters")
    )
    hidden = graph.add("Add", graph.add("Add", "states", side), letters)
    for number, of_layer in enumerate(parameters["layers"]):
        hidden = layer(graph, f"layers/{number}", of_layer, hidden)
    hidden = graph.add("Identity", hidden, to="hidden")
    _spans(graph, parameters, hidden)
    keys = [graph.head(f"tokens.{edge}", parameters, hidden) for edge in ("first", "last")]
    shape_of_keys = graph.constant(np.array([0, 0, 2, POINT], np.int64))
    graph.add("Reshape", graph.add("Concat", *keys, axis=-1), shape_of_keys, to="keys")
    mean = graph.add("ReduceMean", hidden, axes=[1], keepdims=0)
    highest = graph.add("ReduceMax", hidden, axes=[1], keepdims=0)
    graph.head("states", parameters, graph.add("Concat", mean, highest, axis=-1), to="something")
    shape: list[Any] = ["messages", "tokens"]
    tokens = [(name, TensorProto.INT64, shape) for name in ("side", "letters")]
    inputs = [("states", TensorProto.FLOAT, [*shape, HIDDEN]), *tokens]
    outputs = {
        "hidden": [*shape, HIDDEN], "keys": [*shape, 2, POINT], "spans": [*shape, "last"], "something": ["messages", 1],
    }  # fmt: skip
    return graph.model(inputs, outputs | (graph.watched() if watched else {}))


def attention(graph: Graph, query: str, key: str, value: str) -> str:
    """Add the attention of all tokens to all, and return its result."""
    return graph.add("MultiHeadAttention", query, key, value, num_heads=HEADS, domain=FUSED)


def ranges_of(model: bytes, some: Iterable[Mapping[str, Any]]) -> Ranges:
    """Return the lowest and highest values that the rows of the matrices are multiplied with.

    `some`: inputs of the watched model.
    """
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs() if output.name.startswith(FACTOR)]
    found: dict[str, Any] = {}
    for given in some:
        for name, values in zip(names, session.run(names, given), strict=True):
            matrix, rows = name.removeprefix(FACTOR).rpartition(".")[0], values.reshape(-1, values.shape[-1])
            lowest, highest = found.get(matrix, np.zeros((2, 1)))
            found[matrix] = np.stack([np.minimum(lowest, rows.min(0)), np.maximum(highest, rows.max(0))])
    return found


def layer(
    graph: Graph,
    place: str,
    parameters: Parameters,
    hidden: str,
    attend: Callable[[Graph, str, str, str], str] = attention,
) -> str:
    """Add a layer and return its states; `attend` adds the attention."""

    def multiply(name: str, values: str) -> str:
        return graph.multiply(f"{place}/{name}", parameters[name], values)

    def norm(name: str, values: str, more: str) -> str:
        # two operators, since the fused one, SkipLayerNormalization, takes ten times as long on CPUs
        return graph.norm(f"{place}/{name}", parameters[name], graph.add("Add", values, more))

    query, key, value = (multiply(name, hidden) for name in ("query", "key", "value"))
    mixed = attend(graph, query, key, value)
    hidden = norm("norm1", hidden, multiply("mixed", mixed))
    inner = graph.add("Gelu", multiply("inner", hidden), domain=FUSED)
    return norm("norm2", hidden, multiply("outer", inner))


def _spans(graph: Graph, parameters: Parameters, hidden: str) -> None:
    first, last = (graph.head(edge, parameters, hidden) for edge in ("first", "last"))
    pairs = graph.add("MatMul", first, graph.add("Transpose", last, perm=(0, 2, 1)))
    pairs = graph.add("Mul", pairs, graph.constant(np.float32(EDGE**-0.5)))
    of_token = graph.head("token", parameters, hidden)
    begins, ends, inside = (
        graph.add("Gather", of_token, graph.constant(np.int64(place)), axis=2) for place in range(3)
    )
    sums = graph.add("CumSum", inside, graph.constant(np.int64(1)))
    # the sum up to the last token minus the sum before the first
    begins = graph.add("Add", graph.add("Sub", begins, sums), inside)
    ends = graph.add("Add", ends, sums)
    begins = graph.add("Unsqueeze", begins, graph.constant(np.array([2], np.int64)))
    ends = graph.add("Unsqueeze", ends, graph.constant(np.array([1], np.int64)))
    graph.add("Add", graph.add("Add", pairs, begins), ends, to="spans")


def objects_model(parameters: Parameters) -> bytes:
    """Return the heads of objects.

    Inputs: `features` (objects, 4 * 384), the states of the first and last token and the means of the span and of its
    message; `keys` (objects, tokens, 2, POINT) of each object's message.
    Outputs: logits of `relation` (none first), of each aspect, and of the first and last token of each pointer, after
    one for none.
    """
    graph = Graph()
    of = graph.add("Relu", graph.head("object", parameters, "features"))
    sizes = {"relation": RELATIONS} | ASPECTS
    outputs: dict[str, list[Any]] = {
        graph.head(name, parameters, of, to=name): ["objects", size] for name, size in sizes.items()
    }
    for place, edge in enumerate(("first", "last")):
        keys = graph.add("Gather", "keys", graph.constant(np.int64(place)), axis=2)
        for name in POINTERS:
            asked = graph.head(f"{name}.{edge}", parameters, of)
            asked = graph.add("Mul", asked, graph.constant(np.float32(POINT**-0.5)))
            scores = graph.add("MatMul", keys, graph.add("Unsqueeze", asked, graph.constant(np.array([2], np.int64))))
            scores = graph.add("Squeeze", scores, graph.constant(np.array([2], np.int64)))
            none = graph.head(f"{name}.none", parameters, of)
            outputs[graph.add("Concat", none, scores, axis=1, to=f"{name}_{edge}")] = ["objects", "places"]
    inputs = [
        ("features", TensorProto.FLOAT, ["objects", 4 * HIDDEN]),
        ("keys", TensorProto.FLOAT, ["objects", "tokens", 2, POINT]),
    ]
    return graph.model(inputs, outputs)


def parameters_of(*models: bytes) -> Parameters:
    """Return the learned parameters of models written by this module, in whole numbers if stored so, without widths."""
    learned: dict[str, Any] = {}
    for model in models:
        for each in onnx.load_from_string(model).graph.initializer:
            *path, name = each.name.split("/")
            under = learned
            for step in path:
                under = under.setdefault(step, {})
            under[name] = numpy_helper.to_array(each)
    layers = [
        {name: WholeMatrix(**each) if "weights" in each else each for name, each in layer.items()}
        for _, layer in sorted(learned["layers"].items())
    ]
    heads = {name: {kind: _matrix(values) for kind, values in head.items()} for name, head in learned["heads"].items()}
    return {**learned["added"], "layers": layers, "heads": heads}


def _matrix(values: Any) -> Any:
    return RoundedMatrix(**values) if isinstance(values, dict) else values


def write(parameters: Parameters, numbers: Mapping[str, Any]) -> str:
    """Write the files that Reverie loads; return the name of the model, which contains the digest of its weights."""
    spans, objects = spans_model(parameters), objects_model(parameters)
    name = f"reader-{hashlib.sha256(spans + objects).hexdigest()[:8]}"
    (FOLDER / "reader.onnx").write_bytes(spans)
    (FOLDER / "objects.onnx").write_bytes(objects)
    written = json.dumps({"model": name} | {key: each for key, each in numbers.items() if key != "model"}, indent=1)
    (FOLDER / "reader.json").write_text(written + "\n", encoding="utf-8")
    return name


def main() -> None:
    """Write the published reader again."""
    models = [(FOLDER / name).read_bytes() for name in ("reader.onnx", "objects.onnx")]
    print(write(parameters_of(*models), json.loads((FOLDER / "reader.json").read_bytes())))


if __name__ == "__main__":
    main()
