"""correct, forget, pin and unpin on the command line: at once, and on record with who asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from reverie.capture.live.acknowledge import TurnBatch, TurnReaders, append_turns
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.testing import DatabaseFactory, database_name
from tests.cli.conftest import command

YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).isoformat()
SAID = "My email is ana@example.com."


@pytest.fixture(scope="module")
def worked_in(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database with a memory: to copy."""
    record = {"subject_id": "ana", "session_id": "s1", "role": "user", "said_at": YESTERDAY, "text": SAID}
    path = tmp_path_factory.mktemp("one") / "one.jsonl"
    path.write_text(json.dumps(record))
    with database_factory.migrated() as url:
        for arguments in (("import", str(path)), ("run",)):
            assert command(url, *arguments).exit_code == 0
        yield database_name(url)


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return {"remembered": "worked_in"}


@pytest.fixture
def remembered(ask: Any) -> Callable[[], str]:
    """Finds the id of the memory."""

    def find(kind: str = "fact") -> str:
        (one,) = [each for each in ask("show", "ana")["subject"]["memories"] if each["kind"] == kind]
        return str(one["id"])

    return find


def told(invoke: Any) -> str:
    return "".join(
        invoke(*command).stdout
        for command in (
            ("recall", "ana", "What is my email address?"),
            ("context", "ana", "Which address?"),
            ("show", "ana"),
        )
    )


def test_a_replacement_is_told_at_once(invoke: Any, ask: Any, remembered: Any) -> None:
    email = remembered()
    assert "ana@example.com" in told(invoke)
    found = invoke("correct", email[:18], "--replace", "Email is ana@example.net", "--actor", "dana")
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("From now on")
    assert "reverie run" in found.stdout
    assert "dana" in found.stdout
    for _ in range(2):
        assert "ana@example.com" not in told(invoke)
        assert "ana@example.net" in told(invoke)
        invoke("run")
    found = invoke("explain", email).stdout
    assert "dana" in found
    assert "applied" in found
    assert "because a person marked it as wrong" in found
    assert "withheld from recall" in found


def test_forget_names_the_user_of_the_shell(ask: Any, invoke: Any, remembered: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ops-user")
    email = remembered()
    made = ask("forget", email)
    assert (made["asked"], made["actor"], made["correction"]["memory_id"]) == ("forget", "ops-user", email)
    assert "ana@example.com" not in told(invoke)
    assert "waiting for a worker" in invoke("explain", email).stdout
    invoke("run")
    assert "because a person asked for it" in invoke("explain", email).stdout
    assert "ana@example.com" not in told(invoke)


def test_a_replacement_is_taken_back(invoke: Any, ask: Any, remembered: Any) -> None:
    email, before = remembered(), told(invoke)
    made = ask("correct", email, "--replace", "Email is ana@example.net")
    assert invoke("run").exit_code == 0
    assert "ana@example.com" not in told(invoke)
    undone = invoke("undo", str(made["correction"]["replacement_id"]), "--actor", "dana")
    assert undone.exit_code == 0, undone.output
    assert undone.stdout.startswith(f"The correction of {email} is taken back. From now on")
    assert "ana@example.net" not in told(invoke), "at once"
    assert invoke("run").exit_code == 0
    assert ask("show", "ana")["subject"]["states"] == {"active": 1} and "ana@example.net" not in told(invoke)
    assert remembered() == email and "ana@example.com" in told(invoke) and "ana@example.com" in before
    explained = invoke("explain", email).stdout
    assert "taken back" in explained and "dana" in explained
    again = invoke("undo", email)
    assert again.exit_code == 6
    assert again.stderr.startswith("Error: Nothing to undo")


def test_pin_and_unpin(invoke: Any, remembered: Any) -> None:
    email = remembered()
    assert "every recall" in invoke("pin", email).stdout
    invoke("run")
    assert "kept until it is unpinned" in invoke("explain", email).stdout
    assert invoke("unpin", email).exit_code == 0
    assert "kept until" not in invoke("explain", email).stdout, "the request counts before a worker runs"
    invoke("run")
    assert "kept until" not in invoke("explain", email).stdout


def test_a_pin_that_was_inherited_is_told(invoke: Any, remembered: Any, database_url: str) -> None:
    email = remembered()
    with psycopg.connect(database_url) as conn:
        conn.execute(
            """insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, pending)
               select tenant_id, subject_id, id, gen_random_uuid(), 'memory', 'pinned', false
               from memory.memories where id = %s""",
            [email],
        )
    assert "kept until it is unpinned" in invoke("explain", email).stdout


@pytest.mark.parametrize(
    "command", [("correct", "--wrong"), ("correct", "--replace", "x"), ("forget",), ("pin",), ("unpin",)]
)
def test_an_unknown_memory_is_one_sentence(invoke: Any, remembered: Any, command: tuple[str, ...]) -> None:
    name, *options = command
    found = invoke(name, "0000000000", *options)
    assert found.exit_code == 6
    assert found.stderr.strip() == "Error: Tenant acme has never had a memory 0000000000."


@pytest.mark.parametrize("options", [(), ("--wrong", "--replace", "x")])
def test_correct_needs_one_of_two(invoke: Any, remembered: Any, options: tuple[str, ...]) -> None:
    found = invoke("correct", remembered(), *options)
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
    (hit,) = ask("recall", "email", "--subject", "ana")["hits"]
    assert (hit["content"], hit["fresh"]) == (SAID, True)
    assert "(said just now)" in invoke("recall", "email", "--subject", "ana").stdout
    (fact,) = [one for one in turn.noticed.candidates if one.kind == "fact"]
    assert invoke("correct", str(fact.id), "--replace", "Email is ana@example.net").exit_code == 0
    assert "ana@example.com" not in told(invoke)
    assert invoke("forget", "019b8d6a-7f10-8c41-9a2b-1c6a3f1d2e4f").exit_code == 6


def test_forget_shows_the_memory_and_asks(ask: Any, invoke: Any, remembered: Any, monkeypatch: Any) -> None:
    email = remembered()
    refused = invoke("forget", email[:18])
    assert refused.exit_code == 2
    assert email in refused.stderr
    assert "--yes" in refused.stderr
    monkeypatch.setattr("reverie.cli.memory.correcting._is_terminal", lambda: True)
    declined = invoke("forget", email[:18])
    assert "ana@example.com" in declined.output
    assert declined.exit_code == 1
    assert "ana@example.com" in told(invoke)
    monkeypatch.undo()
    assert invoke("forget", email[:18], "--yes").exit_code == 0
    assert "ana@example.com" not in told(invoke)


def test_forget_says_that_a_memory_is_forgotten(invoke: Any, remembered: Any, monkeypatch: Any) -> None:
    email = remembered()
    assert invoke("forget", email, "--yes").exit_code == 0 and invoke("run").exit_code == 0
    monkeypatch.setattr("reverie.cli.memory.correcting._is_terminal", lambda: True)
    asked = invoke("forget", email, answers="y\n")
    assert "a memory that is already forgotten" in asked.output and asked.exit_code == 0, asked.output
