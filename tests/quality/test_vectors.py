"""Gates on vectors fail on one that is no unit vector, and on a second number of dimensions."""

from __future__ import annotations

from typing import Any

import psycopg

from tests.quality.conftest import Check

Conn = psycopg.Connection[Any]


def put(conn: Conn, vector: str) -> None:
    """Put a vector in the place of one of the tenant's."""
    conn.execute(
        "update memory.vectors set vec = %s::halfvec where item_id = (select item_id from memory.vectors limit 1)",
        [vector],
    )


def test_vector_norms(healthy: Conn, check: Check) -> None:
    put(healthy, "[0.3,0.4]")
    result = check("vector_norms")["vector_norms"]
    assert (result.passed, result.severity) == (False, "error")
    assert result.failures == ("Tenant acme: a vector of the model small has the norm 0.50, and all must have 1.",)
    assert (result.observed[0].low, result.observed[0].high) == (0.99, 1.01)


def test_a_norm_may_be_too_long_as_well(healthy: Conn, check: Check) -> None:
    put(healthy, "[3,4]")
    assert check("vector_norms")["vector_norms"].observed[0].value == 5.0


def test_vector_dimensions(healthy: Conn, check: Check) -> None:
    put(healthy, "[1,0,0]")
    result = check("vector_norms", "vector_dimensions")
    assert result["vector_norms"].passed
    assert result["vector_dimensions"].failures == (
        "Tenant acme: vectors of the model small have 2 different numbers of dimensions.",
    )
