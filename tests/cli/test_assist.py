"""`reverie assist`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import insert

NO_MODEL = {"REVERIE_EMBEDDING_MODEL": "none"}


def test_states_are_listed_from_a_place_on(invoke, ask, world, conn) -> None:
    insert(conn, "memory.subjects", subject_id="ana")
    (state,) = ask("assist", "states")["states"]
    assert (state["subject_id"], state["version"]) == ("ana", 1)
    assert [rule["content"] for rule in state["state"]["rules"]] == ["Loves Bruno"]
    printed = invoke("assist", "states", "ana").stdout
    assert "ana" in printed and "reverie assist states --after 1" in printed
    assert ask("assist", "states", "--after", "1")["states"] == []


def test_an_inbox_is_read_from_a_file(invoke, world, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(json.dumps({"id": str(n), "text": f"Item {n}"}) for n in (1, 2)), encoding="utf-8")
    result = invoke("assist", "inbox", str(path), "--subject", "ana", env=NO_MODEL)
    assert result.exit_code == 0 and "Item 2" in result.stdout, result.output
    path.write_bytes('{"id": "1", "text": "One\u2028item"}\r\n{"id": "2", "text": "Another"}\r\n'.encode())
    result = invoke("assist", "inbox", str(path), "--subject", "ana", env=NO_MODEL)
    assert result.exit_code == 0 and "Another" in result.stdout, result.output
    path.write_text('{"id": "1", "text": "x"}\n{"id": "2", "body": "x"}\n', encoding="utf-8")
    refused = invoke("assist", "inbox", str(path), "--subject", "ana", env=NO_MODEL)
    assert refused.exit_code == 2 and "line 2: text: Field required" in refused.output


def test_an_answer_of_a_replica_says_its_age(invoke, world, monkeypatch, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"id": "1", "text": "One"}\n{"id": "2", "text": "Two"}\n', encoding="utf-8")
    monkeypatch.setattr("reverie.runtime.Runtime.read_notes", lambda _: ("Read from a replica.",))
    for name, asked in (("tools", "Which dog?"), ("lessons", "Which dog?"), ("inbox", str(path))):
        result = invoke("assist", name, asked, "--subject", "ana", env=NO_MODEL)
        assert result.exit_code == 0 and "Note: Read from a replica." in result.output, result.output


def test_tools_and_lessons_say_what_is_missing(invoke, world) -> None:
    for name in ("tools", "lessons"):
        result = invoke("assist", name, "Shall we walk the dog in the park?", "--subject", "ana", env=NO_MODEL)
        assert result.exit_code == 0 and "No embedding model" in result.output, result.output
