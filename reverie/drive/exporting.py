"""Export: a person or a whole tenant as files, for people to read and for another Reverie to import.

`log.jsonl` has everything from which memory is made: `reverie import` writes it to the log of another database, where a
run makes the same memory, digest for digest. `memory.jsonl` has the memory itself with its lineage, to read.
`receipts.jsonl`, for a tenant, tells the other database what was erased. Everything is read in one snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from psycopg import Connection, IsolationLevel
from psycopg.sql import SQL, Identifier
from psycopg.types.json import set_json_loads

from reverie.drive.erase.replaying import receipt_lines
from reverie.errors import InputError, NotFoundError
from reverie.interruption import check_interruption
from reverie.language.sensitive.classes import classes_among
from reverie.policy import load_policy
from reverie.policy.sensitivity import SensitiveClass
from reverie.store.connect import connect
from reverie.store.privacy.export_format import FORMAT, LOG_TABLES, VERSION
from reverie.store.queries import queries

#: Tables of `memory.jsonl`, in order: first the memory, last its lineage.
MEMORY_TABLES = (
    "memory.memories",
    "memory.structured_facts",
    "memory.profiles",
    "memory.scaffold",
    "memory.entities",
    "memory.links",
    "memory.merges",
    "memory.conflicts",
    "memory.judged_ends",
    "memory.moods",
    "memory.measurements",
    "memory.topics",
    "memory.signals",
    "memory.periods",
    "memory.relationships",
    "memory.ties",
    "memory.life_events",
    "memory.triggers",
    "memory.tombstones",
    "memory.lineage",
)
#: Queries for the rows of a subject in tables without a column for it.
_BY_SUBJECT = {"memory.lineage": "lineage_of_subject", "ops.store_items": "store_items_of_subject"}
#: Rows read at a time.
_ROWS = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """The result of an export."""

    files: Sequence[Path]
    #: Rows by table.
    counts: Mapping[str, int]
    #: Rows that the policy leaves out because they are sensitive.
    left_out: int = 0


def export(
    url: str,
    tenant_id: str,
    folder: Path,
    *,
    subject_id: str | None,
    at: datetime,
    check: Callable[[], None] = check_interruption,
) -> Exported:
    """Write `log.jsonl` and `memory.jsonl` about a subject or a whole tenant (None) into an empty or new folder.

    For a tenant that erased something, `receipts.jsonl` has the receipts, with the keys of their marks. `check` is
    called for each row; an error that it raises ends the export.

    Raises NotFoundError if there is nothing to write, InputError for a folder that is not empty or cannot be written.
    """
    counts: dict[str, int] = {}
    shown = ShownRows()
    with connect(url, role="worker", tenant=tenant_id) as conn:
        conn.autocommit, conn.isolation_level, conn.read_only = False, IsolationLevel.REPEATABLE_READ, True
        set_json_loads(orjson.loads, conn)  # Postgres prints 1e20 as an integer, which orjson would not write again
        manifest = _manifest(conn, tenant_id, subject_id, at)
        shown = ShownRows(frozenset(load_policy(manifest["policy"]).sensitivity.not_exported))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise InputError(f"{folder} is not empty: name a new folder.")
            files = [folder / "log.jsonl", folder / "memory.jsonl"]
            shown.hide_derived(conn, tenant_id, subject_id, check=check)
            log = shown.of(_checked(_log_rows(conn, tenant_id, subject_id), check))
            _write(files[0], manifest, log, counts)
            memory = shown.of(_checked(_table_rows(conn, tenant_id, subject_id, MEMORY_TABLES), check))
            _write(files[1], manifest | {"format": f"{FORMAT} memory"}, memory, counts)
            if subject_id is None:
                files += _write_receipts(conn, tenant_id, folder / "receipts.jsonl", counts)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}.") from error
    if subject_id is not None and not counts and not shown.left_out:
        for file in files:
            file.unlink()
        raise NotFoundError(f"Nothing is kept about subject {subject_id!r}.", unknown=("subject", subject_id))
    return Exported(files=files, counts=counts, left_out=shown.left_out)


class ShownRows:
    """Leaves out rows with text of a sensitive class, and rows derived from such turns and events; counts them."""

    def __init__(self, classes: frozenset[SensitiveClass] = frozenset()) -> None:
        self.left_out = 0
        self._classes = classes
        #: Ids of the turns and events with such text, and of what was made from them.
        self._hidden: frozenset[str] = frozenset()

    def hide_derived(
        self,
        conn: Connection[Any],
        tenant_id: str,
        subject_id: str | None,
        *,
        check: Callable[[], None] = check_interruption,
    ) -> None:
        """Find the rows derived from sensitive turns and events of a subject or a tenant (None), to leave them out.

        A statement made from a sensitive turn may lack the words that made the turn sensitive.
        """
        if not self._classes:
            return
        logged = _checked(_table_rows(conn, tenant_id, subject_id, ("log.turns", "log.events")), check)
        ids = [row["row"]["id"] for row in logged if self._is_sensitive(row["row"])]
        derived = conn.execute(queries("exporting")["derived"], {"tenant": tenant_id, "ids": ids})
        self._hidden = frozenset(id_ for (id_,) in derived)

    def of(self, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the other rows."""
        for row in rows:
            if self._is_sensitive(row["row"]) or self._is_derived(row["row"]):
                self.left_out += 1
            else:
                yield row

    def _is_sensitive(self, row: Mapping[str, Any]) -> bool:
        return bool(self._classes) and any(classes_among(text, self._classes) for text in _texts(row))

    def _is_derived(self, row: Mapping[str, Any]) -> bool:
        ids: list[Any] = [row.get(name) for name in ("id", "turn_id", "memory_id", "source_id")]
        return not self._hidden.isdisjoint([*ids, *(row.get("source_ids") or ()), *(row.get("sources") or ())])


