"""What was erased is in no file of Postgres, once the tables are rewritten: tables, write-ahead log, logs of ours."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner, Result
from psycopg.types.json import Jsonb

from reverie.cli.root import reverie
from reverie.store.connect import connect
from reverie.store.privacy.scrub import scrub
from reverie.store.server.embedded import EmbeddedPostgres

#: One for each place in which words are: turns, a dead letter, a reply, a question, a replacement, a running session.
PLACES = ("turn", "pet", "letter", "reply", "question", "right", "mood", "subject")


@pytest.fixture(scope="module")
def words() -> dict[str, str]:
    """Random words that no file holds by chance, of syllables: one of digits may be redacted as a secret."""
    return {
        place: "".join(secrets.choice("bdfglmnprstv") + secrets.choice("aeiou") for _ in range(8)) for place in PLACES
    }


@pytest.fixture
def server(run_directory: Path) -> Iterator[EmbeddedPostgres]:
    """A server of its own, as people run it."""
    postgres = EmbeddedPostgres(run_directory / f"scrub-{secrets.token_hex(4)}")
    postgres.start()
    yield postgres
    postgres.stop()


def run(server: EmbeddedPostgres, *arguments: str) -> Result:
    env = {"DATABASE_URL": server.url("reverie"), "REVERIE_TENANT": "acme", "REVERIE_THREADS": "1"}
    result = CliRunner(env=env).invoke(reverie, arguments)
    assert result.exit_code == 0, result.output
    return result


def plant(server: EmbeddedPostgres, folder: Path, words: dict[str, str]) -> None:
    """Let words come in by every way there is, and be worked in."""
    subject, file = words["subject"], folder / "said.jsonl"
    turn = {"subject_id": subject, "session_id": "chat", "role": "user"}
    lines = [
        turn | {"source_id": f"{place}", "text": text, "said_at": f"2026-03-0{1 + place}T09:00:00Z"}
        for place, text in enumerate(
            (
                f"I have a dog called {words['pet'].capitalize()}.",
                f"We talked about {words['turn']} yesterday.",
                "I can't stand coffee.",
            )
        )
    ]
    lines += [turn | {"source_id": "9", "text": words["letter"], "said_at": "yesterday"}]
    others = [
        line | {"subject_id": "ben", "text": "I work at Infosys.", "said_at": "2026-03-01T10:00:00Z"} for line in lines
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *others]))
    CliRunner(env={"DATABASE_URL": server.url("reverie")}).invoke(reverie, ["import", str(file), "--tenant", "acme"])
    run(server, "run", "--as-of", "2026-03-09")
    run(server, "recall", f"what about {words['question']}?", "--subject", subject, "--as-of", "2026-03-09")
    memories = json.loads(run(server, "show", subject, "--json", "--as-of", "2026-03-09").stdout)["subject"]["memories"]
    run(server, "correct", memories[-1]["id"], "--replace", f"Has a {words['right']}", "--as-of", "2026-03-09")
    run(server, "run", "--as-of", "2026-03-10")
    at = datetime(2026, 3, 1, tzinfo=UTC)
    with connect(server.url("reverie")) as conn:
        conn.execute(
            "insert into ops.replies (tenant_id, model, prompt_hash, input_hash, subject_id, source_ids, reply, "
            "call_id) values ('acme', 'm', '\\x00', '\\x01', %s, '{}', %s, gen_random_uuid())",
            [subject, Jsonb({"summary": words["reply"]})],
        )
        conn.execute(
            "insert into ops.sessions (tenant_id, subject_id, session_id, opened_at, since, touched_at, expires_at, "
            "preferences) values ('acme', %s, 'now', %s, %s, %s, %s, %s)",
            [subject, at, at, at, at, Jsonb([words["mood"]])],
        )
        conn.execute("analyze")
        conn.execute("checkpoint")


def found(folder: Path, words: dict[str, str]) -> dict[str, set[str]]:
    """By file, the words that it holds in any case, as bytes; compressed values are read by `in_rows`."""
    sought = {place: word.encode() for place, word in words.items()}
    held: dict[str, set[str]] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes().lower()
            if places := {place for place, word in sought.items() if word in content}:
                held[os.fspath(path.relative_to(folder))] = places
    return held


def in_rows(conn: psycopg.Connection, word: str) -> list[str]:
    """The tables of the whole database that hold a word in any row, catalogs included."""
    tables = conn.execute("select oid::regclass::text from pg_class where relkind in ('r', 'm')").fetchall()
    return [
        table
        for (table,) in tables
        if conn.execute(f"select exists (select from {table} t where t::text ilike %s)", [f"%{word}%"]).fetchone()  # noqa: S608
        == (True,)
    ]


def test_nothing_of_an_erased_subject_is_left_in_any_file(
    server: EmbeddedPostgres, words: dict[str, str], tmp_path: Path
) -> None:
    run(server, "migrate")
    plant(server, tmp_path, words)
    before = found(server.directory, words)
    assert {place for places in before.values() for place in places} == set(PLACES), "all of them came in"
    assert any("pg_wal" in name for name in before)
    told = run(server, "erase", words["subject"], "--yes", "--vacuum", "--json")
    answer = json.loads(told.stdout)
    assert answer["counts"]["ops.dead_letters"] == 1 and len(answer["rewritten"]) > 40
    assert answer["left_to_do"] == [
        "backups and archived or replicated write-ahead logs keep it until they expire (docs/erasing.md)."
    ]
    assert found(server.directory, words) == {}
    with connect(server.url("reverie")) as conn:
        assert [in_rows(conn, word) for word in words.values()] == [[]] * len(words)
        assert conn.execute("show wal_recycle").fetchone() == ("on",), "as it was"
    assert json.loads(run(server, "subjects", "--json").stdout)["subjects"][0]["subject_id"] == "ben"


def test_recycled_files_and_samples_of_empty_tables_hold_nothing(
    server: EmbeddedPostgres, words: dict[str, str]
) -> None:
    run(server, "migrate")
    word, url = words["pet"], server.url("reverie")
    with connect(url) as conn:
        conn.execute(
            "insert into ops.consents (tenant_id, subject_id, changed_at) "
            "select 'acme', %s || n, now() from generate_series(1, 9) n",
            [word],
        )
        conn.execute("analyze ops.consents")
        conn.execute("delete from ops.consents")
        conn.execute("create table public.long (said text)")
        conn.execute("insert into public.long select repeat(%s, 50) from generate_series(1, 150000)", [word])
        conn.execute("drop table public.long")
        conn.execute("checkpoint")
        conn.execute("select pg_switch_wal()")
        conn.execute("checkpoint")
        (current,) = conn.execute("select pg_walfile_name(pg_current_wal_insert_lsn())").fetchone() or ("",)
        assert "pg_statistic" in in_rows(conn, word)
    recycled = [name for name in found(server.directory, words) if name > f"data/pg_wal/{current}"]
    assert len(recycled) > 4
    scrub(url)
    assert found(server.directory, words) == {}


def test_who_is_no_superuser_is_told_what_is_left(database_url: str) -> None:
    name = f"plain_{secrets.token_hex(4)}"
    with connect(database_url) as conn:
        conn.execute(f"create role {name} login password 'x' in role reverie_owner, reverie_worker")
        try:
            url = database_url.replace(database_url.split("//")[1].split("@")[0], f"{name}:x")
            done = scrub(url)
        finally:
            conn.execute(f"drop role {name}")
    assert len(done.tables) > 40 and done.done == []
    assert done.left[0].startswith("let a superuser run: ")
