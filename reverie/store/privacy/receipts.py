"""Receipts of erasures: what was erased, counted by table, without content and without names, in a chain of hashes.

Each receipt holds the hash of the one before, so a receipt that was changed, left out or put in shows. Whoever keeps
the hash of the last one elsewhere sees as well whether the end is missing.
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

#: What was named: a turn, a session, a memory, a subject, a whole tenant, or what was older than a subject's retention.
ErasureKind = Literal["turn", "session", "memory", "subject", "tenant", "retention"]

#: What the first receipt has as the hash of the one before.
_BEGINNING = bytes(32)


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A receipt of one erasure."""

    #: From 1, without gaps.
    number: int
    id: UUID
    kind: ErasureKind
    #: Keyed hash of the ids that were named.
    target: bytes
    #: Rows deleted or changed, by table.
    counts: Mapping[str, int]
    erased_at: datetime
    #: Who asked for it, as the caller says.
    actor: str | None
    #: Hash of the receipt before.
    previous: bytes
    hash: bytes


def receipt_hash(tenant_id: str, receipt: Receipt) -> bytes:
    """Return the sha256 over a receipt's tenant and all of its fields but the hash itself."""
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
    """What a receipt is to say."""

    id: UUID
    kind: ErasureKind
    target: bytes
    counts: Mapping[str, int]
    erased_at: datetime
    actor: str | None


def write_receipt(conn: Connection[Any], tenant_id: str, done: ErasureDone) -> Receipt:
    """Add a receipt to a tenant's chain in the caller's transaction, which is that of the erasure; return it."""
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
    """Return the id of an erasure that begins: random, as it must say nothing of what is erased."""
    return uuid4()


def read_marks(conn: Connection[Any], tenant_id: str) -> dict[UUID, list[bytes]]:
    """Return the marks of what a tenant erased, by receipt."""
    rows = conn.execute(queries("receipts")["marks"], {"tenant": tenant_id})
    return {erasure_id: [bytes(mark) for mark in marks] for erasure_id, marks in rows}


def add_receipt(conn: Connection[Any], tenant_id: str, receipt: Receipt, marks: Sequence[bytes]) -> None:
    """Add a receipt that was written in another copy of the database, with its marks, as it is."""
    _insert(conn, tenant_id, receipt)
    params = {"tenant": tenant_id, "erasure": receipt.id, "marks": list(marks)}
    conn.execute(queries("receipts")["write_marks"], params)


def read_secret(conn: Connection[Any]) -> bytes:
    """Return the keys of the marks of the transaction's tenant, one after the other; the caller acts as the eraser."""
    row = conn.execute(queries("receipts")["secret"]).fetchone()
    return bytes(row[0]) if row and row[0] is not None else b""


def take_secret(conn: Connection[Any], secret: bytes) -> None:
    """Give the tenant the keys of a database that it comes from, unless something was erased by those that it has."""
    conn.execute(queries("receipts")["take_secret"], {"secret": secret})


def ensure_keys(conn: Connection[Any], tenant_id: str) -> None:
    """Give a tenant the keys of its marks, unless it has some: receipts of a restored database may come before it."""
    conn.execute(queries("receipts")["ensure_keys"], {"tenant": tenant_id})


def read_receipts(conn: Connection[Any], tenant_id: str) -> list[Receipt]:
    """Return a tenant's receipts in their order; a tenant that was erased keeps its own."""
    with conn.cursor(row_factory=class_row(Receipt)) as cursor:
        return cursor.execute(queries("receipts")["list"], {"tenant": tenant_id}).fetchall()


async def list_receipts(session: TenantSession, *, after: int, limit: int) -> Sequence[Receipt]:
    """Return up to `limit` receipts of the session's tenant, those after a number."""
    params = {"tenant": session.tenant_id, "after": after, "limit": limit}
    return await session.run(Statement(queries("receipts")["page"], params, row=Receipt))


def find_receipt(conn: Connection[Any], tenant_id: str, kind: ErasureKind, target: bytes) -> Receipt | None:
    """Return the last receipt of an erasure of just this."""
    params = {"tenant": tenant_id, "kind": kind, "target": target}
    with conn.cursor(row_factory=class_row(Receipt)) as cursor:
        return cursor.execute(queries("receipts")["of_target"], params).fetchone()


def target_of(conn: Connection[Any], kind: ErasureKind, names: Sequence[str]) -> bytes:
    """Return the keyed hash of what is erased, by the keys of the tenant of the transaction."""
    row = conn.execute(queries("receipts")["mark_of"], {"kind": kind, "parts": list(names)}).fetchone()
    return bytes(row[0]) if row and row[0] is not None else b""


def first_break(tenant_id: str, receipts: Sequence[Receipt]) -> int | None:
    """Return the number of the first receipt at which the chain does not hold; None: it holds.

    That is one that was changed, or that does not follow the one before.
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
