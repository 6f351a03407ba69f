"""Vectors as halfvec sends and receives them in binary COPY: int16 dimensions, int16 0, big-endian halves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from reverie.inference.embedder import Vectors

_HEADER = 4
"""Bytes before the first number."""


def to_half_wire(vectors: Vectors) -> npt.NDArray[np.uint8]:
    """Return rows of shape (n, 4 + 2 * dimensions), one per halfvec field; `row.tobytes()` is its parameter.

    Each number is rounded to the nearest half, ties to even; this is the only place where precision is dropped.
    """
    count, dimensions = vectors.shape
    wire = np.zeros((count, _HEADER + 2 * dimensions), np.uint8)
    wire[:, :_HEADER] = np.frombuffer(np.array([dimensions, 0], ">i2").tobytes(), np.uint8)
    wire[:, _HEADER:] = np.ascontiguousarray(vectors, ">f2").view(np.uint8)
    return wire


def from_half_wire(fields: Sequence[bytes]) -> Vectors:
    """Return the vectors of fields of one dimension, as float32; an empty sequence gives shape (0, 0)."""
    if not fields:
        return np.empty((0, 0), np.float32)
    wire = np.frombuffer(b"".join(fields), np.uint8).reshape(len(fields), -1)
    return np.ascontiguousarray(wire[:, _HEADER:]).view(">f2").astype(np.float32)
