"""`reverie erase` and `reverie receipts`: what was said is gone, and a receipt says so."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from reverie.testing import DatabaseFactory, database_name
from tests.cli.conftest import command


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return {"said": "worked_in"}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two subjects, in the log and in memory; the file that was imported."""
    turns = [
        ("ana", "chat-1", "1", "I have a golden retriever called Rex."),
        ("ana", "chat-1", "2", "I live in Mumbai."),
        ("ana", "chat-2", "1", "I can't stand coffee."),
        ("ben", "chat-1", "1", "I work at Infosys."),
    ]
    file = tmp_path_factory.mktemp("said") / "said.jsonl"
    lines = [
        {"subject_id": subject, "session_id": session, "source_id": source, "role": "user", "text": text}
        | {"said_at": f"2026-03-01T09:0{place}:00Z"}
        for place, (subject, session, source, text) in enumerate(turns)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


@pytest.fixture(scope="module")
def worked_in(said: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """The name of a database with what they said: to copy."""
    with database_factory.migrated() as url:
        for arguments in (("import", said), ("run", "--as-of", "2026-03-02")):
            assert command(url, *arguments).exit_code == 0
        yield database_name(url)


def counted(ask, subject: str) -> int:
    found = [each for each in ask("subjects")["subjects"] if each["subject_id"] == subject]
    return found[0]["turns"] if found else 0


def test_a_subject_is_erased_with_a_receipt(invoke, ask, said) -> None:
    planned = ask("erase", "ana", "--dry-run")
    assert (planned["turns"], planned["receipts"], counted(ask, "ana")) == (3, [], 3)
    done = ask("erase", "ana", "--yes", "--actor", "support: Dana")
    assert done["counts"] == planned["counts"], "the preview counts what is erased"
    assert (done["turns"], done["receipts"], counted(ask, "ana"), counted(ask, "ben")) == (3, [1], 0, 1)
    again = ask("erase", "ana", "--yes")
    assert (again["turns"], again["erased_before"]) == (0, 1)
    found = ask("receipts", "--verify")
    assert found["holds"] and [each["kind"] for each in found["receipts"]] == ["subject"]
    assert found["receipts"][0]["actor"] == "support: Dana"
    assert "ana" not in json.dumps(found["receipts"][0]["counts"])
    (again,) = ask("import", said)["files"]
    assert (again["imported"], again["dead_erased"], again["repeated"]) == (0, 3, 1)
    letters = ask("dead-letters", "list", "--each")["dead_letters"]
    assert [(each["reason"], each["size"]) for each in letters] == [("erased", 0)] * 3, "without content"


def test_a_dead_letter_of_a_subject_that_only_the_import_named_goes(invoke, ask, said, tmp_path) -> None:
    file = tmp_path / "whose.jsonl"
    file.write_text('{"session_id": "s", "role": "user", "text": "Hidden words", "said_at": "once"}')
    invoke("import", str(file), "--subject", "ana")
    (letter,) = ask("dead-letters", "list", "--each")["dead_letters"]
    assert letter["reason"] == "bad_time" or letter["size"] > 0
    assert ask("erase", "ana", "--yes")["counts"]["ops.dead_letters"] == 1


def test_dead_letters_alone_are_erased_too(invoke, ask, said, tmp_path) -> None:
    file = tmp_path / "eva.jsonl"
    letter = {"subject_id": "eva", "session_id": "e1", "role": "user", "text": "Hidden", "said_at": "2026-03-01T09:00"}
    file.write_text("".join(json.dumps(letter | {"session_id": session}) + "\n" for session in ("e1", "e2", "e3")))
    invoke("import", str(file))
    assert ask("erase", "eva", "--session", "e2", "--yes")["counts"] == {"ops.dead_letters": 1}
    assert ask("erase", "eva", "--yes")["counts"] == {"ops.dead_letters": 2}
    assert ask("erase", "eva", "--yes")["erased_before"] == 2


def test_a_consent_alone_is_exported_and_erased_unless_it_refuses(invoke, ask, said, tmp_path) -> None:
    ask("consent", "nobody", "--capture", "off")
    assert "Nothing is kept" in invoke("erase", "nobody", "--yes").stderr, "the refusal goes on"
    ask("consent", "nobody", "--capture", "on")
    assert ask("export", "nobody", "--output", str(tmp_path / "out"))["counts"] == {"ops.consents": 1}
    assert ask("erase", "nobody", "--yes")["counts"] == {"ops.consents": 1}
    assert ask("erase", "nobody", "--yes")["erased_before"] == 1


def test_without_yes_it_shows_and_asks(invoke, ask, said) -> None:
    result = invoke("erase", "ana", "--session", "chat-1")
    assert result.exit_code == 1, "nobody answered"
    assert "Erase session ana chat-1, 2 turns in all? It cannot be undone." in result.stderr
    assert counted(ask, "ana") == 3


def test_a_session_goes_and_the_rest_is_made_again(invoke, ask, said) -> None:
    planned = invoke("erase", "ana", "--session", "chat-1", "--dry-run")
    assert "Memory of ana would be rebuilt from the rest of the log." in planned.stdout
    done = invoke("erase", "ana", "--session", "chat-1", "--yes")
    assert done.exit_code == 0, done.output
    assert "Memory of ana was rebuilt from the rest of the log." in done.stdout and "Receipt 1:" in done.stdout
    memories = json.dumps(ask("show", "ana", "--as-of", "2026-03-02"))
    assert "coffee" in memories and "Rex" not in memories and "Mumbai" not in memories


def test_a_turn_and_the_turns_of_a_memory_go(ask, said) -> None:
    memories = ask("show", "ana", "--as-of", "2026-03-02")["subject"]["memories"]
    dog = next(each["id"] for each in memories if "Rex" in each["content"])
    assert ask("erase", "--memory", dog, "--yes")["turns"] == 1
    home = next(each["id"] for each in memories if "Mumbai" in each["content"])
    turn = ask("explain", home)["memory"]["turns"][0]["id"]
    assert ask("erase", "--turn", turn, "--yes")["turns"] == 1
    assert [each["kind"] for each in ask("receipts")["receipts"]] == ["memory", "turn"]


def test_the_ids_that_show_and_explain_print_name_what_to_erase(invoke, ask, said) -> None:
    lines = invoke("show", "ana", "--as-of", "2026-03-02").stdout.splitlines()
    (dog,) = {word for line in lines if "Rex" in line for word in line.split() if _is_id(word)}
    turn = invoke("explain", dog).stdout.partition(", turn ")[2].split()[0].rstrip(",")
    assert ask("erase", "--turn", turn, "--dry-run")["turns"] == 1
    assert ask("erase", "--memory", dog, "--yes")["turns"] == 1
    assert "has never had a memory" in invoke("erase", "--memory", dog, "--yes").stderr
    assert "not the id of a memory" in invoke("erase", "--memory", "Rex", "--yes").stderr


def _is_id(word: str) -> bool:
    return word.count("-") == 3 and word.startswith("019")


def test_a_tenant_goes_and_its_receipts_stay(invoke, ask, said) -> None:
    done = ask("erase", "--whole-tenant", "--yes")
    assert done["turns"] == 4 and done["counts"]["ops.tenants"] == 1
    assert ask("tenants")["tenants"] == []
    assert [each["kind"] for each in ask("receipts", "--verify")["receipts"]] == ["tenant", "tenant"]


def test_what_was_stored_while_a_tenant_went_can_be_erased(invoke, ask, said, conn) -> None:
    ask("erase", "--whole-tenant", "--yes")
    assert "There is no tenant" in invoke("erase", "--whole-tenant", "--yes").stderr
    conn.execute(
        "insert into ops.pending_turns (tenant_id, subject_id, session_id, source_id, id, role, said_at, text,"
        " content_hash) values ('acme', 'ana', 's', '1', gen_random_uuid(), 'user', now(), 'I live in Pune.', '')"
    )
    assert ask("erase", "--whole-tenant", "--dry-run")["receipts"] == []
    assert ask("erase", "--whole-tenant", "--yes")["turns"] == 1
    assert conn.execute("select from ops.pending_turns").fetchall() == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name what to erase"),
        (["ana", "--whole-tenant"], "Name one thing to erase, not SUBJECT and --whole-tenant."),
        (["ana", "--shared"], "--shared goes with --memory"),
        (["ana", "--json"], "--json cannot ask for confirmation"),
        (["--replay", "receipts.jsonl", "--dry-run"], "--dry-run needs something to erase"),
        (["--vacuum", "--dry-run"], "--dry-run needs something to erase"),
        (["--dry-run"], "--dry-run needs something to erase"),
    ],
)
def test_a_mistake_is_told(invoke, arguments, sentence) -> None:
    result = invoke("erase", *arguments)
    assert result.exit_code == 2 and sentence in result.stderr


