"""Import an export of Reverie itself: every row of the log as it was, so that it gives the same memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from psycopg import Connection
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from reverie.capture.append import lock_sessions, note_late_outcomes
from reverie.capture.history.importing import ImportSummary
from reverie.capture.history.reading import BATCH_BYTES
from reverie.errors import InputError
from reverie.interruption import check_interruption
from reverie.store.clock import set_clock
from reverie.store.database import Store
from reverie.store.privacy.export_format import FORMAT, LOG_TABLES, VERSION
from reverie.store.queries import queries
from reverie.store.tenants import ensure_tenant, read_policy_name

#: Tables that are written after the others: an erased turn bars what may pass its words on, and a consent that refuses
#: capture would refuse what was said before it.
_LATER = frozenset(
    {
        "ops.consents",
        "log.corrections",
        "log.recalls",
        "log.contexts",
        "ops.replies",
        "ops.reviews",
        "ops.store_items",
    }
)
#: Most rows that are written in one transaction, and bytes of the first line that are examined.
_ROWS = 2_000
_FIRST_LINE = 4_096


@dataclass(slots=True)
class _Barred:
    """What bars rows that were exported before an erasure."""

    exported_at: str | None = None
    #: Turns that were refused so far: nothing about them is taken in.
    turns: list[UUID] = field(default_factory=list)
    #: The first erased turn or event of each subject that has one: what came after it may pass its words on.
    erased: dict[str, datetime] = field(default_factory=dict)
    #: Subject and session of erased turns and events: key-value items with both labels were erased as well.
    sessions: set[tuple[str, str]] = field(default_factory=set)

    def add(self, turns: Sequence[UUID], erased: Mapping[str, str], sessions: Sequence[Sequence[str]]) -> None:
        """Add the refused turns, and the subjects and sessions of erased rows, of one portion."""
        self.turns += turns
        self.sessions |= {(subject_id, session_id) for subject_id, session_id in sessions}
        for subject_id, since in erased.items():
            at = datetime.fromisoformat(since)
            self.erased[subject_id] = min(at, self.erased.get(subject_id, at))


def is_export(path: Path) -> bool:
    """Return whether a file is the log of an export."""
    try:
        with path.open("rb") as lines:
            first = lines.readline(_FIRST_LINE)
        manifest = orjson.loads(first)
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT


def import_export(store: Store, path: Path, *, tenant_id: str) -> ImportSummary:
    """Write the rows of an export to the log in several transactions. A repeated import adds the missing rows.

    A new tenant gets the policy and the clock that the export names; a known one keeps its own. Consents come after
    what was said, which is kept. Rows that were erased here, or are not to be captured, are skipped as `refused`.

    Raises InputError: the export is of another tenant or version, or a line is not a row of an export.
    """
    summary, sessions = ImportSummary(format=FORMAT), set[tuple[str, str]]()
    barred = _Barred()
    with path.open("rb") as lines:
        manifest = orjson.loads(lines.readline())
    _check(manifest, path, tenant_id)
    barred.exported_at = manifest.get("exported_at")
    with store.transaction(tenant_id) as conn:
        is_new = read_policy_name(conn, tenant_id) is None
        ensure_tenant(conn, tenant_id, manifest["policy"])
        if is_new and (clock_at := manifest.get("clock_at")):
            set_clock(conn, tenant_id, datetime.fromisoformat(clock_at))
    for table, rows in _portions(path):
        check_interruption()
        with store.transaction(tenant_id) as conn:
            added, refused = _insert(conn, tenant_id, table, rows, barred)
        _count(summary, table, len(rows), added, refused)
        if table == "log.turns":
            sessions |= {(row["subject_id"], row["session_id"]) for row in rows}
            times = [datetime.fromisoformat(row["said_at"]) for row in rows]
            summary.first = min(times) if summary.first is None else min(summary.first, *times)
            summary.last = max(times) if summary.last is None else max(summary.last, *times)
    summary.sessions, summary.subjects = len(sessions), len({subject_id for subject_id, _ in sessions})
    return summary


def _count(summary: ImportSummary, table: str, rows: int, added: int, refused: int) -> None:
    """Count turns and outcomes as every import does, and the rows of other tables by their table."""
    if refused:
        summary.skipped["refused"] += refused
    if table in ("log.turns", "log.outcomes"):
        summary.read += rows - refused
        summary.repeated += rows - refused - added
        summary.imported += added if table == "log.turns" else 0
        summary.outcomes += added if table == "log.outcomes" else 0
    elif added:
        summary.others[table] += added


def _check(manifest: Mapping[str, Any], path: Path, tenant_id: str) -> None:
    if manifest["version"] != VERSION:
        raise InputError(
            f"{path.name} is an export of version {manifest['version']}, and this Reverie reads version {VERSION}."
        )
    if manifest["tenant_id"] != tenant_id:
        raise InputError(
            f"{path.name} is from tenant {manifest['tenant_id']!r}: import it into that tenant (--tenant), since ids "
            "depend on the tenant's name."
        )


def _portions(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the rows in portions of one table and the same columns. Raises InputError if a line is not such a row.

    The file is read twice: rows that depend on turns come after all turns, wherever they stand. The rows of a portion
    have the same columns, because turns that waited for their flush lack some, which take their defaults.
    """
    for later in (False, True):
        table, rows, size = "", list[dict[str, Any]](), 0
        for line, of_table, row in _rows(path):
            if (of_table in _LATER) is not later:
                continue
            differs = of_table != table or (rows and row.keys() != rows[0].keys())
            if rows and (differs or len(rows) >= _ROWS or size >= BATCH_BYTES):
                yield table, rows
                rows, size = [], 0
            table = of_table
            rows.append(row)
            size += len(line)
        if rows:
            yield table, rows


