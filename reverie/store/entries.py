"""Rows of the log of answers, many of which are written by one statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import orjson
from psycopg.types.json import Jsonb

from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a log. `sql` writes many such rows: `%(rows)s`, a JSON array, for `%(tenant)s`."""

    sql: LiteralString
    row: Mapping[str, Any]


async def write_entries(session: TenantSession, entries: Sequence[Entry]) -> None:
    """Write entries in one transaction, with one statement for each kind."""
    rows: dict[LiteralString, list[Mapping[str, Any]]] = {}
    for entry in entries:
        rows.setdefault(entry.sql, []).append(entry.row)
    await session.run_all(
        *(
            Statement(sql, {"tenant": session.tenant_id, "rows": Jsonb(of_kind, dumps=orjson.dumps)})
            for sql, of_kind in rows.items()
        )
    )
