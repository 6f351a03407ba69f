"""Commands as a user gives them, and a small memory to look at."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest
from click.testing import CliRunner, Result
from psycopg.sql import SQL, Identifier, Placeholder
from psycopg.types.json import Jsonb

from reverie.cli.root import reverie

Invoke = Callable[..., Result]

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
RUN = UUID(int=900)


def command(url: str, *arguments: str, env: dict[str, str | None] | None = None, answers: str | None = None) -> Result:
    """Run a command against a database; `answers`: what is typed."""
    given = {"DATABASE_URL": url, "REVERIE_TENANT": "acme", "REVERIE_THREADS": "1"} | (env or {})
    return CliRunner(env=given).invoke(reverie, arguments, input=answers)


@pytest.fixture
def invoke(database_url: str) -> Invoke:
    """Run a command against this test's database."""
    return partial(command, database_url)


def asking(url: str) -> Callable[..., dict[str, Any]]:
    """Runs commands against a database with --json and returns what they print."""

    def call(*arguments: str) -> dict[str, Any]:
        result = command(url, *arguments, "--json")
        assert result.exit_code == 0, result.output
        answer: dict[str, Any] = json.loads(result.stdout)
        return answer

    return call


@pytest.fixture
def ask(database_url: str) -> Callable[..., dict[str, Any]]:
    """Run a command with --json against this test's database and return what it prints."""
    return asking(database_url)


def insert(conn: psycopg.Connection[Any], table: str, **values: Any) -> None:
    """Insert one row of tenant acme."""
    row = {"tenant_id": "acme"} | values
    schema, _, name = table.partition(".")
    conn.execute(
        SQL("insert into {} ({}) values ({})").format(
            Identifier(schema, name),
            SQL(", ").join(map(Identifier, row)),
            SQL(", ").join(Placeholder() for _ in row),
        ),
        list(row.values()),
    )


def day(number: float) -> datetime:
    return START + timedelta(days=number)


@pytest.fixture
def world(conn: psycopg.Connection[Any]) -> dict[str, UUID]:
    """Ana, who said something twice, saw something happen, and of whom something is forgotten; ids by name."""
    ids = {
        name: UUID(f"019cb{number:03x}-0000-8000-8000-000000000000")
        for number, name in enumerate(
            ("said", "repeated", "told", "loves", "adores", "walked", "gone", "bruno", "views")
        )
    }
    insert(conn, "ops.tenants", policy="reverie")
    insert(
        conn, "ops.runs", run_id=RUN, stage="extract", as_of=day(3), driver="reverie", policy="reverie",
        policy_hash="0123456789abcdef", status="done", report=Jsonb({"turns": 3, "candidates": 4}),
    )  # fmt: skip
    for place, (name, text) in enumerate(
        [("said", "I love Bruno, my dog."), ("repeated", "I adore Bruno!"), ("told", "We\x1b[31m walked Bruno.")]
    ):
        insert(
            conn, "log.turns", id=ids[name], subject_id="ana", session_id="s1", source_id=name, turn_index=place,
            role="user", speaker="Ana", said_at=day(place), text=text, content_hash=b"x",
        )  # fmt: skip
    memory = {
        "subject_id": "ana", "content_hash": b"x", "base": 0.8, "peak": 0.8, "importance": 0.8, "linked": True,
        "scored": True, "session_id": "s1", "origin": "love", "run_id": RUN, "policy_hash": "0123456789abcdef",
    }  # fmt: skip
    for number, (name, kind, state, content, turn) in enumerate(
        [
            ("loves", "preference", "active", "Loves Bruno", "said"),
            ("adores", "preference", "merged", "Adores Bruno", "repeated"),
            ("walked", "episode", "active", "Walked\nBruno", "told"),
        ]
    ):
        times = {"happened_at": day(number), "accessed_at": day(number), "decayed_at": day(number)}
        held = {"into_id": ids["loves"]} if state == "merged" else {"forget_at": day(400)}
        own = {"id": ids[name], "kind": kind, "state": state, "content": content, "turn_id": ids[turn]}
        insert(conn, "memory.memories", **memory | times | held | own)
    origins = {"loves": "said", "adores": "repeated", "walked": "told", "gone": "said"}
    for name, turn in origins.items():
        insert(
            conn, "memory.lineage", memory_id=ids[name], relation="extracted", source="turn", source_id=ids[turn],
            as_of=day(0), run_id=RUN,
        )  # fmt: skip
    insert(
        conn, "memory.lineage", memory_id=ids["loves"], relation="merged", source="memory", source_id=ids["adores"],
        as_of=day(2), run_id=RUN,
    )  # fmt: skip
    insert(
        conn, "memory.merges", loser_id=ids["adores"], survivor_id=ids["loves"], subject_id="ana", similarity=0.95,
        peak_before=0.7, peak_after=0.8, as_of=day(2), run_id=RUN,
    )  # fmt: skip
    insert(
        conn, "memory.entities", id=ids["bruno"], subject_id="ana", type="pet", slug="bruno", label="Bruno",
        terms=["bruno"], first_seen_at=day(0),
    )  # fmt: skip
    for name in ("loves", "adores", "walked"):
        insert(conn, "memory.links", memory_id=ids[name], entity_id=ids["bruno"], subject_id="ana", run_id=RUN)
    insert(
        conn, "log.outcomes", id=ids["views"], subject_id="ana", session_id="s1", source_id="told", metric="steps",
        value=9000, positive=True, observed_at=day(4),
    )  # fmt: skip
    insert(
        conn, "memory.lineage", memory_id=ids["walked"], relation="outcome", source="outcome", source_id=ids["views"],
        as_of=day(4), run_id=RUN,
    )  # fmt: skip
    insert(
        conn, "memory.tombstones", memory_id=ids["gone"], subject_id="ana", kind="episode", content_hash=b"x",
        importance=0.05, reason="faded", forgotten_at=day(60), run_id=RUN,
    )  # fmt: skip
    return ids
