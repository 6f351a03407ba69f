"""Promises 9 and 11: no connection waits for a model, and no user text gets into ledgers, reports or logs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.errors import StageError
from reverie.inference import Vectors
from reverie.store.database import Store
from reverie.store.runs import Report
from tests.promises import compact
from tests.promises.world import WordEmbedder, consolidate, live

#: A word that nobody says but our subjects.
CANARY = "xylocanary"


class Watched(WordEmbedder):
    """Does something whenever it is asked."""

    def __init__(self, on_encode: Callable[[Sequence[str]], None]) -> None:
        self._on_encode = on_encode

    def encode(self, texts: Sequence[str]) -> Vectors:
        self._on_encode(texts)
        return super().encode(texts)


@pytest.fixture
def canaries(history: Path, tmp_path: Path) -> Path:
    """The compact history with the canary in every text, tool call and broken line."""
    lines = []
    for line in history.read_text(encoding="utf-8").splitlines():
        if not line.endswith("}"):
            lines.append(f"{line} {CANARY}")
            continue
        record = json.loads(line)
        if "text" in record:
            record["text"] = f"{record['text'].rstrip('.!')} with {CANARY}."
            record["speaker"] = f"{record['speaker']} {CANARY}"
            for call in record.get("tool_calls", ()):
                call["why"] = CANARY
        lines.append(json.dumps(record))
    path = tmp_path / "canaries.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_user_text_stays_where_it_belongs(
    store: Store,
    conn: psycopg.Connection[Any],
    canaries: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    reports = live(store, compact.TENANT, compact.policy(), canaries, compact.UNTIL)
    assert {report.stage for report in reports} >= {"extract", "merge", "compress", "prune"}
    assert clean(reports, caplog, capfd)
    assert said_in(conn, "memory.memories")
    assert said_in(conn, "ops.dead_letters", without="payload") == []
    assert said_in(conn, "ops.runs") == []
    assert said_in(conn, "memory.tombstones") == []


def test_a_failure_does_not_quote(
    store: Store,
    conn: psycopg.Connection[Any],
    canaries: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def refuse(texts: Sequence[str]) -> None:
        raise ValueError(f"cannot embed {list(texts)}")

    caplog.set_level(logging.DEBUG)
    import_file(store, canaries, tenant_id=compact.TENANT, now=compact.UNTIL)
    with pytest.raises(StageError, match="fails on every item, with ValueError") as told:
        consolidate(store, compact.TENANT, compact.policy(), compact.UNTIL, Watched(refuse))
    assert CANARY not in str(told.value)
    assert conn.execute("select error from ops.runs where status = 'failed'").fetchall() == [(str(told.value),)]
    assert said_in(conn, "ops.runs") == []
    assert clean([], caplog, capfd)


def test_no_connection_waits_for_the_model(store: Store, conn: psycopg.Connection[Any], history: Path) -> None:
    seen: list[list[tuple[Any, ...]]] = []

    def look(texts: Sequence[str]) -> None:
        busy = """select state, query from pg_stat_activity
                  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
                    and state <> 'idle'"""
        seen.append(conn.execute(busy).fetchall())
        # whoever held one of the pool would keep others from it
        free = store._pool.get_stats()
        assert free["pool_available"] == free["pool_size"]

    import_file(store, history, tenant_id=compact.TENANT, now=compact.UNTIL)
    consolidate(store, compact.TENANT, compact.policy(), compact.UNTIL, Watched(look))
    assert len(seen) > 2
    assert not any(seen)


def said_in(conn: psycopg.Connection[Any], table: str, without: str = "") -> list[Any]:
    """Rows of a table in which the canary stands."""
    query = f"select to_jsonb(t) - %s from {table} t where (to_jsonb(t) - %s)::text like %s"  # noqa: S608
    return conn.execute(query, [without, without, f"%{CANARY}%"]).fetchall()  # type: ignore[arg-type]


def clean(reports: Sequence[Report], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> bool:
    """Whether neither reports, logs nor the terminal hold the canary."""
    printed = capfd.readouterr()
    return CANARY not in f"{reports} {caplog.text} {printed.out} {printed.err}"
