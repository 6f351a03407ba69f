"""Helpers for people who test against Reverie, and the examples of docs/testing.md."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

import reverie.testing
from reverie.inference.completions import CallError
from reverie.store.database import Store
from reverie.testing import (
    SERVER_VARIABLE,
    DatabaseFactory,
    ScriptedLanguageModel,
    WordEmbedder,
    conversation,
    database_name,
    remember,
)

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
EXAMPLE, FIXTURE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
MESSAGES = ({"role": "user", "content": '<data>{"items": [{"number": 3, "text": "Hi."}]}</data>'},)


def test_the_example_of_the_page_runs(server_url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXAMPLE],
        env=os.environ | {SERVER_VARIABLE: server_url},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("preference Is allergic to peanuts\n")


def test_the_fixture_of_the_page_compiles() -> None:
    ast.parse(FIXTURE)


def test_the_page_names_what_there_is() -> None:
    names = re.findall(r"^\| `(\w+)", PAGE.partition("| Fixture ")[0], re.MULTILINE)
    assert len(names) == 6 and all(hasattr(reverie.testing, name) for name in names)


def test_no_test_framework_is_imported() -> None:
    script = (
        "import sys, reverie.testing; sys.exit(any(name in sys.modules for name in ('pytest', 'unittest', '_pytest')))"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def test_databases_are_separate_and_dropped(server_url: str, run_directory: Path) -> None:
    databases = DatabaseFactory(server_url, prefix=run_directory.name)
    with databases.migrated() as one, databases.migrated() as other, databases.empty() as empty:
        assert len({one, other, empty}) == 3
        with psycopg.connect(one) as conn:
            assert conn.execute("select count(*) from log.turns").fetchone() == (0,)
        with psycopg.connect(empty) as conn:
            assert conn.execute("select to_regnamespace('log')").fetchone() == (None,)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(one)


def test_the_name_of_a_database_may_be_a_parameter_of_the_url(server_url: str, run_directory: Path) -> None:
    given = conninfo_to_dict(server_url)
    server = f"postgresql:///?{urlencode(given)}"
    with DatabaseFactory(server, prefix=run_directory.name).empty() as url, psycopg.connect(url) as conn:
        assert conn.info.dbname == database_name(url) != given["dbname"]


def test_words_make_texts_similar() -> None:
    dog, hound, tax = WordEmbedder().encode(["a dog named Bruno", "the dog Bruno", "income tax"])
    assert np.isclose(np.linalg.norm(dog), 1.0, atol=1e-6)
    assert dog @ hound > 0.4 > 0.3 > abs(dog @ tax)
    assert (WordEmbedder().encode(["the dog Bruno"])[0] == hound).all()


def test_a_script_answers_and_keeps_the_requests() -> None:
    model = ScriptedLanguageModel(script=lambda shape, item: {"text": f"{shape} {item['text']}"})
    completion = model.complete(MESSAGES, schema={"title": "Note"}, max_tokens=10)
    assert completion.text == '{"replies":[{"number":3,"text":"Note Hi."}]}'
    assert model.requests == [("Note", {"text": "Hi."})]


def test_a_script_without_a_reply_fails() -> None:
    model = ScriptedLanguageModel(script=lambda shape, item: None)
    with pytest.raises(CallError, match="no reply of type Note") as raised:
        model.complete(MESSAGES, schema={"title": "Note"}, max_tokens=10)
    assert raised.value.reason == "unrecorded" and not raised.value.retried


def test_remembered_turns_become_memories_as_often_as_they_are_sent(database_url: str, conn: Any) -> None:
    turns = conversation("I am allergic to peanuts.", ("assistant", "Noted."), start=datetime(2026, 5, 1, tzinfo=UTC))
    assert [(turn.role, turn.said_at.minute) for turn in turns] == [("user", 0), ("assistant", 1)]
    asked = ScriptedLanguageModel(script=lambda shape, item: None)
    with Store.open(database_url) as store:
        for _ in range(2):
            reports = remember(store, turns, language_model=asked)
    assert reports
    assert conn.execute("select count(*) from log.turns").fetchone() == (2,)
    (contents,) = zip(*conn.execute("select content from memory.memories where kind <> 'episode'"), strict=True)
    assert any("peanuts" in content for content in contents)


def test_a_process_leaves_no_database_behind(server_url: str) -> None:
    script = (
        "from reverie.testing import database, database_name\nwith database() as url:\n    print(database_name(url))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {SERVER_VARIABLE: server_url},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    prefix = done.stdout.rpartition("_")[0]
    with psycopg.connect(server_url) as conn:
        found = conn.execute("select datname from pg_database where starts_with(datname, %s)", [prefix]).fetchall()
    assert (prefix.startswith("reverie_test_"), found, done.stderr) == (True, [], "")
