"""Near pairs within a subject and kind: a join in the database for small groups, a matrix product for large ones.

Both ways compute the cosine of a pair by the same expression over the same two rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt
from psycopg import Connection

from reverie.consolidate.merge.decide import Pair
from reverie.store.plans import plan_by_group, plan_by_key
from reverie.store.queries import queries

#: Rows of a group from which transferring its vectors costs less than comparing them in SQL: about 6 us a row against
#: 0.2 us a pair, so both are equal at 100 rows.
PRODUCT_FROM = 100
#: Amount by which float32 products of half-precision unit vectors may fall short of the exact cosine; 20,000 pairs of
#: 384 dimensions differed by less than a tenth of it.
_SLACK = 2e-3
#: Elements of one block of products: 16 MB, so that it fits the CPU cache.
_BLOCK = 4_000_000

Matrix = npt.NDArray[np.float32]
Group = tuple[str, str, int]


def near_pairs(conn: Connection[Any], params: dict[str, Any], groups: Sequence[Group]) -> list[Pair]:
    """Return the pairs above `params["threshold"]` with a candidate in these groups (subject, kind, rows).

    Later queries of the transaction are planned by key.
    """
    small = [group for group in groups if group[2] < PRODUCT_FROM]
    large = [group for group in groups if group[2] >= PRODUCT_FROM]
    joined = joined_pairs(conn, params, small)
    plan_by_key(conn)
    return [*joined, *product_pairs(conn, params, large)]


def joined_pairs(conn: Connection[Any], params: dict[str, Any], groups: Sequence[Group]) -> list[Pair]:
    """Return the near pairs of the groups, found by SQL alone."""
    if not groups:
        return []
    plan_by_group(conn)
    statement = queries("merge")["near_pairs"]
    return conn.execute(statement, params | group_params(groups), binary=True).fetchall()


def product_pairs(conn: Connection[Any], params: dict[str, Any], groups: Sequence[Group]) -> list[Pair]:
    """Return the near pairs of the groups, found by matrix products and measured by SQL."""
    subjects: list[str] = []
    firsts: list[UUID] = []
    seconds: list[UUID] = []
    for group in groups:
        row = conn.execute(queries("merge")["pull_groups"], params | group_params([group]), binary=True).fetchone()
        if row is None:
            continue
        for first, second in _above(*_unpack(row[1]), *_unpack(row[2]), params["threshold"] - _SLACK):
            subjects.append(group[0])
            firsts.append(UUID(bytes=first))
            seconds.append(UUID(bytes=second))
    if not firsts:
        return []
    columns = {"pairs_subject": subjects, "firsts": firsts, "seconds": seconds}
    return conn.execute(queries("merge")["measure_pairs"], params | columns, binary=True).fetchall()


def group_params(groups: Sequence[Group]) -> dict[str, list[str]]:
    """Return the groups as query parameters."""
    return {"groups_subject": [group[0] for group in groups], "groups_kind": [group[1] for group in groups]}


def _unpack(wire: bytes) -> tuple[list[bytes], Matrix]:
    """Return ids (n of 16 bytes) and float32 vectors (n, dimensions) from concatenated `uuid_send || halfvec_send`."""
    if not wire:
        return [], np.empty((0, 0), dtype=np.float32)
    dimensions = int.from_bytes(wire[16:18], "big")
    row = np.dtype([("id", "V16"), ("head", "V4"), ("vec", ">f2", (dimensions,))])
    rows = np.frombuffer(wire, dtype=row)
    return [bytes(id_) for id_ in rows["id"]], rows["vec"].astype("=f2").astype(np.float32)


def _above(
    fresh_ids: list[bytes], fresh: Matrix, known_ids: list[bytes], known: Matrix, above: float
) -> Iterator[tuple[bytes, bytes]]:
    """Yield pairs of ids above a dot product: candidates with each other, once, and with the live memories."""
    size = len(fresh_ids)
    step = max(_BLOCK // max(size + len(known_ids), 1), 1)
    for start in range(0, size, step):
        block = fresh[start : start + step]
        for row, column in np.argwhere(block @ fresh[start:].T > above):
            if column > row:
                yield fresh_ids[start + row], fresh_ids[start + column]
        if known_ids:
            for row, column in np.argwhere(block @ known.T > above):
                yield fresh_ids[start + row], known_ids[column]
