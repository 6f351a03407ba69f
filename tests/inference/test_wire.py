"""Vectors reach Postgres as halfvec's own bytes."""

from __future__ import annotations

import struct

import numpy as np

from reverie.inference.wire import from_half_wire, to_half_wire


def test_the_bytes_are_those_of_halfvec() -> None:
    wire = to_half_wire(np.array([[0.5, -0.25, 1.0], [0.0, 0.1, -1.0]], np.float32))
    assert wire[0].tobytes() == struct.pack(">hheee", 3, 0, 0.5, -0.25, 1.0)
    assert wire[1].tobytes() == struct.pack(">hheee", 3, 0, 0.0, 0.1, -1.0)


def test_there_and_back_is_rounding_to_halves() -> None:
    vectors = np.random.default_rng(7).normal(size=(5, 384)).astype(np.float32)
    back = from_half_wire([row.tobytes() for row in to_half_wire(vectors)])
    assert back.dtype == np.float32
    assert np.array_equal(back, vectors.astype(np.float16).astype(np.float32))


def test_no_vectors() -> None:
    assert to_half_wire(np.empty((0, 384), np.float32)).shape == (0, 772)
    assert from_half_wire([]).shape == (0, 0)