def test_what_is_not_there_is_told(invoke, said) -> None:
    result = invoke("erase", "anna", "--yes")
    assert result.exit_code == 6 and "Did you mean 'ana'?" in result.stderr
    result = invoke("erase", "--session", "chat-1", "--yes")
    assert result.exit_code == 2 and "2 subjects have a session 'chat-1'" in result.stderr


def test_a_restored_database_is_told_what_was_erased(
    invoke, ask, said, database_factory, database_url, tmp_path
) -> None:
    invoke("clock", "--stop-at", "2026-03-02")
    with database_factory.copy(database_name(database_url)) as backup:
        restored = {"DATABASE_URL": backup}
        ask("erase", "ben", "--yes")
        ask("erase", "ana", "--session", "chat-1", "--yes")
        receipts = tmp_path / "receipts.jsonl"
        assert invoke("receipts", "--export", str(receipts)).exit_code == 0
        assert "ben" not in receipts.read_text() and "Rex" not in receipts.read_text()

        def told(*arguments: str) -> dict:
            result = invoke(*arguments, "--json", env=restored)
            assert result.exit_code == 0, result.output
            return json.loads(result.stdout)

        assert told("erase", "--replay", str(receipts))["turns"] == 3
        assert [each["subject_id"] for each in told("subjects")["subjects"]] == ["ana"]
        assert told("digest")["sha256"] == ask("digest")["sha256"]
        assert told("receipts", "--verify")["last_hash"] == ask("receipts")["last_hash"]
        assert told("import", said)["files"][0]["dead_erased"] == 3
        assert told("erase", "--replay", str(receipts))["turns"] == 0, "repeated, nothing is left to do"
        told("erase", "ana", "--yes")
        refused = invoke("erase", "--replay", str(receipts), env=restored)
        assert refused.exit_code == 9 and "receipts that the file lacks" in refused.stderr
    for content, sentence in (
        ("{}", "is not a file of receipts"),
        (receipts.read_text().replace('"turn"', '"memory"'), ""),
    ):
        other = tmp_path / "other.jsonl"
        other.write_text(content)
        result = invoke("erase", "--replay", str(other))
        assert result.exit_code in (0, 2) and sentence in result.stderr


def test_a_subject_that_does_not_exist_has_no_dead_letters(invoke, ask, said, tmp_path) -> None:
    """Values of other subjects' records, such as a role or a number, may be its name."""
    file = tmp_path / "letters.jsonl"
    letter = {"session_id": "e1", "role": "user", "turn_index": 1, "said_at": "2026-03-01T09:00", "text": "eva"}
    file.write_text(json.dumps(letter))
    invoke("import", str(file), "--subject", "ben")
    file.write_text(json.dumps(letter | {"subject_id": "ben"}))
    invoke("import", str(file))
    for name in ("user", "1", "eva"):
        assert "Nothing is kept about subject" in invoke("erase", name, "--yes").stderr
    assert ask("erase", "ben", "--yes")["counts"]["ops.dead_letters"] == 2
