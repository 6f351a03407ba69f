"""Moving out: a person or a tenant in the format of another system, or as records that `reverie import` reads.

For mem0 and Letta, this writes imported statements as they came, and the other facts, preferences and instructions in
force; memories withheld by a correction are left out. Everything is read in one snapshot. `drive/exporting.py` writes
the full export.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import orjson
from psycopg import Connection, IsolationLevel
from psycopg.types.json import set_json_loads

from reverie.drive.exporting import ShownRows
from reverie.errors import InputError, NotFoundError
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.queries import queries
from reverie.store.tenants import read_policy_name

#: The formats, each with the name of its file.
MOVED_FORMATS: Mapping[str, str] = {
    "mem0": "mem0.json",
    "letta": "letta.af",
    "jsonl": "records.jsonl",
    "parquet": "records.parquet",
}
#: Rows read at a time.
_ROWS = 2_000
#: Columns of the Parquet table of records; objects in a record become JSON texts.
_COLUMNS = ("type", "subject_id", "session_id", "source_id", "turn_index", "role", "speaker", "said_at", "text",
            "tool_calls", "metadata", "metric", "value", "positive", "observed_at", "kind", "ends_at")  # fmt: skip
_JSON_COLUMNS = ("tool_calls", "metadata")
_KINDS = {"preference": "preference"}

_Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class MovedOut:
    """The result of moving out."""

    file: Path
    #: Records by type: turn, outcome, statement; memory: what is in force and was not imported.
    counts: Mapping[str, int]
    #: Rows that the policy does not export, since they have text of a sensitive class.
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """The rows of a subject or a tenant, as they are read."""

    conn: Connection[Any]
    tenant_id: str
    subject_id: str | None
    at: datetime
    counts: Counter[str]
    shown: ShownRows

    def rows(self, name: str, counted: str, **more: Any) -> Iterator[_Row]:
        """Yield the rows of a query, a portion at a time."""
        params = {"tenant": self.tenant_id, "subject": self.subject_id} | more
        with self.conn.cursor(name=f"moving_{name}") as cursor:
            cursor.itersize = _ROWS
            rows = ({"row": row} for (row,) in cursor.execute(queries("moving")[name], params))
            for row in (each["row"] for each in self.shown.of(rows)):
                self.counts[counted] += 1
                yield {key: value for key, value in row.items() if value is not None}

    def known(self) -> Iterator[_Row]:
        """Yield imported statements as they came, then the other memories in force, as records of statements."""
        yield from self.rows("statements", "statement", imported=True)
        for memory in self.rows("memories", "memory", at=self.at):
            yield _as_statement(memory)


def move_out(url: str, tenant_id: str, folder: Path, *, subject_id: str | None, format: str, at: datetime) -> MovedOut:
    """Write a subject or a whole tenant (None) as one file of `format`, a key of `MOVED_FORMATS`, into an empty folder.

    Memories that have ended at the time `at` are left out.

    Raises NotFoundError if there is nothing to write, InputError for a folder that is not empty or cannot be written.
    """
    counts = Counter[str]()
    with connect(url, role="worker", tenant=tenant_id) as conn:
        conn.autocommit, conn.isolation_level, conn.read_only = False, IsolationLevel.REPEATABLE_READ, True
        set_json_loads(orjson.loads, conn)  # Postgres prints 1e20 as an integer, which orjson would not write again
        policy = read_policy_name(conn, tenant_id)
        shown = ShownRows(frozenset(load_policy(policy).sensitivity.not_exported if policy else ()))
        shown.hide_derived(conn, tenant_id, subject_id)
        source = _Source(conn=conn, tenant_id=tenant_id, subject_id=subject_id, at=at, counts=counts, shown=shown)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise InputError(f"{folder} is not empty: name a new folder.")
            file = folder / MOVED_FORMATS[format]
            _WRITERS[format](source, file)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}.") from error
    if subject_id is not None and not counts and not shown.left_out:
        file.unlink()
        lacking = "There are no memories to move" if format == "mem0" else "Nothing is kept"  # mem0 takes no turns
        raise NotFoundError(f"{lacking} about subject {subject_id!r}.", unknown=("subject", subject_id))
    return MovedOut(file=file, counts=counts, left_out=shown.left_out)


def _as_statement(memory: _Row) -> _Row:
    """Return a memory as the record of a statement; an instruction becomes a fact, since other systems have none."""
    fields = {"id": memory["id"], "kind": memory["kind"], "importance": memory["importance"]}
    record = {
        "type": "statement",
        "subject_id": memory["subject_id"],
        "session_id": memory.get("session_id"),
        "source_id": memory["id"],
        "kind": _KINDS.get(memory["kind"], "fact"),
        "text": memory["content"],
        "observed_at": memory["happened_at"],
        "ends_at": memory.get("expires_at"),
        "metadata": {"format": "reverie", "fields": fields},
    }
    return {name: value for name, value in record.items() if value is not None}


def _records(source: _Source) -> Iterator[_Row]:
    yield from source.rows("turns", "turn")
    yield from source.rows("outcomes", "outcome")
    yield from source.rows("statements", "statement", imported=False)


def _write_jsonl(source: _Source, file: Path) -> None:
    with file.open("xb") as lines:
        for record in _records(source):
            lines.write(orjson.dumps(record) + b"\n")


def _write_parquet(source: _Source, file: Path) -> None:
    """Write the records as a table, by way of JSON lines, which polars converts in pieces."""
    import polars as pl

    lines = file.with_suffix(".part")
    with lines.open("xb") as out:
        for record in _records(source):
            texts = {name: orjson.dumps(record[name]).decode() for name in _JSON_COLUMNS if name in record}
            out.write(orjson.dumps(record | texts) + b"\n")
    types: dict[str, Any] = dict.fromkeys(_COLUMNS, pl.String)
    types |= {"turn_index": pl.Int64, "value": pl.Float64, "positive": pl.Boolean}
    if lines.stat().st_size:
        pl.scan_ndjson(lines, schema=types).sink_parquet(file)
    else:
        pl.DataFrame(schema=types).write_parquet(file)
    lines.unlink()


def _write_mem0(source: _Source, file: Path) -> None:
    with file.open("xb") as out:
        _write_list(out, b'{"results": [', (mem0_item(record) for record in source.known()), b"]}\n")


def mem0_item(record: _Row) -> _Row:
    """Return a statement as a memory of mem0; one that came from mem0 gets its own fields back."""
    metadata = record.get("metadata") or {}
    if metadata.get("format") == "mem0":
        return {"id": record["source_id"], "memory": record["text"], **metadata["fields"]}
    item = {
        "id": record["source_id"],
        "memory": record["text"],
        "user_id": record["subject_id"],
        "run_id": record.get("session_id"),
        "created_at": record["observed_at"],
        "updated_at": record["observed_at"],
        "categories": ["user_preferences"] if record["kind"] == "preference" else [],
        "metadata": {"reverie": {"kind": record["kind"]} | metadata.get("fields", {})},
        "expiration_date": record.get("ends_at"),
    }
    return {name: value for name, value in item.items() if value is not None}


def _write_letta(source: _Source, file: Path) -> None:
    """Write an agent file with one agent per subject: turns as messages, memories in a block `human`."""
    known = {subject: list(rows) for subject, rows in _by_subject(source.known())}
    agents, blocks = list[_Row](), list[_Row]()

    def add(subject_id: str, turns: list[_Row]) -> None:
        number = len(agents)
        statements = known.pop(subject_id, [])
        agents.append(_letta_agent(number, subject_id, turns, has_block=bool(statements)))
        if statements:
            blocks.append(_letta_block(number, statements))

    for subject_id, turns in _by_subject(source.rows("turns", "turn")):
        add(subject_id, list(turns))
    for subject_id in list(known):
        add(subject_id, [])
    lists: _Row = {name: [] for name in ("groups", "files", "sources", "tools", "mcp_servers")}
    file.write_bytes(orjson.dumps({"agents": agents, "blocks": blocks, **lists}, option=orjson.OPT_INDENT_2))


def _letta_agent(number: int, subject_id: str, turns: list[_Row], *, has_block: bool) -> _Row:
    places = [
        {"id": f"message-{place}"} | {name: turn[name] for name in turn if name not in ("type", "subject_id", "text")}
        for place, turn in enumerate(turns)
    ]
    return {
        "id": f"agent-{number}",
        "name": subject_id,
        "agent_type": "memgpt_v2_agent",
        "block_ids": [f"block-{number}"] if has_block else [],
        "tool_ids": [],
        "source_ids": [],
        "in_context_message_ids": [],
        "messages": [_letta_message(number, place, turn) for place, turn in enumerate(turns)],
        # values without a field in Letta: sessions, your ids and tool calls
        "metadata": {"reverie": {"subject_id": subject_id, "turns": places}},
    }


def _letta_message(agent: int, place: int, turn: _Row) -> _Row:
    message = {
        "id": f"message-{place}",
        "agent_id": f"agent-{agent}",
        "role": turn["role"],
        "content": turn["text"],
        "name": turn.get("speaker"),
        "created_at": turn["said_at"],
    }
    return {name: value for name, value in message.items() if value is not None}


def _letta_block(number: int, statements: list[_Row]) -> _Row:
    value = "\n".join(record["text"] for record in statements)
    return {
        "id": f"block-{number}",
        "label": "human",
        "value": value,
        "limit": max(5_000, len(value)),
        "metadata": {"reverie": {"statements": statements}},
    }


def _by_subject(rows: Iterable[_Row]) -> Iterator[tuple[str, Iterator[_Row]]]:
    held = sorted(rows, key=lambda row: str(row["subject_id"]))
    return groupby(held, key=lambda row: str(row["subject_id"]))


def _write_list(out: IO[bytes], head: bytes, items: Iterable[_Row], tail: bytes) -> None:
    out.write(head)
    for number, item in enumerate(items):
        out.write((b",\n" if number else b"\n") + orjson.dumps(item))
    out.write(tail)


_WRITERS = {"jsonl": _write_jsonl, "parquet": _write_parquet, "mem0": _write_mem0, "letta": _write_letta}
