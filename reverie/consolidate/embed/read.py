"""Turns and memories that lack a vector of the model, a portion at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection
from psycopg.rows import args_row

from reverie.consolidate.embed.decide import ItemText, ItemType
from reverie.language.text import strip_invisible
from reverie.model import EARLIEST, Kind
from reverie.store.active_model import hold_active_model
from reverie.store.failures import failed_items
from reverie.store.locks import count_erasures
from reverie.store.queries import queries
from reverie.store.work import Work

#: Items read, embedded and written at a time; it limits the loss in a crash and the use of memory.
_CHUNK = 2_000
#: Number of subjects up to which the query for turns is limited to those subjects.
_FEW_SUBJECTS = 100
#: The position before the first item; `after_time` is before every event time.
_START: dict[str, Any] = {
    "after_subject": "",
    "after_group": "",
    "after_time": EARLIEST - timedelta(days=1),
    "after_place": -1,
    "after_id": UUID(int=0),
}


class ItemPortion(NamedTuple):
    """Items that lack a vector, except those that failed before."""

    items: list[ItemText]
    #: Number of items, including those that failed before.
    number: int
    #: Number of the tenant's last erasure before the items were read.
    erasures: int


def unembedded_items(
    work: Work, item_type: ItemType, *, kinds: Sequence[Kind] | None, switching: bool
) -> Iterator[ItemPortion]:
    """Yield turns, or memories of some `kinds` (None: all), that lack a vector of the work's embedder.

    The caller writes each portion before it asks for the next one. Raises SettingsError, before anything is paid for,
    if the tenant's memory is embedded by another model, unless the tenant is `switching` to this one.
    """
    query = queries("embed")["read_turns" if item_type == "turn" else "read_memories"]
    model = work.embedder.model
    params = work.params() | {"model": model, "kinds": None if kinds is None else list(kinds), "limit": _CHUNK}
    after, failed = _START, frozenset[str]()
    while True:
        with work.transaction() as conn, conn.cursor(row_factory=args_row(ItemText)) as cursor:
            if not switching:
                hold_active_model(conn, work.tenant_id, model)
            erasures = count_erasures(conn, work.tenant_id)
            if after is _START and item_type == "turn":
                params |= _few_subjects(conn, params)
            items = [replace(item, text=strip_invisible(item.text)) for item in cursor.execute(query, params | after)]
            if items and after is _START:
                failed = failed_items(conn, work.tenant_id, "embed")
        if items:
            left = [item for item in items if str(item.id) not in failed]
            yield ItemPortion(left, len(items), erasures)
            after = _after(items[-1], item_type)
        if len(items) < _CHUNK:
            return


def _few_subjects(conn: Connection[Any], params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameter that limits the query to subjects with turns to embed, if these are few."""
    rows = conn.execute(queries("embed")["subjects_with_turns"], params | {"most": _FEW_SUBJECTS + 1}).fetchall()
    return {} if len(rows) > _FEW_SUBJECTS else {"subjects": [subject for (subject,) in rows]}


def _after(last: ItemText, item_type: ItemType) -> dict[str, Any]:
    is_turn = item_type == "turn"
    return {
        "after_subject": last.subject_id,
        "after_group": last.session_id if is_turn else last.place,
        "after_time": last.happened_at,
        "after_place": last.place if is_turn else -1,
        "after_id": last.id,
    }
