"""Receipts of erasures: counts of erased rows by table, without content or names, in a chain of hashes.

Each receipt contains the hash of the previous one, so changed, missing or inserted receipts are detected. To detect
missing receipts at the end as well, keep the hash of the last one elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID, uuid4

import orjson
from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: The target of an erasure; `retention` is everything older than a subject agreed to keep.
ErasureKind = Literal["turn", "session", "memory", "subject", "tenant", "retention"]

#: The previous hash of the first receipt.
_BEGINNING = bytes(32)


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A receipt of one erasure."""

    #: From 1, without gaps.
    number: int
    id: UUID
    kind: ErasureKind
    #: Keyed hash of the ids in the request.
    target: bytes
    #: Rows deleted or changed, by table.
    counts: Mapping[str, int]
    erased_at: datetime
    #: The person who asked for it, as named by the caller.
    actor: str | None
    #: Hash of the previous receipt.
    previous: bytes
    hash: bytes


def receipt_hash(tenant_id: str, receipt: Receipt) -> bytes:
    """Return the SHA-256 of a receipt's tenant and all of its fields except the hash itself."""
    said = [
        tenant_id,
        receipt.number,
        str(receipt.id),
        receipt.kind,
        receipt.target.hex(),
        dict(receipt.counts),
        receipt.erased_at.astimezone(UTC).isoformat(timespec="microseconds"),
        receipt.actor,
        receipt.previous.hex(),
    ]
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).digest()


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasureDone:
    """The content of a receipt to write."""

    id: UUID
    kind: ErasureKind
    target: bytes
    counts: Mapping[str, int]
    erased_at: datetime
    actor: str | None


def write_receipt(conn: Connection[Any], tenant_id: str, done: ErasureDone) -> Receipt:
    """Add a receipt to a tenant's chain in the caller's transaction, the one of the erasure, and return it."""
    sql, params = queries("receipts"), {"tenant": tenant_id}
    conn.execute(sql["lock"], params)
    number, previous = conn.execute(sql["last"], params).fetchone() or (0, _BEGINNING)
    receipt = Receipt(
        number=number + 1,
        id=done.id,
        kind=done.kind,
        target=done.target,
        counts=done.counts,
        erased_at=done.erased_at,
        actor=done.actor,
        previous=bytes(previous),
        hash=b"",
    )
    receipt = replace(receipt, hash=receipt_hash(tenant_id, receipt))
    _insert(conn, tenant_id, receipt)
    return receipt


def new_erasure_id() -> UUID:
    """Return the id of a new erasure: random, so that it reveals nothing about the erased data."""
    return uuid4()


def read_marks(conn: Connection[Any], tenant_id: str) -> dict[UUID, list[bytes]]:
    """Return the marks of a tenant's erased data, by id of the erasure."""
    rows = conn.execute(queries("receipts")["marks"], {"tenant": tenant_id})
    return {erasure_id: [bytes(mark) for mark in marks] for erasure_id, marks in rows}


def add_receipt(conn: Connection[Any], tenant_id: str, receipt: Receipt, marks: Sequence[bytes]) -> None:
    """Add a receipt from another copy of the database unchanged, with its marks."""
    _insert(conn, tenant_id, receipt)
    params = {"tenant": tenant_id, "erasure": receipt.id, "marks": list(marks)}
    conn.execute(queries("receipts")["write_marks"], params)


def read_secret(conn: Connection[Any]) -> bytes:
    """Return the concatenated mark keys of the transaction's tenant. The caller must act as the eraser."""
    row = conn.execute(queries("receipts")["secret"]).fetchone()
    return bytes(row[0]) if row and row[0] is not None else b""


def take_secret(conn: Connection[Any], secret: bytes) -> None:
    """Set the tenant's keys to those of its former database, unless its present ones have marked an erasure."""
    conn.execute(queries("receipts")["take_secret"], {"secret": secret})


def ensure_keys(conn: Connection[Any], tenant_id: str) -> None:
    """Make sure that a tenant has mark keys: receipts can be added to a restored database before the tenant is."""
    conn.execute(queries("receipts")["ensure_keys"], {"tenant": tenant_id})


def read_receipts(conn: Connection[Any], tenant_id: str) -> list[Receipt]:
    """Return a tenant's receipts in order. The receipts of an erased tenant are kept."""
    with conn.cursor(row_factory=class_row(Receipt)) as cursor:
        return cursor.execute(queries("receipts")["list"], {"tenant": tenant_id}).fetchall()


async def list_receipts(session: TenantSession, *, after: int, limit: int) -> Sequence[Receipt]:
    """Return up to `limit` receipts of the session's tenant with numbers above `after`."""
    params = {"tenant": session.tenant_id, "after": after, "limit": limit}
    return await session.run(Statement(queries("receipts")["page"], params, row=Receipt))


def find_receipt(conn: Connection[Any], tenant_id: str, kind: ErasureKind, target: bytes) -> Receipt | None:
    """Return the last receipt of an erasure of exactly this target."""
    params = {"tenant": tenant_id, "kind": kind, "target": target}
    with conn.cursor(row_factory=class_row(Receipt)) as cursor:
        return cursor.execute(queries("receipts")["of_target"], params).fetchone()


def target_of(conn: Connection[Any], kind: ErasureKind, names: Sequence[str]) -> bytes:
    """Return the keyed hash of an erasure's target, by the keys of the transaction's tenant."""
    row = conn.execute(queries("receipts")["mark_of"], {"kind": kind, "parts": list(names)}).fetchone()
    return bytes(row[0]) if row and row[0] is not None else b""


def first_break(tenant_id: str, receipts: Sequence[Receipt]) -> int | None:
    """Return the number of the first receipt that was changed or does not follow the previous one.

    None: the chain is intact.
    """
    previous = _BEGINNING
    for number, receipt in enumerate(receipts, start=1):
        if receipt.number != number or receipt.previous != previous or receipt.hash != receipt_hash(tenant_id, receipt):
            return number
        previous = receipt.hash
    return None


def _insert(conn: Connection[Any], tenant_id: str, receipt: Receipt) -> None:
    row = {name: getattr(receipt, name) for name in Receipt.__slots__}
    conn.execute(queries("receipts")["write"], row | {"tenant": tenant_id, "counts": Jsonb(dict(receipt.counts))})