def _rows(path: Path) -> Iterator[tuple[bytes, str, dict[str, Any]]]:
    """Yield each line after the first with its table and row. Raises InputError if a line is not such a row."""
    with path.open("rb") as lines:
        lines.readline()
        for number, line in enumerate(lines, start=2):
            try:
                record = orjson.loads(line)
                table, row = record["table"], record["row"]
                known = table in LOG_TABLES and isinstance(row, dict)
            except (ValueError, KeyError, TypeError):
                known = False
            if not known:
                raise InputError(f"Line {number} of {path.name} is not a row of an export.")
            yield line, table, row


def _insert(
    conn: Connection[Any], tenant_id: str, table: str, rows: Sequence[Mapping[str, Any]], barred: _Barred
) -> tuple[int, int]:
    """Write rows of a table; return how many are new, and how many are refused."""
    sql = queries("exported")
    if table == "log.turns":
        lock_sessions(conn, tenant_id, {(row["subject_id"], row["session_id"]) for row in rows})
    (columns,) = conn.execute(sql["columns"], {"table": table}).fetchone() or ([],)
    # a column that the export does not have yet takes its default
    given = [column for column in columns if column in rows[0]]
    statement = SQL(sql["write"]).format(
        table=Identifier(*table.split(".")), columns=SQL(", ").join(map(Identifier, given))
    )
    params = {
        "tenant": tenant_id,
        "table": table,
        "rows": Jsonb(list(rows), dumps=orjson.dumps),
        "exported_at": barred.exported_at,
        "turns": barred.turns,
        "erased": Jsonb(barred.erased, dumps=orjson.dumps),
        "sessions": Jsonb(sorted(barred.sessions), dumps=orjson.dumps),
    }
    added, refused, *bars = conn.execute(statement, params).fetchone() or (0, 0, None, None, None)
    barred.add(bars[0] or [], bars[1] or {}, bars[2] or [])
    if table == "log.outcomes" and added:
        note_late_outcomes(conn, tenant_id)
    return added, refused
