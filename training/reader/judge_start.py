"""The judge to train from: the published reader's layers with a new head, or an earlier judge."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from reverie.inference.judge.pairs import KINDS
from reverie.inference.reader.decoding import LETTERS
from training.reader import network
from training.reader.export import FOLDER, parameters_of
from training.reader.network import HIDDEN, Parameters
from training.reader.states import LAYERS
from training.reader.whole import RoundedMatrix, WholeMatrix

#: The folder and the name of the published judge.
JUDGE, PUBLISHED = FOLDER.parent / "judge", "published"
#: Width of the head.
INNER = 256


def start(key: jax.Array, lower: int) -> Parameters:
    """Return initial parameters: layers of the published reader, the embedder's below them, and a random head."""
    found = parameters_of(*_published())
    upper = [{name: whole(each) for name, each in layer.items()} for layer in found["layers"]]
    below = network.start(key, lower)["layers"][: LAYERS - len(upper) - lower]
    first, second = jax.random.split(key)
    question, message = map(jnp.asarray, found["side"])
    return {
        "side": jnp.stack([question, message, question]),
        # kinds of tokens: a kind for tokens that the other text has too starts like that of the same letters
        "letters": jnp.tile(jnp.asarray(found["letters"]), (KINDS // LETTERS, 1)),
        "layers": [*below, *upper],
        "heads": {
            "pair": {"w": jax.random.normal(first, (4 * HIDDEN, INNER)) * 0.03, "b": jnp.zeros(INNER)},
            "ends": {"w": jax.random.normal(second, (INNER, 1)) * 0.05, "b": jnp.full(1, -1.5)},
        },
    }


def _published() -> list[bytes]:
    return [(FOLDER / name).read_bytes() for name in ("reader.onnx", "objects.onnx")]


def earlier(name: str) -> tuple[int, Parameters]:
    """Return the judge of a file, or the published one, as `published` does."""
    found: tuple[int, Parameters] = published() if name == PUBLISHED else pickle.loads(Path(name).read_bytes())
    return found


def published() -> tuple[int, Parameters]:
    """Return the number of shared layers and the parameters of the published judge."""
    found = parameters_of((JUDGE / "judge.onnx").read_bytes())
    layers = [{name: whole(each) for name, each in layer.items()} for layer in found["layers"]]
    heads = {name: {kind: _unrounded(each) for kind, each in head.items()} for name, head in found["heads"].items()}
    added = {name: jnp.asarray(found[name]) for name in ("side", "letters")}
    return LAYERS - len(layers), {**added, "layers": layers, "heads": heads}


def whole(matrix: Any) -> dict[str, jax.Array]:
    """Return a published matrix of a layer and its bias in single precision."""
    if isinstance(matrix, WholeMatrix):
        weights = matrix.weights.astype(np.float32) * matrix.scales * matrix.factors[:, None]
        return {"w": jnp.asarray(weights), "b": jnp.asarray(matrix.bias)}
    return {name: jnp.asarray(values) for name, values in matrix.items()}


def _unrounded(matrix: Any) -> jax.Array:
    return jnp.asarray(matrix.weights * matrix.scale if isinstance(matrix, RoundedMatrix) else matrix, jnp.float32)
