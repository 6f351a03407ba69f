"""Train the reader: `python -m training.reader.train [--layers 4] [--epochs 6] [--out FILE]`."""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from training.reader import network
from training.reader.batches import Batch, Example, arrays, example, shuffled
from training.reader.messages import Message, voices, weak
from training.reader.network import ASPECTS, POINTERS, Parameters
from training.reader.states import LAYERS, LowerLayers

jax.config.update("jax_default_prng_impl", "rbg")  # three times as fast for what drops out
jax.config.update("jax_compilation_cache_dir", str(Path(tempfile.gettempdir()) / "reverie-reader-jax"))

SEED = 11
#: Of the layers and of the heads.
RATES = (2e-4, 1.5e-3)
#: Share of tokens whose state is hidden in training.
HIDDEN_TOKENS = 0.1


def loss(parameters: Parameters, batch: dict[str, jax.Array], key: jax.Array) -> jax.Array:
    """Return the mean loss of a batch."""
    keys = jax.random.split(key, 4)
    kept = jax.random.bernoulli(keys[0], 1 - HIDDEN_TOKENS, batch["real"].shape)
    hidden = network.upper(parameters, batch, batch["states"] * kept[..., None], keys[1])
    heads, weight = parameters["heads"], batch["weight"]
    by_span = optax.softmax_cross_entropy_with_integer_labels(network.spans(heads, hidden, keys[2]), batch["relations"])
    total = (weight[:, None, None] * by_span * batch["spans"]).sum()
    states = (batch["relations"] > 0).any((1, 2)).astype(jnp.float32)
    total += (weight * optax.sigmoid_binary_cross_entropy(network.message(heads, hidden, batch["real"]), states)).sum()
    found = network.objects(heads, hidden, batch["real"], batch["first"], batch["last"], keys[3])
    said = batch["said"] * weight[:, None]
    for number, name in enumerate(ASPECTS):
        each = optax.softmax_cross_entropy_with_integer_labels(found[name], batch["aspects"][..., number])
        total += 0.5 * (each * said).sum()
    for number, name in enumerate(POINTERS):
        for place, edge in enumerate(("first", "last")):
            target = batch["pointers"][..., number, place]
            each = optax.softmax_cross_entropy_with_integer_labels(found[f"{name}.{edge}"], target)
            total += 0.5 * (each * said).sum()
    return total / weight.sum()


def optimizer(steps: int) -> optax.GradientTransformation:
    """Return Adam with a rate for the layers and one for the heads, both warmed up and then falling to nothing."""

    def falling(rate: float) -> optax.GradientTransformation:
        schedule = optax.warmup_cosine_decay_schedule(0, rate, steps // 12, steps)
        return optax.adamw(schedule, weight_decay=0.01)

    def labels(parameters: Parameters) -> Any:
        return {
            name: jax.tree.map(lambda _, n=name: "heads" if n == "heads" else "layers", part)
            for name, part in parameters.items()
        }

    rates = {"layers": falling(RATES[0]), "heads": falling(RATES[1])}
    return optax.chain(optax.clip_by_global_norm(5.0), optax.multi_transform(rates, labels))


def train(examples: Sequence[Example], lower: int, epochs: int, seed: int = SEED) -> Parameters:
    """Return parameters trained on examples."""
    random = np.random.default_rng(seed)
    parameters = network.start(jax.random.key(seed), lower)
    steps = epochs * len(shuffled(examples, random))
    optimize = optimizer(steps)
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


def main() -> None:
    """Train and write the parameters."""
    options = argparse.ArgumentParser()
    options.add_argument("--layers", type=int, default=4)
    options.add_argument("--epochs", type=int, default=6)
    options.add_argument("--out", type=Path, default=Path("reader.pickle"))
    chosen = options.parse_args()
    lower = LAYERS - chosen.layers
    messages = [each for each in voices() if each.part == "train"] + list(weak())
    parameters = train(examples_of(messages, lower), lower, chosen.epochs)
    chosen.out.write_bytes(pickle.dumps((lower, jax.tree.map(np.asarray, parameters))))


if __name__ == "__main__":
    main()
