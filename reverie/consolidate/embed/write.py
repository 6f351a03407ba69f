"""Writes vectors, terms and items: first to the cache, then to the tables that recall reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.embed.decide import ItemPart, ItemText, ItemType, item_columns
from reverie.consolidate.embed.vectors import NewVectors
from reverie.store.locks import add_subjects, lock_subjects
from reverie.store.queries import queries
from reverie.store.work import Work


def write_cache(conn: Connection[Any], work: Work, vectors: NewVectors) -> None:
    """Write new vectors to the cache, in the caller's transaction."""
    if not vectors.hashes:
        return
    sql = queries("embed")
    conn.execute(sql["stage_cache"])
    with conn.cursor().copy(sql["copy_cache"]) as copy:
        for hash_, wire in zip(vectors.hashes, vectors.wires, strict=True):
            copy.write_row((hash_, wire.tobytes()))
    conn.execute(sql["write_cache"], _key(work))


def write_items(
    conn: Connection[Any], work: Work, item_type: ItemType, items: Sequence[ItemText], parts: Sequence[ItemPart]
) -> None:
    """Write cached vectors, terms, items and speakers, in the caller's transaction."""
    sql = queries("embed")
    vectors = _key(work) | {
        "item": item_type,
        "item_ids": [part.item.id for part in parts],
        "subject_ids": [part.item.subject_id for part in parts],
        "parts": [part.number for part in parts],
        "hashes": [part.hash for part in parts],
    }
    conn.execute(sql["write_vectors"], vectors)
    columns = _key(work) | item_columns(items, work.policy) | {"item": item_type, "language": work.policy.language}
    conn.execute(sql["write_items"], columns)
    if any(columns["speakers"]):
        conn.execute(sql["write_speakers"], columns)


def lock_subjects_of(conn: Connection[Any], work: Work, items: Sequence[ItemText]) -> None:
    """Lock the subjects of items, so that no memory is merged or compressed away while it is written as live."""
    subject_ids = [item.subject_id for item in items]
    add_subjects(conn, work.tenant_id, subject_ids)
    lock_subjects(conn, work.tenant_id, subject_ids)


def leave_unembedded(conn: Connection[Any], work: Work, memory_ids: Sequence[UUID]) -> None:
    """Mark memories that the model cannot embed as scored, so that no cycle waits for them."""
    conn.execute(queries("embed")["leave_unembedded"], _key(work) | {"ids": list(memory_ids)})


def _key(work: Work) -> dict[str, Any]:
    return {"tenant": work.tenant_id, "model": work.embedder.model}
