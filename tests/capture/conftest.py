"""A store, and logs to import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from reverie.store.database import Store

TENANT = "acme"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def record(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A valid turn; a change to `...` takes the field away."""
    fields = {
        "subject_id": "ann",
        "session_id": "monday",
        "source_id": f"t{number}",
        "role": "user",
        "said_at": f"2026-03-01T09:{number % 60:02}:00+01:00",
        "text": f"I like my coffee black, number {number}.",
    } | changes
    return {name: value for name, value in fields.items() if value is not ...}


def jsonl(*records: dict[str, Any]) -> bytes:
    return b"".join(orjson.dumps(each) + b"\n" for each in records)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url, size=2) as opened:
        yield opened


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    """Write a file; its name ends in .jsonl unless another is given."""

    def write(content: bytes, name: str = "log.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def turns(conn: psycopg.Connection) -> Callable[[], list[tuple[Any, ...]]]:
    """All rows of the log but for when they were recorded."""

    def turns() -> list[tuple[Any, ...]]:
        return conn.execute(
            "select tenant_id, id, subject_id, session_id, source_id, turn_index, role, speaker, said_at, text,"
            " tool_calls, metadata, content_hash from log.turns order by subject_id, session_id, turn_index, id"
        ).fetchall()

    return turns


@pytest.fixture
def letters(conn: psycopg.Connection) -> Callable[[], list[tuple[Any, ...]]]:
    """All dead letters: line, reason, detail, payload, attempts."""

    def letters() -> list[tuple[Any, ...]]:
        return conn.execute(
            "select line, reason, detail, payload, attempts from ops.dead_letters order by source, line"
        ).fetchall()

    return letters
