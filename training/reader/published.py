"""The published reader and judge, as parameters to train further."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from training.reader.export import FOLDER, parameters_of
from training.reader.network import Parameters
from training.reader.states import LAYERS
from training.reader.whole import RoundedMatrix, WholeMatrix

JUDGE = FOLDER.parent / "judge"
#: The name of the published model among those to start from.
PUBLISHED = "published"


def start_from(name: str, published: Callable[[], tuple[int, Parameters]]) -> tuple[int, Parameters]:
    """Return the model of a file that training wrote, or the published one: the layers below it and its parameters."""
    found: tuple[int, Parameters] = published() if name == PUBLISHED else pickle.loads(Path(name).read_bytes())
    return found


def published_reader() -> tuple[int, Parameters]:
    """Return the number of the embedder's layers below the reader's, and its parameters in single precision."""
    lower, parameters = _parameters(*((FOLDER / name).read_bytes() for name in ("reader.onnx", "objects.onnx")))
    widths = json.loads((FOLDER / "reader.json").read_bytes())["widths"]
    return lower, {**parameters, "heads": parameters["heads"] | {"width": jnp.asarray(widths)}}


def published_judge() -> tuple[int, Parameters]:
    """Return the number of the embedder's layers below the judge's, and its parameters in single precision."""
    return _parameters((JUDGE / "judge.onnx").read_bytes())


def averaged(before: Parameters, after: Parameters, share: float) -> Parameters:
    """Return the mean of two models of the same origin, with weight `share` for the first.

    It is often better than either (docs/decisions/0145-people-who-chat.md).
    """
    mean: Parameters = jax.tree.map(lambda one, other: share * one + (1 - share) * other, before, after)
    return mean


def _parameters(*models: bytes) -> tuple[int, Parameters]:
    found = parameters_of(*models)
    layers = [{name: _whole(each) for name, each in layer.items()} for layer in found["layers"]]
    heads = {name: {kind: _unrounded(each) for kind, each in head.items()} for name, head in found["heads"].items()}
    added = {name: jnp.asarray(found[name]) for name in ("side", "letters")}
    return LAYERS - len(layers), {**added, "layers": layers, "heads": heads}


def _whole(matrix: Any) -> dict[str, jax.Array]:
    if isinstance(matrix, WholeMatrix):
        weights = matrix.weights.astype(np.float32) * matrix.scales * matrix.factors[:, None]
        return {"w": jnp.asarray(weights), "b": jnp.asarray(matrix.bias)}
    return {name: jnp.asarray(values) for name, values in matrix.items()}


def _unrounded(matrix: Any) -> jax.Array:
    return jnp.asarray(matrix.weights * matrix.scale if isinstance(matrix, RoundedMatrix) else matrix, jnp.float32)
