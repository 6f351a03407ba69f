"""A user's mistakes: one sentence that says what was wrong, and the documented exit code."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Invoke


def error_of(invoke: Invoke, *arguments: str, code: int = 2) -> str:
    """The last line of what a failing command says."""
    done = invoke(*arguments)
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output.strip().splitlines()[-1]


@pytest.mark.parametrize("command", [["import", "chats.jsonl"], ["run"], ["show", "ana"], ["check"], ["simulate"]])
def test_an_empty_tenant_is_refused(invoke: Invoke, command: list[str]) -> None:
    told = error_of(invoke, *command, "--tenant", "")
    assert "the name is empty: name a tenant, or leave the option out." in told


def test_dead_letters_take_a_tenant_before_and_after_the_subcommand(invoke: Invoke, tmp_path: Path) -> None:
    history = tmp_path / "history.csv"
    history.write_text("subject_id,session_id,role,said_at,text\nana,s1,user,2026-03-01T09:00:00Z,I live in Oslo.\n")
    assert invoke("import", str(history), "--tenant", "nl").exit_code == 0
    for arguments in (["--tenant", "nl"], ["--tenant", "nl", "list"], ["list", "--tenant", "nl"]):
        done = invoke("dead-letters", *arguments)
        assert (done.exit_code, done.output.strip()) == (0, "Tenant nl has no dead letters.")


MEMORY = "019ba150-25d8-85ec-a47c-000000000000"


@pytest.mark.parametrize(
    "command",
    [
        ["dead-letters"],
        ["dead-letters", "redrive"],
        ["runs"],
        ["digest"],
        ["explain", MEMORY],
        ["undo", MEMORY],
        ["correct", MEMORY, "--wrong"],
        ["forget", MEMORY, "--yes"],
        ["pin", MEMORY],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_tenant_that_is_not_there_is_said_first(invoke: Invoke, command: list[str]) -> None:
    told = error_of(invoke, *command, "--tenant", "nobody", code=6)
    assert told == "Error: There is no tenant 'nobody': import something for it, or give --tenant."


def test_a_report_needs_a_folder(invoke: Invoke, tmp_path: Path) -> None:
    told = error_of(invoke, "report", str(tmp_path / "none" / "x.html"))
    assert told.endswith(f"there is no folder {tmp_path / 'none'}.")


def test_a_folder_is_named_as_it_was_given(invoke: Invoke) -> None:
    assert error_of(invoke, "import", ".").startswith("Error: . is a directory, ")


def test_a_port_in_use_is_a_usage_error(invoke: Invoke) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        told = error_of(invoke, "serve", "--host", "127.0.0.1", "--port", port)
    assert told.endswith(f"{port} is in use by another program.")


def test_an_unknown_subject_has_no_answer(invoke: Invoke, tmp_path: Path) -> None:
    history = tmp_path / "history.csv"
    history.write_text("subject_id,session_id,role,said_at,text\nana,s1,user,2026-03-01T09:00:00Z,I live in Oslo.\n")
    assert invoke("import", str(history)).exit_code == 0
    known = invoke("recall", "Where does she live?", "--subject", "ana")
    assert known.exit_code == 0, known.output
    told = error_of(invoke, "recall", "Where does she live?", "--subject", "anna", code=6)
    assert told.startswith("Error: Tenant acme remembers nothing about anna.")
    assert "ana" in told.rpartition("?")[0]


@pytest.mark.parametrize(
    ("command", "option"),
    [(["evaluate", "--html"], "--html"), (["fit-ranking", "--write"], "--write")],
    ids=["evaluate", "fit-ranking"],
)
def test_a_file_needs_a_folder(invoke: Invoke, tmp_path: Path, command: list[str], option: str) -> None:
    told = error_of(invoke, *command, str(tmp_path / "none" / "x"))
    assert told == f"Error: Invalid value for {option}: there is no folder {tmp_path / 'none'}."


@pytest.mark.parametrize("package", ["httpcore", "httpx", "standardwebhooks"])
def test_webhooks_without_their_extra_claim_no_message(
    invoke: Invoke, conn: psycopg.Connection, world: object, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    added = invoke("webhooks", "add", "https://example.org/hook", "--event", "memory.forgotten")
    assert added.exit_code == 0, added.output
    conn.execute("insert into ops.outbox (tenant_id, id, subscription_id, event, item_id, payload, made_at, due_at) "
                 "select 'acme', gen_random_uuid(), id, 'memory.forgotten', gen_random_uuid(), '{}', now(), now() "
                 "from ops.subscriptions")  # fmt: skip
    monkeypatch.setitem(sys.modules, package, None)
    told = error_of(invoke, "webhooks", "deliver", code=3)
    assert told.startswith(f"Error: {package} is not installed; install it with: ") and "webhooks" in told
    assert conn.execute("select attempts, leased_until from ops.outbox").fetchall() == [(0, None)]
