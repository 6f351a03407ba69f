"""How far a source was read: kept in the transaction of the rows, so that the next import goes on just there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class SourcePlace:
    """How far a source was read."""

    #: The column that the rows are ordered by; None: each import reads all rows.
    cursor: str | None
    #: Its value in the last row that was taken, as text; None: no row had one.
    value: str | None
    #: How its fields and values were mapped: Reverie's names to the source's, `role:THEIRS` to a role.
    mapping: Mapping[str, str] = field(default_factory=dict)
    #: When it was read.
    read_at: datetime


def read_place(store: Store, tenant_id: str, name: str) -> SourcePlace | None:
    """Return how far a source was read; None: never."""
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("source")["read_place"], {"tenant": tenant_id, "name": name}).fetchone()
    if row is None:
        return None
    cursor, value, mapping, read_at = row
    return SourcePlace(cursor=cursor, value=value, mapping=mapping, read_at=read_at)


def keep_place(conn: Connection[Any], tenant_id: str, name: str, place: SourcePlace) -> None:
    """Keep how far a source was read, in the caller's transaction."""
    params = {
        "tenant": tenant_id,
        "name": name,
        "cursor": place.cursor,
        "value": place.value,
        "mapping": Jsonb(dict(place.mapping)),
        "read_at": place.read_at,
    }
    conn.execute(queries("source")["keep_place"], params)
