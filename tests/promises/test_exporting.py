"""An export has every row of the log and of memory that is about somebody, and none about others."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from reverie.capture.history.exported import import_export
from reverie.drive.exporting import MEMORY_TABLES, export
from reverie.drive.moving import move_out
from reverie.errors import InputError, NotFoundError
from reverie.language.sensitive.classes import classes_among
from reverie.policy import load_policy
from reverie.store.privacy.export_format import FORMAT, LOG_TABLES
from tests.conftest import Databases
from tests.promises.compact import TENANT, UNTIL
from tests.promises.test_corrected_at_once import rows
from tests.promises.test_erased import Opened, opened, remember, said, take_in, there, without

__all__ = ["there", "without"]


def test_a_person_and_nobody_else(there: Opened, tmp_path: Path) -> None:
    made = export(there.url, TENANT, tmp_path / "out", subject_id="ana", at=UNTIL)
    log, memory = (path.read_text().splitlines() for path in made.files)
    assert json.loads(log[0]) | {"schema": ""} == {
        "format": FORMAT,
        "version": 1,
        "tenant_id": TENANT,
        "subject_id": "ana",
        "policy": "reverie",
        "clock_at": None,
        "schema": "",
        "exported_at": UNTIL.isoformat(),
    }
    tables = [json.loads(line)["table"] for line in (*log[1:], *memory[1:])]
    assert set(tables) <= {*LOG_TABLES, *MEMORY_TABLES}
    for table in ("log.turns", "log.outcomes", "memory.memories", "memory.structured_facts", "memory.tombstones"):
        (counted,) = rows(there.store, f"select count(*) from {table} where subject_id = 'ana'")  # noqa: S608
        assert (made.counts.get(table, 0),) == counted, table
    assert not any("Infosys" in line for line in (*log, *memory))
    lineage = [json.loads(line)["row"]["memory_id"] for line in memory[1:] if '"memory.lineage"' in line]
    assert lineage and len(lineage) == made.counts["memory.lineage"]


def test_classes_that_the_policy_does_not_export_are_left_out(
    there: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = export(there.url, TENANT, tmp_path / "whole", subject_id=None, at=UNTIL)
    ours = load_policy("reverie")
    strict = ours.sensitivity.model_copy(update={"not_exported": ("health", "finances", "religion", "minors")})
    changed = ours.model_copy(update={"sensitivity": strict})
    monkeypatch.setattr("reverie.drive.exporting.load_policy", lambda name: changed)
    made = export(there.url, TENANT, tmp_path / "strict", subject_id=None, at=UNTIL)
    assert whole.left_out == 0 and made.left_out + sum(made.counts.values()) == sum(whole.counts.values())
    texts = "".join(path.read_text() for path in made.files)
    assert not classes_among(texts, frozenset({"health"}))


def test_what_was_made_from_a_turn_that_is_left_out_is_left_out_too(
    databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = load_policy("reverie")
    strict = ours.sensitivity.model_copy(update={"not_exported": ("minors",)})
    changed = ours.model_copy(update={"sensitivity": strict})
    monkeypatch.setattr("reverie.drive.exporting.load_policy", lambda name: changed)
    monkeypatch.setattr("reverie.drive.moving.load_policy", lambda name: changed)
    with opened(databases) as here:
        turns = ("My son Tobi is 7 years old.", "I live in Oslo.")
        take_in(here.store, tmp_path, [said("ana", "s1", f"t{n}", UNTIL, text) for n, text in enumerate(turns)])
        remember(here.store)
        whole = "select count(*) from memory.memories where content ilike '%%tobi%%' and content like '%%7%%'"
        assert rows(here.store, whole) != [(0,)]
        made = export(here.url, TENANT, tmp_path / "out", subject_id="ana", at=UNTIL)
        texts = "".join(path.read_text() for path in made.files)
        assert "Oslo" in texts and "Tobi's age" not in texts and "is 7" not in texts
        for name in ("mem0", "letta"):
            moved = move_out(here.url, TENANT, tmp_path / name, subject_id="ana", format=name, at=UNTIL)
            assert "Oslo" in moved.file.read_text() and "Tobi" not in moved.file.read_text() and moved.left_out


def test_numbers_that_no_integer_of_64_bits_holds_are_taken_elsewhere(databases: Databases, tmp_path: Path) -> None:
    turn = said("ana", "s1", "t1", UNTIL, "I live in Oslo.") | {"metadata": {"n": 123456789012345678901, "m": -(2**63)}}
    outcome = {"type": "outcome", "subject_id": "ana", "session_id": "s1", "source_id": "t1", "metric": "views"}
    outcome |= {"value": 1e20, "positive": True, "observed_at": UNTIL.isoformat()}
    read = "select t.metadata::text, o.value from log.turns t, log.outcomes o"
    with opened(databases) as here, opened(databases) as elsewhere:
        take_in(here.store, tmp_path, [turn, outcome])
        made = export(here.url, TENANT, tmp_path / "out", subject_id=None, at=UNTIL)
        import_export(elsewhere.store, made.files[0], tenant_id=TENANT)
        assert rows(elsewhere.store, read) == rows(here.store, read)
        assert remember(elsewhere.store) == remember(here.store)
        moved = move_out(here.url, TENANT, tmp_path / "moved", subject_id="ana", format="jsonl", at=UNTIL).file
        assert json.loads(moved.read_text().splitlines()[1])["value"] == 1e20


def test_recalls_are_to_be_counted_elsewhere(databases: Databases, tmp_path: Path) -> None:
    turn = said("ana", "s1", "t1", UNTIL, "I live in Oslo.")
    with opened(databases) as here, opened(databases) as elsewhere:
        take_in(here.store, tmp_path, [turn])
        with here.store.transaction(TENANT) as conn:
            conn.execute(
                "insert into log.recalls values (%s, gen_random_uuid(), 'ana', %s, 'Where?', 'p', null, '{}', 0)",
                [TENANT, UNTIL - timedelta(days=10)],
            )
        assert remember(here.store).tables["accesses"].rows == 1
        made = export(here.url, TENANT, tmp_path / "out", subject_id=None, at=UNTIL)
        import_export(elsewhere.store, made.files[0], tenant_id=TENANT)
        standing = "select standing from log.recalls"
        assert (rows(here.store, standing), rows(elsewhere.store, standing)) == ([("counted",)], [(None,)])
        assert remember(elsewhere.store) == remember(here.store)


def test_mistakes_are_told(there: Opened, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="There is no tenant 'other'"):
        export(there.url, "other", tmp_path / "out", subject_id=None, at=UNTIL)
    with pytest.raises(NotFoundError, match="Nothing is kept about subject 'zed'"):
        export(there.url, TENANT, tmp_path / "out", subject_id="zed", at=UNTIL)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        export(there.url, TENANT, tmp_path / "file" / "out", subject_id="ana", at=UNTIL)
