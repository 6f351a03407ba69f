"""import and dead-letters: files in, what could not go in, another try."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.capture.test_foreign import MEM0

GOOD = {
    "subject_id": "ana",
    "session_id": "s1",
    "role": "user",
    "said_at": "2026-03-01T09:00:00Z",
    "text": "I love tea.",
}


def write(path: Path, *records: dict | str) -> Path:
    path.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in records))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    naive = GOOD | {"source_id": "3", "said_at": "2026-03-01T09:05:00"}
    return write(tmp_path / "chat.jsonl", GOOD | {"source_id": "1"}, "{broken", naive)


@pytest.fixture
def tolerable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of three records may lose one for a reason."""
    monkeypatch.setattr("reverie.capture.history.cures.TOLERATED", 0.4)


@pytest.mark.usefixtures("tolerable")
def test_import_counts_everything(invoke, ask, file: Path) -> None:
    result = invoke("import", str(file))
    assert result.exit_code == 0, result.output
    assert "3 records read" in result.stdout
    assert "1 new of 1 subjects in 1 sessions" in result.stdout
    assert "2 became dead letters" in result.stdout
    assert "naive_time" in result.stdout
    (again,) = ask("import", str(file))["files"]
    assert (again["read"], again["imported"], again["repeated"], again["dead"]) == (3, 0, 1, 2)
    assert again["dead_naive_time"] == 1
    assert again["first"] == "2026-03-01T09:00:00+00:00"


@pytest.mark.usefixtures("tolerable")
def test_import_goes_on_after_a_file_that_is_none(invoke, file: Path, tmp_path: Path) -> None:
    result = invoke("import", str(tmp_path), str(tmp_path / "no.jsonl"), str(file))
    assert result.exit_code == 2
    assert "1 new of 1 subjects" in result.stdout
    assert result.stderr.count("Error: ") == 2
    assert "is a directory" in result.stderr
    assert "There is no file" in result.stderr


def test_import_says_what_to_do_when_nothing_went_in(invoke, tmp_path: Path) -> None:
    result = invoke("import", str(write(tmp_path / "b.jsonl", GOOD | {"tenant_id": "beta"})))
    assert result.exit_code == 2
    assert "belong to 'beta', not 'acme'" in result.stderr
    assert "--map tenant_id=NONE" in result.stderr
    assert invoke("import", str(tmp_path / "b.jsonl"), "--map", "tenant_id=NONE").exit_code == 0
    assert invoke("import", str(tmp_path / "b.jsonl"), "--tenant", "beta").exit_code == 0


def test_import_maps_fields_and_zones(ask, tmp_path: Path) -> None:
    path = tmp_path / "chat.csv"
    path.write_text("user,session_id,role,created,text\nana,s1,user,2026-03-01 09:00,I love tea.\n")
    options = ("--map", "subject_id=user", "--map", "said_at=created", "--timezone", "Europe/Berlin")
    (found,) = ask("import", str(path), *options)["files"]
    assert (found["imported"], found["first"]) == (1, "2026-03-01T08:00:00+00:00")


@pytest.mark.usefixtures("tolerable")
def test_a_new_tenant_gets_the_policy_of_the_environment(invoke, conn, file: Path) -> None:
    assert invoke("import", str(file), env={"REVERIE_POLICY": "brain"}).exit_code == 0
    assert invoke("import", str(file), env={"REVERIE_POLICY": "agent"}).exit_code == 0
    assert conn.execute("select tenant_id, policy from ops.tenants").fetchall() == [("acme", "brain")]


