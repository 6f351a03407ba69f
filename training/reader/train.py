"""Trains the reader: `python -m training.reader.train [--layers 4] [--epochs 5] [--out FILE]
[--start FILE|published [--keep 0.5]]`.

`--start` continues from an earlier reader, or from the published one, at half the rates; the result is then the mean of
the earlier reader, weighted by `--keep`, and the new.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from reverie.inference.reader.decoding import POINTERS
from training.reader import network
from training.reader.batches import Batch, Example, arrays, example, shuffled
from training.reader.messages import Message, beside, joined, unasked, voices, weak
from training.reader.network import ASPECTS, Parameters
from training.reader.published import averaged, published_reader, start_from
from training.reader.states import LAYERS, LowerLayers

jax.config.update("jax_default_prng_impl", "rbg")  # three times as fast for dropout
jax.config.update("jax_compilation_cache_dir", str(Path(tempfile.gettempdir()) / "reverie-reader-jax"))

SEED = 11
#: Learning rates of the layers and of the heads.
RATES = (2e-4, 1.5e-3)
#: The factor of the rates when training continues from a trained reader.
AGAIN = 0.5
#: Share of tokens whose state is hidden in training.
HIDDEN_TOKENS = 0.1
#: The number of spans per message that look most like an object but are none, for which "no relation" is learned.
LIKELY = 6
#: One in so many messages is also read between its neighbours, if these fit together.
JOINED_SHARE = 16
#: The number of messages read beside small talk: one for so many messages.
BESIDE_SHARE = 8
#: One in so many answers is also read without its question.
UNASKED_SHARE = 3
#: The least logit of a span that looks like an object.
LEAST_LIKELY = -3.5


def loss(parameters: Parameters, batch: dict[str, jax.Array], key: jax.Array) -> jax.Array:
    """Return the mean loss of a batch."""
    keys = jax.random.split(key, 3)
    kept = jax.random.bernoulli(keys[0], 1 - HIDDEN_TOKENS, batch["real"].shape)
    hidden = network.upper(parameters, batch, batch["states"] * kept[..., None], keys[1])
    heads, weight, real = parameters["heads"], batch["weight"], batch["real"]
    scores, wanted = network.spans(heads, hidden), batch["relations"] > 0
    by_span = optax.sigmoid_binary_cross_entropy(scores, wanted)
    total = (weight[:, None, None] * by_span * batch["spans"]).sum()
    states = wanted.any((1, 2)).astype(jnp.float32)
    total += (weight * optax.sigmoid_binary_cross_entropy(network.message(heads, hidden, real), states)).sum()
    first, last, relations, said = _with_likely(batch, jnp.where(batch["spans"] & ~wanted, scores, -1e9))
    of, found = network.objects(heads, network.features(hidden, real, first, last), keys[2])
    said = said * weight[:, None]
    each = optax.softmax_cross_entropy_with_integer_labels(found["relation"], relations)
    total += (each * said).sum()
    labelled, said = batch["said"].shape[1], batch["said"] * weight[:, None]
    for number, name in enumerate(ASPECTS):
        each = optax.softmax_cross_entropy_with_integer_labels(found[name][:, :labelled], batch["aspects"][..., number])
        total += 0.5 * (each * said).sum()
    pointed = network.pointers(heads, of[:, :labelled], hidden, real)
    for number, name in enumerate(POINTERS):
        for place, edge in enumerate(("first", "last")):
            target = batch["pointers"][..., number, place]
            each = optax.softmax_cross_entropy_with_integer_labels(pointed[f"{name}.{edge}"], target)
            total += 0.5 * (each * said).sum()
    return total / weight.sum()


def _with_likely(batch: dict[str, jax.Array], scores: jax.Array) -> tuple[jax.Array, ...]:
    """Add to the objects the spans that look most like one but are none; return first, last, relations, and a mask."""
    messages, tokens, widths = scores.shape
    best, places = jax.lax.top_k(jax.lax.stop_gradient(scores).reshape(messages, -1), LIKELY)
    first, width = places // widths, places % widths
    last = jnp.minimum(first + width, tokens - 1)
    given = jnp.take_along_axis(
        batch["relations"].reshape(messages, -1), batch["first"] * widths + batch["last"] - batch["first"], axis=1
    )
    columns = [(batch["first"], first), (batch["last"], last), (given, 0 * first), (batch["said"], best > LEAST_LIKELY)]
    joined = [jnp.concatenate(column, axis=1) for column in columns]
    return joined[0], joined[1], joined[2], joined[3]


def optimizer(steps: int, share: float = 1.0) -> optax.GradientTransformation:
    """Return AdamW with a rate for the layers and one for the heads, both warmed up and then falling to zero."""

    def falling(rate: float) -> optax.GradientTransformation:
        schedule = optax.warmup_cosine_decay_schedule(0, share * rate, steps // 12, steps)
        return optax.adamw(schedule, weight_decay=0.01)

    def labels(parameters: Parameters) -> Any:
        return {
            name: jax.tree.map(lambda _, n=name: "heads" if n == "heads" else "layers", part)
            for name, part in parameters.items()
        }

    rates = {"layers": falling(RATES[0]), "heads": falling(RATES[1])}
    return optax.chain(optax.clip_by_global_norm(5.0), optax.multi_transform(rates, labels))


def train(
    examples: Sequence[Example], lower: int, epochs: int, seed: int = SEED, *, trained: Parameters | None = None
) -> Parameters:
    """Return parameters trained on examples.

    `trained`: parameters to continue from, at a share of the rates.
    """
    random = np.random.default_rng(seed)
    parameters = network.start(jax.random.key(seed), lower) if trained is None else jax.tree.map(jnp.array, trained)
    steps = epochs * len(shuffled(examples, random))
    optimize = optimizer(steps, 1.0 if trained is None else AGAIN)
    state = optimize.init(parameters)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters: Parameters, state: Any, batch: Batch, key: jax.Array) -> tuple[Parameters, Any, jax.Array]:
        value, gradient = jax.value_and_grad(loss)(parameters, batch, key)
        updates, state = optimize.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    number = 0
    for epoch in range(epochs):
        began, losses = time.monotonic(), []
        for chosen in shuffled(examples, random):
            parameters, state, value = step(
                parameters, state, arrays(chosen), jax.random.fold_in(jax.random.key(seed), number)
            )
            losses.append(value)
            if number % 50 == 0:
                print(number, f"{np.mean(losses[-50:]):.3f}", round(time.monotonic() - began), flush=True)
            number += 1
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, {time.monotonic() - began:.0f} s", flush=True)
    return parameters


def examples_of(messages: Sequence[Message], lower: int) -> list[Example]:
    """Return messages with the states of the layers below."""
    encoded = LowerLayers(lower).encode([(each.question, each.text) for each in messages])
    return [example(one, states) for one, states in zip(messages, encoded, strict=True)]


def varied(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield messages between their neighbours, beside small talk, and without their question."""
    yield from joined(messages, len(messages) // JOINED_SHARE, SEED)
    yield from beside(messages, len(messages) // BESIDE_SHARE, SEED)
    yield from unasked(messages, UNASKED_SHARE, SEED)


def main() -> None:
    """Train and write the parameters."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--layers", type=int, default=4)
    options.add_argument("--start")
    options.add_argument("--keep", type=float, default=0.0)
    options.add_argument("--epochs", type=int, default=5)
    options.add_argument("--out", type=Path, default=Path("reader.pickle"))
    chosen = options.parse_args()
    lower, trained = start_from(chosen.start, published_reader) if chosen.start else (LAYERS - chosen.layers, None)
    messages = [each for each in voices() if each.part == "train"]
    examples = examples_of([*messages, *varied(messages), *weak()], lower)
    parameters = train(examples, lower, chosen.epochs, trained=trained)
    if trained is not None:
        parameters = averaged(trained, parameters, chosen.keep)
    chosen.out.write_bytes(pickle.dumps((lower, jax.tree.map(np.asarray, parameters))))


if __name__ == "__main__":
    main()
