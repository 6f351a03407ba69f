"""correct, forget, pin and unpin on the command line: at once, and on record with who asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.live.acknowledge import TurnBatch, TurnReaders, append_turns
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant

YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).isoformat()
SAID = "I have a golden retriever named Bruno."


@pytest.fixture
def bruno(invoke: Any, ask: Any, tmp_path: Path) -> Callable[[], str]:
    """A memory, and how to find its id."""
    record = {"subject_id": "ana", "session_id": "s1", "role": "user", "said_at": YESTERDAY, "text": SAID}
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(record))
    assert invoke("import", str(path)).exit_code == 0
    assert invoke("run").exit_code == 0

    def find(kind: str = "fact") -> str:
        (one,) = [each for each in ask("show", "ana")["subject"]["memories"] if each["kind"] == kind]
        return str(one["id"])

    return find


def told(invoke: Any) -> str:
    return "".join(
        invoke(*command).stdout
        for command in (("recall", "ana", "What dog do I have?"), ("context", "ana", "Which dog?"), ("show", "ana"))
    )


def test_a_replacement_is_told_at_once(invoke: Any, ask: Any, bruno: Any) -> None:
    dog = bruno()
    assert "retriever" in told(invoke)
    found = invoke("correct", dog[:18], "--replace", "Has a beagle named Bruno", "--actor", "dana")
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("From now on")
    assert "reverie run" in found.stdout
    assert "dana" in found.stdout
    for _ in range(2):
        assert "retriever" not in told(invoke)
        assert "beagle" in told(invoke)
        invoke("run")
    found = invoke("explain", dog).stdout
    assert "dana" in found
    assert "applied" in found
    assert "because a person marked it as wrong" in found
    assert "withheld from recall" in found


def test_forget_names_the_user_of_the_shell(ask: Any, invoke: Any, bruno: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ops-user")
    dog = bruno()
    made = ask("forget", dog)
    assert (made["asked"], made["actor"], made["correction"]["memory_id"]) == ("forget", "ops-user", dog)
    assert "retriever" not in told(invoke)
    assert "waiting for a worker" in invoke("explain", dog).stdout
    invoke("run")
    assert "because a person asked for it" in invoke("explain", dog).stdout
    assert "retriever" not in told(invoke)


def test_a_replacement_is_taken_back(invoke: Any, ask: Any, bruno: Any) -> None:
    dog, before = bruno(), told(invoke)
    made = ask("correct", dog, "--replace", "Has a beagle named Bruno")
    assert invoke("run").exit_code == 0
    assert "retriever" not in told(invoke)
    undone = invoke("undo", str(made["correction"]["replacement_id"]), "--actor", "dana")
    assert undone.exit_code == 0, undone.output
    assert undone.stdout.startswith(f"The correction of {dog} is taken back. From now on")
    assert "beagle" not in told(invoke), "at once"
    assert invoke("run").exit_code == 0
    assert ask("show", "ana")["subject"]["states"] == {"active": 1} and "beagle" not in told(invoke)
    assert bruno() == dog and "retriever" in told(invoke) and "retriever" in before
    explained = invoke("explain", dog).stdout
    assert "taken back" in explained and "dana" in explained
    again = invoke("undo", dog)
    assert again.exit_code == 6
    assert again.stderr.startswith("Error: Nothing to undo")


def test_pin_and_unpin(invoke: Any, bruno: Any) -> None:
    dog = bruno()
    assert "every recall" in invoke("pin", dog).stdout
    invoke("run")
    assert "kept until it is unpinned" in invoke("explain", dog).stdout
    assert invoke("unpin", dog).exit_code == 0
    invoke("run")
    assert "kept until" not in invoke("explain", dog).stdout


@pytest.mark.parametrize(
    "command", [("correct", "--wrong"), ("correct", "--replace", "x"), ("forget",), ("pin",), ("unpin",)]
)
def test_an_unknown_memory_is_one_sentence(invoke: Any, bruno: Any, command: tuple[str, ...]) -> None:
    name, *options = command
    found = invoke(name, "0000000000", *options)
    assert found.exit_code == 6
    assert found.stderr.strip() == "Error: Tenant acme has never had a memory 0000000000."


@pytest.mark.parametrize("options", [(), ("--wrong", "--replace", "x")])
def test_correct_needs_one_of_two(invoke: Any, bruno: Any, options: tuple[str, ...]) -> None:
    found = invoke("correct", bruno(), *options)
    assert found.exit_code == 2
    assert "Give either --wrong or --replace TEXT." in found.stderr


def test_what_was_said_a_moment_ago(invoke: Any, ask: Any, database_url: str) -> None:
    with Store.open(database_url, size=1) as store:
        with store.transaction("acme") as conn:
            ensure_tenant(conn, "acme", "reverie")
        said = append_turns(
            store.session("acme"),
            TurnBatch(records=[{"role": "user", "text": SAID}], subject_id="ana", session_id="s1"),
            policy=load_policy("reverie"), as_of=datetime.now(UTC), readers=TurnReaders(count_tokens=len),
        )  # fmt: skip
        (turn,) = perform(said).turns
    (hit,) = ask("recall", "golden retriever", "--subject", "ana")["hits"]
    assert (hit["content"], hit["fresh"]) == (SAID, True)
    assert "(said just now)" in invoke("recall", "golden retriever", "--subject", "ana").stdout
    (fact,) = [one for one in turn.noticed.candidates if one.kind == "fact"]
    assert invoke("correct", str(fact.id), "--replace", "Has a beagle named Bruno").exit_code == 0
    assert "retriever" not in told(invoke)
    assert invoke("forget", "019b8d6a-7f10-8c41-9a2b-1c6a3f1d2e4f").exit_code == 6


def test_forget_shows_the_memory_and_asks(ask: Any, invoke: Any, bruno: Any, monkeypatch: Any) -> None:
    dog = bruno()
    refused = invoke("forget", dog[:18])
    assert refused.exit_code == 2
    assert dog in refused.stderr
    assert "--yes" in refused.stderr
    monkeypatch.setattr("reverie.cli.memory.correcting._is_terminal", lambda: True)
    declined = invoke("forget", dog[:18])
    assert "retriever" in declined.output
    assert declined.exit_code == 1
    assert "retriever" in told(invoke)
    monkeypatch.undo()
    assert invoke("forget", dog[:18], "--yes").exit_code == 0
    assert "retriever" not in told(invoke)
