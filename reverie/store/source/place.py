"""The place up to which a source was read, stored in the transaction of the rows: the next import continues there."""

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
    """The place up to which a source was read."""

    #: The column that orders the rows; None: each import reads all rows.
    cursor: str | None
    #: Its value in the last imported row, as text; None: no row had one.
    value: str | None
    #: The mapping of fields and values: Reverie's names to the source's, and `role:THEIRS` to a role.
    mapping: Mapping[str, str] = field(default_factory=dict)
    #: Time of the import.
    read_at: datetime


def read_place(store: Store, tenant_id: str, name: str) -> SourcePlace | None:
    """Return the place up to which a source was read; None: it was never read."""
    with store.transaction(tenant_id) as conn:
        return kept_place(conn, tenant_id, name)


def kept_place(conn: Connection[Any], tenant_id: str, name: str) -> SourcePlace | None:
    """Return what `read_place` returns, in the caller's transaction."""
    row = conn.execute(queries("source")["read_place"], {"tenant": tenant_id, "name": name}).fetchone()
    if row is None:
        return None
    cursor, value, mapping, read_at = row
    return SourcePlace(cursor=cursor, value=value, mapping=mapping, read_at=read_at)


def keep_place(conn: Connection[Any], tenant_id: str, name: str, place: SourcePlace) -> None:
    """Store the place up to which a source was read, in the caller's transaction."""
    params = {
        "tenant": tenant_id,
        "name": name,
        "cursor": place.cursor,
        "value": place.value,
        "mapping": Jsonb(dict(place.mapping)),
        "read_at": place.read_at,
    }
    conn.execute(queries("source")["keep_place"], params)
