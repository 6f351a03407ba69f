"""dead-letters: the list quotes nobody, and one letter is shown with its record when it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

WORDS = "my password is hunter2"


@pytest.fixture
def letters(invoke, tmp_path: Path) -> None:
    record = {"subject_id": "ana", "session_id": "s1", "role": WORDS, "said_at": WORDS, "text": "Hello."}
    file = tmp_path / "chats.jsonl"
    file.write_text(json.dumps(record) + "\n" + json.dumps(record | {"role": "user", "text": "Bye.\x1b[31m"}) + "\n")
    invoke("import", str(file))


def test_the_list_quotes_nobody(invoke, ask, letters) -> None:
    listed = ask("dead-letters", "list")["dead_letters"]
    assert [each["reason"] for each in listed] == ["unknown_role", "impossible_time"]
    assert "hunter2" not in json.dumps(listed)
    for way in ((), ("--each",)):
        assert "hunter2" not in invoke("dead-letters", "list", *way).stdout
    assert listed[0]["id"] in invoke("dead-letters", "list", "--each").stdout
    assert listed[0]["detail"].startswith("role is a text of 22 characters; expected one of user,")


def test_json_lists_every_record_and_people_get_the_first_fifty(invoke, ask, tmp_path: Path) -> None:
    record = {"subject_id": "ana", "session_id": "s1", "role": "user", "said_at": "2026-03-01T09:00", "text": "Hello."}
    file = tmp_path / "many.jsonl"
    file.write_text("".join(json.dumps(record | {"source_id": str(number)}) + "\n" for number in range(51)))
    invoke("import", str(file))
    assert len(ask("dead-letters", "list")["dead_letters"]) == 51
    assert len(ask("dead-letters", "list", "--each", "--limit", "3")["dead_letters"]) == 3
    assert "50 of 51." in invoke("dead-letters", "list", "--each").stdout
    assert "reverie dead-letters list --each" in invoke("dead-letters").stdout


def test_one_is_shown_with_its_record(invoke, ask, letters) -> None:
    first, second = (each["id"] for each in ask("dead-letters", "list")["dead_letters"])
    shown = ask("dead-letters", "show", first)["dead_letter"]
    assert json.loads(shown["record"])["role"] == "my password is [redacted]", "a secret is in no dead letter either"
    assert (shown["source"], shown["line"], shown["reason"]) == ("chats.jsonl", 1, "unknown_role")
    text = invoke("dead-letters", "show", second.replace("-", "")[:20]).stdout
    assert "my password is" in text and "hunter2" not in text
    assert "impossible_time" in text
    assert "\x1b" not in text
    for wrong, code, says in [
        ("00000000", 2, "Several dead letters begin with"),
        ("019f" * 8, 6, "has no dead letter"),
        ("nonsense", 2, "is not the id of a dead letter"),
    ]:
        result = invoke("dead-letters", "show", wrong)
        assert (result.exit_code, says in result.stderr) == (code, True), result.stderr
    assert invoke("dead-letters", "show", first, "--tenant", "globex").exit_code == 6


def test_a_filter_that_finds_none_says_what_there_is(invoke, letters) -> None:
    told = invoke("dead-letters", "list", "--reason", "typo").stdout
    assert told == (
        "Tenant acme has no dead letters for the reason typo; there are some for impossible_time, unknown_role.\n"
    )
    told = invoke("dead-letters", "list", "--file", "other.csv").stdout
    assert told == "Tenant acme has no dead letters from other.csv.\n"


def test_letters_of_a_mended_file_are_dropped(invoke, ask, letters, tmp_path: Path) -> None:
    """A line with other content is another record, whose import ends no letter."""
    record = {"subject_id": "ana", "session_id": "s1", "role": "user", "said_at": "2026-03-01T09:00Z", "text": "Hello."}
    file = tmp_path / "chats.jsonl"
    file.write_text(json.dumps(record) + "\n" + json.dumps(record | {"text": "Bye."}) + "\n")
    (done,) = ask("import", str(file))["files"]
    assert (done["imported"], done["resolved"], len(ask("dead-letters", "list")["dead_letters"])) == (2, 0, 2)
    assert "reverie dead-letters drop --file NAME" in invoke("dead-letters").stdout
    refused = invoke("dead-letters", "drop", "--file", "chats.jsonl", answers="n\n")
    assert refused.exit_code != 0 and "Delete 2 dead letters of tenant acme" in refused.stderr
    assert "impossible_time 1" in refused.stderr and "hunter2" not in refused.output
    assert ask("dead-letters", "drop", "--reason", "typo") == {"tenant_id": "acme", "dropped": 0, "by_reason": {}}
    (first, second) = (each["id"] for each in ask("dead-letters", "list")["dead_letters"])
    dropped = ask("dead-letters", "drop", first.replace("-", ""), "--yes")
    assert dropped == {"tenant_id": "acme", "dropped": 1, "by_reason": {"unknown_role": 1}}
    assert [each["id"] for each in ask("dead-letters", "list")["dead_letters"]] == [second]
    assert invoke("dead-letters", "drop", "--file", "chats.jsonl", "--yes").stdout == "1 dead letters deleted.\n"
    assert invoke("dead-letters").stdout == "Tenant acme has no dead letters.\n"


def test_only_named_letters_of_records_are_dropped(invoke, conn, letters) -> None:
    for wrong in ((), ("0000", "--reason", "conflict")):
        result = invoke("dead-letters", "drop", *wrong, "--yes")
        assert result.exit_code == 2 and "Name the id of a dead letter" in result.stderr
    conn.execute(
        "insert into ops.dead_letters (tenant_id, id, source, reason, detail, subject_id, session_id) values "
        "('acme', 'a0000000-0000-8000-8000-000000000001', 'stage:embed', 'stage_failed', 'd', 'ana', null), "
        "('acme', 'a0000000-0000-8000-8000-000000000002', 'queue', 'not_worked_in', 'd', 'ana', 's1')"
    )
    for named in (("a0000000-0000-8000-8000-000000000001",), ("--file", "queue"), ("--reason", "stage_failed")):
        result = invoke("dead-letters", "drop", *named, "--yes")
        assert result.exit_code == 2 and "redrive" in result.stderr
    assert conn.execute("select count(*) from ops.dead_letters").fetchone() == (4,)