def test_dead_letters_are_listed_and_redriven(invoke, ask, file: Path) -> None:
    assert invoke("dead-letters").exit_code == 6, "nothing was imported"
    invoke("import", str(file))
    text = invoke("dead-letters").stdout
    assert "malformed_json" in text
    assert "chat.jsonl" in text
    assert "2 of 2." in invoke("dead-letters", "list", "--each").stdout
    listed = ask("dead-letters", "list", "--reason", "naive_time")
    assert [each["line"] for each in listed["dead_letters"]] == [3]
    assert listed["by_reason"] == {"malformed_json": 1, "naive_time": 1}
    found = ask("dead-letters", "redrive", "--timezone", "UTC")
    assert (found["tried"], found["imported"], found["dead"], found["dead_malformed_json"]) == (2, 1, 1, 1)
    assert "1 of 1." in invoke("dead-letters", "list", "--each").stdout
    result = invoke("dead-letters", "redrive", "--timezone", "Mars/Olympus")
    assert result.exit_code == 2
    assert "There is no time zone" in result.stderr


def test_half_a_file_lost_is_a_failure_that_names_its_cure(invoke, ask, tmp_path: Path) -> None:
    turns = [GOOD | {"source_id": str(n), "role": ("klant", "agent")[n % 2]} for n in range(66)]
    path = write(tmp_path / "half.jsonl", *turns)
    result = invoke("import", str(path))
    assert result.exit_code == 2
    assert "33 of 66 records became dead letters for the reason unknown_role" in result.stderr
    assert "--map role:klant=user" in result.stderr
    text = invoke("dead-letters").stdout
    assert tuple(text.splitlines()[1].split()[:3]) == ("33", "unknown_role", "half.jsonl")
    assert "1, 3, 5, 7, 9, ..." in text
    (group,) = ask("dead-letters", "list")["groups"]
    assert (group["letters"], group["lines"]) == (33, [1, 3, 5, 7, 9])
    (found,) = ask("import", str(path), "--map", "role:klant=user")["files"]
    assert (found["imported"], found["resolved"], found["cure"]) == (33, 33, None)


def test_assumptions_are_told(invoke, tmp_path: Path) -> None:
    names = {"subject_id": "customer_id", "session_id": "threadId", "role": "sender", "said_at": "ts", "text": "body"}
    path = write(tmp_path / "others.jsonl", {theirs: GOOD[ours] for ours, theirs in names.items()})
    result = invoke("import", str(path))
    assert result.exit_code == 0, result.output
    assert "assumed that subject_id is customer_id, session_id is threadId, role is sender" in result.stderr
    assert "change this with --map" in result.stderr


@pytest.fixture
def crm(database_factory) -> Iterator[str]:
    """Another database, with a table of messages."""
    with database_factory.empty() as url, psycopg.connect(url, autocommit=True) as conn:
        conn.execute(
            "create table messages (id int, user_id text, session_id text, role text, said_at text, body text)"
        )
        for number in range(20):
            row = (number, "ana", "s1", "user", f"2026-03-01T09:{number:02}:00Z", f"I drank {number} cups of tea.")
            conn.execute("insert into messages values (%s, %s, %s, %s, %s, %s)", row)
        yield url


def test_import_from_a_table(invoke, ask, conn, crm: str) -> None:
    options = ("import", "--table", "messages", "--cursor", "id", "--name", "crm", "--json")
    result = invoke(*options, "--from", "CRM_URL", env={"CRM_URL": crm})
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["files"]
    assert (found["file"], found["read"], found["imported"], found["format"]) == ("crm", 20, 20, "table")
    result = invoke(*options[:-1], "--from", crm)
    assert "crm: 1 records read as table" in result.stdout and "already in the log" in result.stdout
    assert conn.execute("select name, place from ops.sources").fetchall() == [("crm", "19")]


