"""Matrices in whole numbers: those of layers together with their inputs (SmoothQuant, Xiao 2022), of heads alone.

Sums of whole numbers are exact, so a message is read the same in a batch and alone, on any processor. For this, the
scale of the inputs is fitted once and stored in the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: A head's matrix with fewer numbers is not rounded.
SMALLEST_ROUNDED = 16_384
#: Steps of a weight whose products with bytes never overflow sixteen bits, in which older processors add them.
WHOLE_WEIGHTS = 63
#: The matrices of a layer.
MATRICES = ("query", "key", "value", "mixed", "inner", "outer")

#: By layer and matrix: the lowest and highest values that its rows are multiplied with, (2, rows).
Ranges = Mapping[str, npt.NDArray[np.float32]]


class WholeMatrix(NamedTuple):
    """A matrix of a layer and its bias; its inputs are first converted to bytes."""

    #: (rows,): factors of the inputs before they are rounded
    factors: npt.NDArray[np.float32]
    #: the byte of a value 0
    zero: npt.NDArray[np.uint8]
    #: (rows, columns)
    weights: npt.NDArray[np.int8]
    #: (columns,): factors of the sums
    scales: npt.NDArray[np.float32]
    #: (columns,)
    bias: npt.NDArray[np.float32]


class RoundedMatrix(NamedTuple):
    """A matrix of a head, in eight bits; it is expanded when the model is loaded."""

    #: (rows, columns)
    weights: npt.NDArray[np.int8]
    #: (1, columns)
    scale: npt.NDArray[np.float32]


def rounded(matrix: npt.NDArray[np.float32] | RoundedMatrix) -> npt.NDArray[np.float32] | RoundedMatrix:
    """Return a matrix in eight bits if it is large and not yet so."""
    if isinstance(matrix, RoundedMatrix) or matrix.size < SMALLEST_ROUNDED:
        return matrix
    scale = np.abs(matrix).max(0, keepdims=True) / 127
    return RoundedMatrix(
        np.clip(np.round(matrix / scale), -127, 127).astype(np.int8), np.asarray(scale, dtype=np.float32)
    )


def in_whole_numbers(parameters: Any, ranges: Ranges) -> Any:
    """Return the parameters of a reader with the matrices of its layers in whole numbers."""
    layers = [
        layer | {name: _whole(layer[name], ranges[f"{number}.{name}"]) for name in MATRICES}
        for number, layer in enumerate(parameters["layers"])
    ]
    return parameters | {"layers": layers}


def _whole(parameters: Mapping[str, npt.NDArray[np.float32]], columns: npt.NDArray[np.float32]) -> WholeMatrix:
    # a few columns of the inputs are large: they are divided by the factors with which their rows are multiplied
    rows = np.maximum(np.abs(parameters["w"]).max(1), 1e-6)
    shift = np.sqrt(np.maximum(np.abs(columns).max(0), 1e-3) / rows)
    lowest, highest = (columns[0] / shift).min(), (columns[1] / shift).max()
    step = (highest - lowest) / 255
    weights = parameters["w"] * shift[:, None]
    scale = np.abs(weights).max(0) / WHOLE_WEIGHTS
    return WholeMatrix(
        (1 / (shift * step)).astype(np.float32),
        np.asarray(round(float(-lowest / step)), dtype=np.uint8),
        np.clip(np.round(weights / scale), -WHOLE_WEIGHTS, WHOLE_WEIGHTS).astype(np.int8),
        (step * scale).astype(np.float32),
        np.asarray(parameters["b"], dtype=np.float32),
    )
