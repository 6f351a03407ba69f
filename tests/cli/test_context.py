"""`reverie context`: the text, the budget table, and one sentence for whatever is wrong with a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.recall.contexts.context import assemble_context
from reverie.recall.query import RecallQuery


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    held = {
        "system": "Be of use.",
        "data": '{"blog": {"views": 315}}',
        "history": '[{"role": "user", "content": "Hello"}]',
        "tools": '[{"name": "suggest_post"}]',
        "broken": "{",
        "bare": '[{"role": "user"}]',
        "latin1": "Répondez.",
    }
    for name, text in held.items():
        (tmp_path / name).write_text(text, encoding="latin-1" if name == "latin1" else "utf-8")
    return {name: str(tmp_path / name) for name in held}


def test_text_and_budget_table(invoke, world, files, conn) -> None:
    given = [word for name in ("system", "data", "history", "tools") for word in (f"--{name}", files[name])]
    given += ["--session", "s1"]
    result = invoke("context", "ana", "--as-of", "2026-03-05", "--policy", "brain", *given)
    assert result.exit_code == 0, result.output
    text = result.stdout
    parts = ("Be of use.", "MEMORIES (what you've", "Loves Bruno", "CURRENT DATA (blog):", "- views: 315", "TOOLS:")
    places = [text.index(part) for part in (*parts, "CONVERSATION:\nUser: Hello", "budget (tokens of", "total")]
    assert places == sorted(places)
    assert "Relationship: new, 1 sessions" in text
    assert "Note: Nothing is known of ana by key." in result.stderr
    ((form, total),) = conn.execute("select form, total_tokens from log.contexts").fetchall()
    assert (form, total > 20) == ("brain", True)


def test_the_text_alone(invoke, world) -> None:
    result = invoke("context", "ana", "--as-of", "2026-03-05", "--policy", "logic", "--text")
    assert result.stdout.startswith("<memory>\n[") and result.stdout.endswith("</memory>\n")


def test_as_json(ask, world) -> None:
    found = ask("context", "ana", "--as-of", "2026-03-05", "--mood", "sad", "--energy", "low")
    assert found["form"] == "reverie"
    assert "ADAPTATION:" in found["text"]
    assert [row["section"] for row in found["budget"]][-2:] == ["buffer", "total"]
    items = {one["name"]: one["items"] for one in found["sections"]}
    assert str(world["loves"]) in items["profile"] and str(world["loves"]) not in items["memories"]
    assert items["memories"]


@pytest.mark.parametrize(
    ("option", "file", "sentence"),
    [
        ("--data", "broken", "broken is not JSON"),
        ("--data", "history", "history is not a JSON object."),
        ("--tools", "data", "data is not a JSON array."),
        ("--history", "bare", "a turn needs role and content"),
        ("--system", "latin1", "latin1 is not a text file in UTF-8."),
    ],
)
def test_what_is_wrong_with_a_file(invoke, world, files, option: str, file: str, sentence: str) -> None:
    result = invoke("context", "ana", option, files[file])
    assert result.exit_code == 2
    assert sentence in result.stderr and option in result.stderr


def test_a_system_text_that_is_too_long(invoke, world, tmp_path: Path) -> None:
    long = tmp_path / "long"
    long.write_text("word " * 600, encoding="utf-8")
    result = invoke("context", "ana", "--system", str(long))
    assert result.exit_code != 0
    assert "its budget is 500" in result.stderr and json.dumps(result.stdout) == '""'


def test_each_line_is_explained(invoke, ask, world) -> None:
    result = invoke("context", "ana", "--as-of", "2026-03-05", "--why")
    assert result.exit_code == 0, result.output
    assert f"{str(world['loves'])[:18]}" in result.stdout.partition("lines of context")[2]
    found = ask("context", "ana", "--as-of", "2026-03-05", "--preference", "short answers")
    lines = {line["text"]: line["ids"] for line in found["lines"]}
    assert lines["- in this conversation: short answers"] == []
    assert [str(world["loves"])] in lines.values()
    explained = ask("explain", found["id"])["context"]
    assert str(world["loves"]) in {item["id"] for line in explained["lines"] for item in line["items"]}
    text = invoke("explain", found["id"]).stdout
    assert "Context of ana" in text and "Loves Bruno" in text


def test_retrieval_can_be_off_and_connections_named(ask, world) -> None:
    off = ask("context", "ana", "--as-of", "2026-03-05", "--mode", "off")
    assert "Bruno" not in off["text"]
    found = ask("context", "ana", "--as-of", "2026-03-05", "--connections", "jira-1")
    assert "Bruno" in found["text"]


def test_names_of_connections_are_stripped(ask, world, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def remember(session: Any, query: RecallQuery, **others: Any) -> Any:
        asked.append(query.filters.connections)
        return assemble_context(session, query, **others)

    monkeypatch.setattr("reverie.recall.contexts.context.assemble_context", remember)
    ask("context", "ana", "--as-of", "2026-03-05", "--connections", "jira-1, mail-1 ,")
    assert [list(names) for names in asked] == [["jira-1", "mail-1"]]
