"""An export of before an erasure brings nothing back that was erased since."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from reverie.capture.history.exported import import_export
from reverie.drive.erase.targets import Target, retention_target, session_target, subject_target, turn_target
from reverie.drive.exporting import export
from reverie.store.connect import connect
from tests.promises.compact import START, TENANT, UNTIL
from tests.promises.test_corrected_at_once import find, rows
from tests.promises.test_erase_write import plant
from tests.promises.test_erased import (
    Opened,
    correct,
    differing,
    everywhere,
    remember,
    said,
    take_in,
    there,
    turns_of,
    without,
)

__all__ = ["there", "without"]

BEFORE = UNTIL - timedelta(days=1)


def plant_more(there: Opened, turn: UUID, session: str) -> None:
    """A mood, a flag and a key-value item besides; the contexts are of after the turn, which one of them has."""
    plant(there, turn)
    with connect(there.url) as conn:
        conn.execute("update log.contexts set assembled_at = %s", [UNTIL])
        conn.execute(
            "insert into log.moods values (%s, %s, 'ana', %s, %s, 'sad', 'low', 'deep', 0.5, 'model')",
            [TENANT, turn, session, START],
        )
        conn.execute("insert into ops.reviews values (%s, %s, 'ana', %s, 'crisis', %s)", [TENANT, turn, session, START])
        conn.execute(
            "insert into ops.store_items (tenant_id, namespace, key, value, created_at, updated_at)"
            " values (%s, '{ana,notes}', 'k', %s, %s, %s)",
            [TENANT, Jsonb({"likes": "tea"}), START, START],
        )


def test_a_correction_of_an_erased_turn_stays_away(there: Opened, tmp_path: Path) -> None:
    correct(there.store, find(there.store, "Delhi"), "replace", "Has a sister in Quito")
    (turn,) = turns_of(there.store, "Delhi")
    ((session,),) = rows(there.store, "select session_id from log.turns where id = %s", turn)
    plant_more(there, turn, session)
    made = export(there.url, TENANT, tmp_path / "out", subject_id="ana", at=BEFORE)
    there.eraser.erase(turn_target(turn))
    erased = remember(there.store)
    taken = import_export(there.store, made.files[0], tenant_id=TENANT)
    assert taken.imported == 0 and taken.skipped["refused"] > 5
    assert everywhere(there.url, "Quito") == everywhere(there.url, str(turn)) == {}
    assert differing(remember(there.store), erased) == []


def test_of_an_erased_subject_nothing_comes_back(there: Opened, tmp_path: Path) -> None:
    (turn,) = turns_of(there.store, "Delhi")
    plant_more(there, turn, "ana-1")
    made = export(there.url, TENANT, tmp_path / "out", subject_id="ana", at=BEFORE)
    there.eraser.erase(subject_target("ana"))
    taken = import_export(there.store, made.files[0], tenant_id=TENANT)
    assert taken.skipped["refused"] == sum(made.counts.get(table, 0) for table in made.counts if table[:4] != "memo")
    assert everywhere(there.url, "ana") == {}

    take_in(there.store, tmp_path, [said("ana", "new", "t1", UNTIL, "I live in Oslo.")])
    after = export(there.url, TENANT, tmp_path / "after", subject_id="ana", at=UNTIL + timedelta(days=1))
    again = import_export(there.store, after.files[0], tenant_id=TENANT)
    assert (again.repeated, again.skipped.total()) == (1, 0), "what she said since is hers"


def test_that_somebody_refuses_to_be_remembered_is_taken_in(there: Opened, tmp_path: Path) -> None:
    """A consent has no content: a database that lost it must not begin to listen again."""
    refused = "insert into ops.consents (tenant_id, subject_id, capture, changed_at) values (%s, 'ana', false, %s)"
    with connect(there.url) as conn:
        conn.execute(refused, [TENANT, START])
    made = export(there.url, TENANT, tmp_path / "out", subject_id="ana", at=BEFORE)
    there.eraser.erase(subject_target("ana"))
    with connect(there.url) as conn:
        conn.execute("delete from ops.consents where tenant_id = %s", [TENANT])
    import_export(there.store, made.files[0], tenant_id=TENANT)
    assert rows(there.store, "select subject_id, capture from ops.consents") == [("ana", False)]
    assert rows(there.store, "select count(*) from log.turns where subject_id = 'ana'") == [(0,)]


def test_a_question_about_an_erased_turn_of_the_buffer_stays_away(there: Opened, tmp_path: Path) -> None:
    """Such turns stand at the end of a file."""
    turn = UUID(int=9)
    with connect(there.url) as conn:
        conn.execute(
            """insert into ops.pending_turns (tenant_id, subject_id, session_id, source_id, id, role, said_at, text,
                                              content_hash)
               values (%s, 'ana', 'live', 'l1', %s, 'user', %s, 'I moved to Quito.', '\\x01')""",
            [TENANT, turn, START],
        )
        asked = "insert into log.recalls values (%s, %s, 'ana', %s, 'I moved to Quito.', 'p', null, '{}', 0)"
        conn.execute(asked, [TENANT, UUID(int=50), UNTIL])
        conn.execute("insert into ops.reviews values (%s, %s, 'ana', 'live', 'crisis', %s)", [TENANT, turn, START])
    made = export(there.url, TENANT, tmp_path / "out", subject_id="ana", at=BEFORE)
    there.eraser.erase(turn_target(turn))
    with connect(there.url) as conn:
        conn.execute("delete from log.recalls where tenant_id = %s", [TENANT])
    import_export(there.store, made.files[0], tenant_id=TENANT)
    assert everywhere(there.url, "Quito") == everywhere(there.url, str(turn)) == {}


def add_item(there: Opened, *labels: str) -> None:
    with connect(there.url) as conn:
        conn.execute(
            "insert into ops.store_items (tenant_id, namespace, key, value, created_at, updated_at)"
            " values (%s, %s, 'k', '{}', %s, %s)",
            [TENANT, list(labels), START, START],
        )


@pytest.mark.parametrize("target", [session_target("ana", "chat-17"), session_target(None, "chat-17"), None])
def test_items_of_an_erased_session_stay_away(there: Opened, tmp_path: Path, target: Target | None) -> None:
    """None: a turn of the session is erased."""
    turn = said("ana", "chat-17", "t1", START, "I have been to Quito.")
    take_in(there.store, tmp_path, [turn])
    for labels in (("ana", "chat-17"), ("chat-17", "notes", "ana"), ("ana", "chat-18")):
        add_item(there, *labels)
    made = export(there.url, TENANT, tmp_path / "out", subject_id="ana", at=BEFORE)
    if target is None:
        target = turn_target(*turns_of(there.store, "Quito"))
    there.eraser.erase(target)
    import_export(there.store, made.files[0], tenant_id=TENANT)
    assert rows(there.store, "select namespace from ops.store_items") == [(["ana", "chat-18"],)]


def test_items_of_a_session_without_turns_stay_away(there: Opened, tmp_path: Path) -> None:
    with connect(there.url) as conn:
        conn.execute(
            "insert into ops.sessions (tenant_id, subject_id, session_id, opened_at, since, touched_at, expires_at)"
            " values (%s, 'ana', 'chat-17', %s, %s, %s, %s)",
            [TENANT, START, START, START, START],
        )
    add_item(there, "ana", "chat-17")
    made = export(there.url, TENANT, tmp_path / "out", subject_id="ana", at=BEFORE)
    there.eraser.erase(session_target("ana", "chat-17"))
    import_export(there.store, made.files[0], tenant_id=TENANT)
    assert rows(there.store, "select namespace from ops.store_items") == []


def test_items_come_back_to_a_session_with_turns_that_a_retention_erased(there: Opened, tmp_path: Path) -> None:
    first = "select session_id from log.turns where subject_id = 'ana' order by said_at limit 1"
    ((session,),) = rows(there.store, first)
    add_item(there, "ana", session)
    made = export(there.url, TENANT, tmp_path / "out", subject_id="ana", at=BEFORE)
    there.eraser.erase(retention_target("ana", START + timedelta(days=20)))
    with connect(there.url) as conn:
        conn.execute("delete from ops.store_items where tenant_id = %s", [TENANT])
    import_export(there.store, made.files[0], tenant_id=TENANT)
    assert rows(there.store, "select namespace from ops.store_items") == [(["ana", session],)]