def test_a_source_is_named_in_one_way(invoke, file: Path) -> None:
    url = "postgresql://someone:hunter2@127.0.0.1:1/absent"
    for arguments, code, said in (
        ((), 2, "Name the files to import, or a database with --from"),
        ((str(file), "--from", url, "--table", "t"), 2, "Name the files to import, or a database with --from"),
        ((str(file), "--cursor", "id"), 2, "--cursor needs --from"),
        ((str(file), "--from-start"), 2, "--from-start needs --from"),
        (("--from", url, "--table", "t", "--format", "csv"), 2, "are for files"),
        (("--from", "NO_SUCH_URL", "--table", "t"), 2, "There is no environment variable NO_SUCH_URL"),
        (("--from", "host=127.0.0.1 password=hunter2", "--table", "t"), 2, "a URL such as postgresql://"),
        (("--from", url), 2, "Name either a query or a table"),
        (("--from", url, "--table", "t"), 4, "No Postgres answers at 127.0.0.1:1"),
    ):
        result = invoke("import", *arguments)
        assert (result.exit_code, said in " ".join(result.stderr.split())) == (code, True), result.output
        assert "hunter2" not in result.output and "hunter2" not in result.stderr


ROWS = (
    "user,session,role,time,body\nana,s1,user,14-03-2026 21:30,I love tea.\nana,s1,user,15-03-2026 08:05,I love rain.\n"
)


def test_times_of_another_form_need_the_form(invoke, ask, tmp_path: Path) -> None:
    file = tmp_path / "calls.csv"
    file.write_text(ROWS)
    refused = invoke("import", str(file))
    assert refused.exit_code == 2
    assert "time does not hold ISO 8601 times" in refused.stderr
    assert "--time-format '%d-%m-%Y %H:%M'" in refused.stderr
    how = ("--time-format", "%d-%m-%Y %H:%M", "--timezone", "Europe/Madrid")
    (found,) = ask("import", str(file), *how)["files"]
    assert (found["imported"], found["dead"]) == (2, 0)
    assert found["first"] == "2026-03-14T20:30:00+00:00"
    wrong = invoke("import", str(file), "--time-format", "%H:%M")
    assert wrong.exit_code == 2
    assert "give day, month, year and time" in wrong.stderr


def test_a_letter_is_redriven_with_the_form_of_its_time(invoke, ask, tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", GOOD | {"said_at": "14/03/2026 21:30"})
    assert invoke("import", str(file)).exit_code == 2
    found = ask("dead-letters", "redrive", "--time-format", "%d/%m/%Y %H:%M", "--timezone", "UTC")
    assert found["imported"] == 1


def test_a_null_text_among_others_is_a_dead_letter_and_no_wrong_field(invoke, tmp_path: Path) -> None:
    records = [GOOD | {"source_id": str(number), "text": f"I love tea {number}."} for number in range(4)]
    file = write(tmp_path / "chat.jsonl", *records, GOOD | {"source_id": "5", "text": None})
    result = invoke("import", str(file))
    assert result.exit_code == 0, result.output
    assert "empty_text" in result.stdout
    assert "--map text" not in result.output
    empty = write(tmp_path / "empty.jsonl", *(each | {"text": None} for each in records))
    result = invoke("import", str(empty))
    assert result.exit_code == 2
    assert "name the field that holds the text with --map text=FIELD" in result.stderr


def test_statements_alone_name_the_next_step_too(invoke, tmp_path: Path) -> None:
    (tmp_path / "mem0.json").write_text(json.dumps(MEM0["results"][:2]))  # type: ignore[index]
    result = invoke("import", str(tmp_path / "mem0.json"), "--format", "mem0")
    assert result.exit_code == 0, result.output
    assert "Build memory of it: reverie run" in result.stderr


@pytest.mark.parametrize("option", [("--subject", "bob"), ("--map", "subject_id=owner")])
def test_an_export_keeps_its_subjects(invoke, ask, tmp_path: Path, option: tuple[str, str]) -> None:
    assert invoke("import", str(write(tmp_path / "chat.jsonl", GOOD | {"source_id": "1"}))).exit_code == 0
    assert invoke("export", "ana", "--output", str(tmp_path / "out")).exit_code == 0
    (log,) = (tmp_path / "out").rglob("log.jsonl")
    refused = invoke("import", str(log), *option)
    assert refused.exit_code == 2 and "--subject and --map do not apply" in refused.stderr
    assert invoke("import", str(log)).exit_code == 0