def _checked(rows: Iterator[dict[str, Any]], check: Callable[[], None]) -> Iterator[dict[str, Any]]:
    for row in rows:
        check()
        yield row


def _texts(value: Any) -> Iterator[str]:
    """Yield every text within a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _manifest(conn: Connection[Any], tenant_id: str, subject_id: str | None, at: datetime) -> dict[str, Any]:
    row = conn.execute(queries("exporting")["manifest"], {"tenant": tenant_id}).fetchone()
    if row is None:
        raise NotFoundError(f"There is no tenant {tenant_id!r}.", unknown=("tenant", tenant_id))
    policy, clock_at, revision = row
    return {
        "format": FORMAT,
        "version": VERSION,
        "tenant_id": tenant_id,
        "subject_id": subject_id,
        "policy": policy,
        "clock_at": clock_at,
        "schema": revision,
        "exported_at": at,
    }


def _log_rows(conn: Connection[Any], tenant_id: str, subject_id: str | None) -> Iterator[dict[str, Any]]:
    """Yield the rows from which memory is made, including buffered turns as rows of the log."""
    yield from _table_rows(conn, tenant_id, subject_id, LOG_TABLES)
    params = {"tenant": tenant_id, "subject": subject_id}
    for name in ("pending", "pending_moods"):
        for (row,) in conn.execute(queries("exporting")[name], params):
            yield row


def _table_rows(
    conn: Connection[Any], tenant_id: str, subject_id: str | None, tables: Sequence[str]
) -> Iterator[dict[str, Any]]:
    sql, params = queries("exporting"), {"tenant": tenant_id, "subject": subject_id}
    for table in tables:
        keys = [row[0] for row in conn.execute(sql["keys"], {"table": table})]
        name = "rows" if subject_id is None else _BY_SUBJECT.get(table, "rows_of_subject")
        statement = SQL(sql[name]).format(
            table=Identifier(*table.split(".")), order=SQL(", ").join(Identifier("t", key) for key in keys)
        )
        with conn.cursor(name="export") as cursor:
            cursor.itersize = _ROWS
            for (row,) in cursor.execute(statement, params | {"table": table}):
                yield row


def _write_receipts(conn: Connection[Any], tenant_id: str, file: Path, counts: dict[str, int]) -> list[Path]:
    lines = receipt_lines(conn, tenant_id, with_secret=True)
    if len(lines) == 1:
        return []
    file.write_bytes(b"".join(lines))
    counts["ops.erasures"] = len(lines) - 1
    return [file]


def _write(file: Path, manifest: Mapping[str, Any], rows: Iterator[dict[str, Any]], counts: dict[str, int]) -> None:
    with file.open("xb") as lines:
        lines.write(orjson.dumps(manifest, default=str) + b"\n")
        for row in rows:
            lines.write(orjson.dumps(row) + b"\n")
            counts[row["table"]] = counts.get(row["table"], 0) + 1
