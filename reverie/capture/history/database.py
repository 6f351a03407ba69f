"""Import the rows of another Postgres: the same records, checks and dead letters as for a file of the same rows.

With a cursor column the rows are read in its order, and each batch stores the position: an interrupted import and one
of the next day both continue there. The rows of the last value are read again, since others with the same value may
have been added meanwhile; turns are stored once, so none is duplicated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from reverie.capture.history.field_names import ALIASES
from reverie.capture.history.importing import FieldOptions, ImportSummary, import_batches, import_options
from reverie.capture.history.reading import Batch, in_batches
from reverie.capture.history.records import Record
from reverie.capture.history.values import split_mapping
from reverie.store.database import Store
from reverie.store.source.place import SourcePlace, read_place
from reverie.store.source.reader import SourceQuery, SourceReader


def import_table(
    store: Store,
    source: SourceQuery,
    fields: FieldOptions,
    *,
    tenant_id: str,
    policy: str = "reverie",
    now: datetime | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> ImportSummary:
    """Import the rows of a query in batches, each in a transaction of its own, from where the last import ended.

    The mapping of the first import, given and assumed, is kept for the next ones, since a turn's id may depend on it.
    `policy`: the policy of the tenant if it does not exist yet. `now`: a turn may lie at most a day after it.
    `on_progress`: called with the number of rows read so far.

    Raises:
        InputError: the query or an option is invalid, or a required column is missing or ambiguous.
        DatabaseError: the source cannot be reached, or the connection to it was lost.
    """
    given = fields.mapping or {}
    split_mapping(given)
    read_at = now or datetime.now(UTC)
    with SourceReader(source) as reader:
        columns = tuple(reader.columns)
        kept = read_place(store, tenant_id, source.source)
        mapping = _kept_mapping(kept, columns)
        options = replace(
            import_options(store, fields, tenant_id=tenant_id, policy=policy, now=read_at),
            mapping={**(mapping or {}), **given},
            recognize=mapping is None,
        )
        since = kept.value if kept and kept.cursor == source.cursor and not source.from_start else None
        batches = _read_batches(reader, source, columns, since, read_at)
        return import_batches(store, source.source, batches, options, policy, on_progress)


def _kept_mapping(kept: SourcePlace | None, columns: tuple[str, ...]) -> Mapping[str, str] | None:
    """Return the mapping of earlier imports; None if there was none or the source has other columns now."""
    if kept is None:
        return None
    names, _ = split_mapping(kept.mapping)
    return kept.mapping if {names[ours] for ours in ALIASES if ours in names} <= set(columns) else None


def _read_batches(
    reader: SourceReader, source: SourceQuery, columns: tuple[str, ...], since: str | None, read_at: datetime
) -> Iterator[Batch]:
    read, place = 0, None
    for batch in in_batches(_records(reader, since), "table"):
        read += len(batch.records)
        values = (record.fields.get(source.cursor or "") for record in reversed(batch.records))
        place = next((str(value) for value in values if value is not None), place)
        batch.position = read
        if batch.records:  # without rows nothing is recognized, and there is no place
            batch.columns = columns
            batch.place = SourcePlace(cursor=source.cursor, value=place, read_at=read_at)
        yield batch


def _records(reader: SourceReader, since: str | None) -> Iterator[Record]:
    key = reader.key
    for number, row in enumerate(reader.rows(since), start=1):
        told = f"{key} {row[key]}"[:200] if key and row[key] is not None else ""
        yield Record(number, row, size=_size(row), place=told, key=told)


def _size(row: dict[str, Any]) -> int:
    """Return the approximate size of a row in bytes."""
    return sum(len(value) if type(value) is str else 8 for value in row.values())
