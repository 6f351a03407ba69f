"""embed: every turn and memory gets its vectors and terms, so that it can be found (spec B1; Logic 1.3, 1.4).

Texts are embedded in batches, each text once a tenant and model (the cache goes by content hash), and no connection is
held while the model works.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import polars as pl
from psycopg.rows import args_row

from reverie.consolidate.isolate import apart
from reverie.inference import Embedder, to_half_wire
from reverie.interruption import check_interruption
from reverie.language.text import chunk, strip_invisible
from reverie.llm.metering import Payer, embedding_booked
from reverie.model import EARLIEST, Kind, Scope
from reverie.policy import ChunkPolicy, Policy
from reverie.store.database import Store
from reverie.store.failures import failed_items
from reverie.store.live_model import hold_live_model
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run

#: Items read, embedded and written at a time: what a crash can cost, and what is held in memory.
_CHUNK = 2_000
#: Texts up to this length are one part without asking the tokenizer: they cannot fill a chunk.
_SHORT_CHARACTERS = 500
_FIRST = UUID(int=0)
#: Before every event time.
_NO_TIME = EARLIEST - timedelta(days=1)

Item = Literal["turn", "memory"]
Progress = Callable[[int], None]


def embed(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder,
    items: Sequence[Item] = ("turn", "memory"),
    kinds: Sequence[Kind] | None = None,
    beside: bool = False,
    driver: str = "reverie",
    dry_run: bool = False,
    on_progress: Progress | None = None,
) -> Report:
    """Give vectors and terms to what has none; counts `turns`, `memories`, `parts` and `calls_saved` by the cache.

    `kinds` limits it to memories of these kinds. `beside`: the model is not the live one yet (`reembed`). `on_progress`
    hears how many items each chunk finished. Turns are left out where the policy does not recall them.

    Raises:
        SettingsError: the tenant's memory is embedded by another model.
    """
    with run(store, "embed", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt:
        attempt.report.model = embedder.model
        for name in ("turns", "memories", "parts", "calls_saved"):
            attempt.report.add(name, 0)
        wanted = {"as_of": as_of, "model": embedder.model, "kinds": None if kinds is None else list(kinds)}
        with store.transaction(scope.tenant_id) as conn:
            left_out = failed_items(conn, scope.tenant_id, "embed")
        for item in items:
            if item == "turn" and item not in policy.recall.items:
                continue
            last: _Row | None = None
            while True:
                rows = _read(store, item, scope, wanted, last, beside)
                if rows:
                    last = rows[-1]
                    some = [row for row in rows if str(row.id) not in left_out]
                    _embed_rows(store, attempt, some, item, scope.tenant_id, policy, embedder, beside)
                    check_interruption()
                    if on_progress is not None:
                        on_progress(len(rows))
                if len(rows) < _CHUNK:
                    break
        if not attempt.recorded:
            with store.transaction(scope.tenant_id) as conn:
                attempt.record(conn)
    return attempt.report


@dataclass(frozen=True, slots=True)
class _Row:
    id: UUID
    subject_id: str
    text: str
    session_id: str | None
    happened_at: datetime
    speaker: str | None
    role: str | None
    asked_by: UUID | None
    #: What orders the reading beside the time: a turn's index, a memory's kind.
    place: int | str


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of an item that has a vector of its own."""

    row: _Row
    number: int
    text: str
    hash: bytes


def _parts(rows: Sequence[_Row], policy: Policy, embedder: Embedder) -> list[_Part]:
    return [
        _Part(row, number, text, hashlib.sha256(text.encode()).digest())
        for row in rows
        for number, text in enumerate(in_parts(row.text, policy.chunk, embedder.count_tokens))
    ]


def _read(
    store: Store, item: Item, scope: Scope, params: dict[str, Any], last: _Row | None, beside: bool
) -> list[_Row]:
    params = scope.params() | params | {"limit": _CHUNK}
    params |= {"after_subject": "", "after_group": "", "after_time": _NO_TIME, "after_place": -1, "after_id": _FIRST}
    if last is not None:
        after_group = last.session_id if item == "turn" else last.place
        params |= {"after_subject": last.subject_id, "after_group": after_group, "after_id": last.id}
        params |= {"after_time": last.happened_at, "after_place": last.place if item == "turn" else -1}
    query = queries("embed")["read_turns" if item == "turn" else "read_memories"]
    with store.transaction(scope.tenant_id) as conn, conn.cursor(row_factory=args_row(_Row)) as cursor:
        if not beside:  # before anything is paid for
            hold_live_model(conn, scope.tenant_id, params["model"])
        return [replace(row, text=strip_invisible(row.text)) for row in cursor.execute(query, params)]


