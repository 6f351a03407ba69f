"""`reverie export`: a person or a tenant as files; elsewhere the same memory is made of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie.testing import DatabaseFactory, database_name
from tests.cli.conftest import asking
from tests.conftest import Databases
from tests.promises.compact import UNTIL, write_history

AS_OF = UNTIL.isoformat()
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return {"lived": "worked_in"}


@pytest.fixture(scope="module")
def worked_in(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database with two subjects of half a year, recalled, corrected and observed: to copy."""
    history = write_history(tmp_path_factory.mktemp("export") / "history.jsonl")
    with database_factory.migrated() as url:
        ask = asking(url)
        ask("import", str(history))
        ask("run", "--as-of", "2026-03-01")
        ask("recall", "what dog?", "--subject", "ana", "--as-of", "2026-03-01")
        memories = ask("show", "ana", "--as-of", "2026-03-01")["subject"]["memories"]
        dog = next(each["id"] for each in memories if "Rex" in each["content"])
        ask("correct", dog, "--replace", "Has a beagle named *Max*", "--as-of", "2026-03-01T01:00", "--actor", "sam")
        ask("consent", "ana", "--retain-days", "3650")
        ask("run", "--as-of", AS_OF)
        yield database_name(url)


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """A folder for exports of them."""
    return tmp_path


@pytest.fixture
def elsewhere(databases: Databases) -> Iterator[Ask]:
    """Run commands on another database."""
    with databases() as url:
        yield asking(url)


def test_a_tenant_moves_to_another_server(ask: Ask, elsewhere: Ask, lived: Path) -> None:
    made = ask("export", "--output", str(lived / "out"))
    assert made["counts"]["log.turns"] > 30 and made["counts"]["memory.lineage"] > 0
    (taken,) = elsewhere("import", str(lived / "out" / "log.jsonl"))["files"]
    assert (taken["imported"], taken["outcomes"]) == (made["counts"]["log.turns"], made["counts"]["log.outcomes"])
    elsewhere("run", "--as-of", AS_OF)
    assert elsewhere("digest") == ask("digest")
    (again,) = elsewhere("import", str(lived / "out" / "log.jsonl"))["files"]
    assert (again["imported"], again["repeated"]) == (0, taken["read"])


def test_a_person_who_refuses_capture_moves_with_what_was_said_before(ask: Ask, elsewhere: Ask, lived: Path) -> None:
    ask("consent", "ben", "--capture", "off")
    made = ask("export", "--output", str(lived / "out"))
    (taken,) = elsewhere("import", str(lived / "out" / "log.jsonl"))["files"]
    assert (taken["imported"], taken["outcomes"]) == (made["counts"]["log.turns"], made["counts"]["log.outcomes"])
    elsewhere("run", "--as-of", AS_OF)
    assert elsewhere("digest") == ask("digest")
    assert {each["subject_id"]: each["capture"] for each in elsewhere("consent")["consents"]}["ben"] is False


def test_a_person_is_taken_elsewhere_and_can_be_read(ask: Ask, elsewhere: Ask, lived: Path) -> None:
    made = ask("export", "ana", "--output", str(lived / "out"))
    page = (lived / "out" / "person.md").read_text()
    assert page.startswith("# What is kept about ana\n")
    for part in ("kept for 3650 days", "Has a beagle named \\*Max\\*", "## Conversations", "by sam, replace"):
        assert part in page, part
    assert "Infosys" not in "".join((lived / "out" / name).read_text() for name in ("log.jsonl", "memory.jsonl"))
    elsewhere("import", str(lived / "out" / "log.jsonl"))
    elsewhere("run", "--as-of", AS_OF)
    assert elsewhere("consent", "ana")["consents"][0]["retain_days"] == 3650
    ask("erase", "ben", "--yes")
    assert elsewhere("digest")["sha256"] == ask("digest")["sha256"]
    assert made["files"][-1].endswith("person.md")


def test_what_was_erased_is_not_taken_from_an_export(ask: Ask, lived: Path) -> None:
    ask("export", "ana", "--output", str(lived / "out"))
    erased = ask("erase", "ana", "--yes")["turns"]
    (taken,) = ask("import", str(lived / "out" / "log.jsonl"))["files"]
    assert (taken["imported"], taken["outcomes"]) == (0, 0) and taken["skipped_refused"] >= erased


@pytest.mark.parametrize("logged", [0, 1])
def test_turns_that_wait_are_in_it(logged: int, ask: Ask, conn, elsewhere: Ask, lived: Path) -> None:
    if logged:
        turn = {"subject_id": "cyd", "session_id": "then", "source_id": "s0", "role": "user", "text": "Hello."}
        (lived / "logged.jsonl").write_text(json.dumps(turn | {"said_at": "2026-04-01T00:00Z"}))
        ask("import", str(lived / "logged.jsonl"))
    conn.execute(
        """insert into ops.pending_turns (tenant_id, subject_id, session_id, source_id, id, role, said_at, text,
                                          content_hash)
           values ('acme', 'cyd', 'now', 's1', '019e0000-0000-8000-8000-000000000000', 'user', '2026-05-01Z',
                   'I live in Oslo.', '\\x00')"""
    )
    ask("export", "cyd", "--output", str(lived / "out"))
    (taken,) = elsewhere("import", str(lived / "out" / "log.jsonl"))["files"]
    assert taken["imported"] == logged + 1


def test_mistakes_are_told(invoke, ask: Ask, lived: Path) -> None:
    (lived / "full").mkdir()
    (lived / "full" / "file").write_text("x")
    result = invoke("export", "ana", "--output", str(lived / "full"))
    assert result.exit_code == 2 and "is not empty" in result.stderr
    result = invoke("export", "anna", "--output", str(lived / "none"))
    assert result.exit_code == 6 and "Did you mean 'ana'?" in result.stderr
    ask("export", "ana", "--output", str(lived / "out"))
    log = lived / "out" / "log.jsonl"
    result = invoke("import", str(log), "--tenant", "other")
    assert result.exit_code == 2 and "is from tenant 'acme'" in result.stderr
    log.write_text(log.read_text() + '{"table": "ops.api_keys", "row": {}}\n')
    result = invoke("import", str(log))
    assert result.exit_code == 2 and "is not a row of an export" in result.stderr
