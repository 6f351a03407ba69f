"""Heads of the reader, trained on replies of a tenant's language models; one is in force (docs/reader.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from psycopg import Connection
from psycopg.rows import class_row

from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptHead:
    """A stored head."""

    #: Version of the reader with this head, and of the reader alone.
    version: str
    reader: str
    #: The parameters of the head.
    head: dict[str, Any]
    #: Language models whose replies it was trained on, and the number of replies.
    models: list[str]
    replies: int
    #: Its quality on held-out turns.
    figures: dict[str, Any]
    made_at: datetime
    #: Time at which it was retired; None: it is in force.
    retired_at: datetime | None = None


def head_in_force(conn: Connection[Any], tenant_id: str) -> KeptHead | None:
    """Return the tenant's head in force; None: there is none."""
    return next((head for head in kept_heads(conn, tenant_id) if head.retired_at is None), None)


def kept_heads(conn: Connection[Any], tenant_id: str) -> list[KeptHead]:
    """Return the tenant's heads, the one in force first, then the latest."""
    with conn.cursor(row_factory=class_row(KeptHead)) as cursor:
        return cursor.execute(queries("reader_heads")["read_heads"], {"tenant": tenant_id}).fetchall()


def adopt_head(conn: Connection[Any], tenant_id: str, head: KeptHead) -> None:
    """Put a head in force instead of the tenant's present one, which retires at the new one's `made_at`."""
    retire_head(conn, tenant_id, head.made_at)
    params = {
        "tenant": tenant_id,
        "version": head.version,
        "reader": head.reader,
        "head": orjson.dumps(head.head).decode(),
        "models": head.models,
        "replies": head.replies,
        "figures": orjson.dumps(head.figures).decode(),
        "at": head.made_at,
    }
    conn.execute(queries("reader_heads")["adopt_head"], params)


def retire_head(conn: Connection[Any], tenant_id: str, at: datetime) -> str | None:
    """Retire the tenant's head in force; return its version, or None if there was none."""
    row = conn.execute(queries("reader_heads")["retire_head"], {"tenant": tenant_id, "at": at}).fetchone()
    return row[0] if row else None