def _embed_rows(
    store: Store,
    attempt: Run,
    rows: list[_Row],
    item: Item,
    tenant_id: str,
    policy: Policy,
    embedder: Embedder,
    beside: bool,
) -> None:
    sql, report = queries("embed"), attempt.report
    parts, uncut = apart(rows, lambda some: _parts(some, policy, embedder))
    failed = dict(uncut)
    by_hash = {part.hash: part.text for part in parts}
    params: dict[str, Any] = {"tenant": tenant_id, "model": embedder.model, "hashes": list(by_hash)}
    with store.transaction(tenant_id) as conn:
        missing = [row[0] for row in conn.execute(sql["find_uncached"], params)]
    counts, uncounted = apart(missing, lambda some: {hash_: embedder.count_tokens(by_hash[hash_]) for hash_ in some})
    missing, tokens = list(counts), sum(counts.values())
    asked = [] if attempt.dry_run else missing
    texts = [by_hash[hash_] for hash_ in asked]
    with embedding_booked(store, Payer(tenant_id=tenant_id, stage="embed", run_id=attempt.id), embedder, texts, tokens):
        encoded, unencoded = apart(
            asked, lambda some: (some, to_half_wire(embedder.encode([by_hash[hash_] for hash_ in some])))
        )
    unreadable = dict([*uncounted, *unencoded])
    if unreadable:
        failed |= {part.row: unreadable[part.hash] for part in parts if part.hash in unreadable}
    if failed:
        rows, parts = [row for row in rows if row not in failed], [part for part in parts if part.row not in failed]
    with store.transaction(tenant_id) as conn:
        if not beside:
            hold_live_model(conn, tenant_id, embedder.model)
        # what is merged or compressed away at this moment must not be written as live
        subjects = params | {"subjects": [row.subject_id for row in rows]}
        conn.execute(queries("subjects")["add_subjects"], subjects)
        conn.execute(queries("subjects")["lock_subjects"], subjects)
        if encoded[0]:
            conn.execute(sql["stage_cache"])
            with conn.cursor().copy(sql["copy_cache"]) as copy:
                for hash_, wire in zip(*encoded, strict=True):
                    copy.write_row((hash_, wire.tobytes()))
            conn.execute(sql["write_cache"], params)
        of_parts = {
            "item": item,
            "item_ids": [part.row.id for part in parts],
            "subject_ids": [part.row.subject_id for part in parts],
            "parts": [part.number for part in parts],
            "hashes": [part.hash for part in parts],
        }
        conn.execute(sql["write_vectors"], params | of_parts)
        of_items = _columns(rows, policy) | params | {"item": item, "language": policy.language}
        conn.execute(sql["write_items"], of_items)
        conn.execute(sql["write_speakers"], of_items)
        report.add("turns" if item == "turn" else "memories", len(rows))
        report.add("parts", len(parts))
        report.add("calls_saved", len(parts) - len(missing))
        for row, error in failed.items():
            attempt.bury(row.subject_id, row.id, error)
        if failed and item == "memory":
            conn.execute(sql["leave_unembedded"], params | {"ids": [row.id for row in failed]})
        report.model_calls += bool(missing)
        report.tokens += tokens
        report.cost_usd += tokens * embedder.price_per_token
        attempt.record(conn)


def _columns(rows: list[_Row], policy: Policy) -> dict[str, list[Any]]:
    texts = pl.Series(values=[row.text for row in rows], dtype=pl.String)
    return {
        "item_ids": [row.id for row in rows],
        "subject_ids": [row.subject_id for row in rows],
        "texts": texts.to_list(),
        "session_ids": [row.session_id for row in rows],
        "happened_at": [row.happened_at for row in rows],
        "speakers": [row.speaker for row in rows],
        "roles": [row.role for row in rows],
        "words": [row.text.count(" ") + 1 for row in rows],
        "asks": [row.text.rstrip().endswith("?") for row in rows],
        "first_person": texts.str.contains(policy.recall.first_person).to_list(),
        "names_time": texts.str.contains(policy.recall.names_time).to_list(),
        "asked_by": [row.asked_by for row in rows],
    }


def in_parts(text: str, limits: ChunkPolicy, count_tokens: Callable[[str], int]) -> list[str]:
    """Return the text as the pieces that are embedded: one, unless it is longer than a chunk."""
    if len(text) <= _SHORT_CHARACTERS:
        return [text]
    return chunk(text, count_tokens, min_tokens=limits.min_tokens, max_tokens=limits.max_tokens)
