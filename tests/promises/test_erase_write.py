"""What an erasure deletes and strips, table by table."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from reverie.drive.emptying import empty_subjects
from reverie.drive.erase.targets import retention_target, session_target, subject_target, turn_target
from reverie.drive.maintain import Retention, maintain
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.settings import load_settings
from reverie.store.connect import connect
from reverie.store.digest import digest
from reverie.store.runs import Run, run
from reverie.store.work import Work
from tests.promises.compact import START, TENANT, UNTIL
from tests.promises.test_corrected_at_once import rows
from tests.promises.test_erased import Opened, everywhere, remember, there, turns_of, without

__all__ = ["there", "without"]


def plant(there: Opened, turn: UUID) -> None:
    """Rows beside memory that name a turn, its subject, or neither."""
    with connect(there.url) as conn:
        at, other = START, UUID(int=3)
        for number, (asked, items) in enumerate((("before?", [other]), ("since?", [turn, other]))):
            conn.execute(
                "insert into log.recalls values (%s, %s, 'ana', %s + %s * interval '100 days', %s, 'p', null, %s, 0)",
                [TENANT, UUID(int=50 + number), at, number, asked, items],
            )
        conn.execute(
            "insert into log.contexts (tenant_id, id, subject_id, assembled_at, form, policy_hash, tokenizer,"
            " total_tokens, sections, item_ids, dropped_ids) values (%s, %s, 'ana', %s, 'reverie', 'p', 't', 1, '[]',"
            " %s, '{}'), (%s, %s, 'ana', %s, 'reverie', 'p', 't', 1, '[]', '{}', '{}')",
            [TENANT, UUID(int=60), at, [turn], TENANT, UUID(int=61), at],
        )
        for number, (subject, sources) in enumerate((("ana", [turn]), ("ana", [other]), ("ben", [other]))):
            conn.execute(
                "insert into ops.replies values (%s, 'm', '', %s, %s, %s, '{}', %s)",
                [TENANT, bytes([number]), subject, sources, other],
            )
        conn.execute(
            "insert into ops.runs (tenant_id, run_id, stage, as_of, scope, driver, policy, policy_hash, status)"
            " values (%s, %s, 'drain', %s, %s, 't', 'p', 'p', 'done')",
            [TENANT, UUID(int=70), at, Jsonb({"subjects": ["ana", "ben"]})],
        )


def test_a_turn_leaves_what_names_it_beside_others(there: Opened) -> None:
    (turn,) = turns_of(there.store, "Delhi")
    plant(there, turn)
    there.eraser.erase(turn_target(turn))
    assert rows(there.store, "select question, item_ids from log.recalls order by id") == [
        ("before?", [UUID(int=3)]),
        ("", [UUID(int=3)]),
    ]
    assert rows(there.store, "select id from log.contexts") == [(UUID(int=61),)]
    assert rows(there.store, "select subject_id from ops.replies") == [("ben",)], "what was shown is no turn that stays"
    assert rows(there.store, "select subject_id, session_id from ops.queue") == [("ana", "erasures")]


def test_what_models_gave_of_a_subject_goes_with_any_turn_of_it(there: Opened) -> None:
    """A statement that is erased was held against messages that stay."""
    kept = "select distinct subject_id from ops.answers a join log.turns t on t.id = a.turn_id order by 1"
    assert rows(there.store, kept) == [("ana",), ("ben",)]
    (turn,) = turns_of(there.store, "Delhi")
    there.eraser.erase(turn_target(turn))
    assert rows(there.store, kept) == [("ben",)]


def test_a_subject_leaves_its_name_nowhere(there: Opened) -> None:
    (turn,) = turns_of(there.store, "Delhi")
    plant(there, turn)
    counts = there.eraser.erase(subject_target("ana")).counts
    assert (counts["log.recalls"], counts["log.contexts"], counts["ops.replies"]) == (2, 2, 2)
    assert counts["ops.runs"] > 1, "cycles are limited to their subjects, and the ledger named them"
    assert rows(there.store, "select scope from ops.runs where stage = 'drain'") == [({"subjects": ["ben"]},)]
    assert rows(there.store, "select count(*) from ops.queue") == [(0,)]


@pytest.mark.parametrize("cutoff", [None, START + timedelta(days=20)])
def test_recalls_that_were_counted_and_are_deleted_leave_nothing_in_memory(
    there: Opened, without: Any, cutoff: datetime | None
) -> None:
    asked = "insert into log.recalls values (%s, %s, 'ana', %s, 'Who?', 'p', null, %s, 0)"
    with connect(there.url) as conn:
        conn.execute(asked, [TENANT, UUID(int=1), START + timedelta(days=14), turns_of(there.store, "Delhi")])
    with there.store.transaction(TENANT) as conn:
        empty_subjects(conn, TENANT, ["ana"])
    remember(there.store)
    counted = "select recall_id from memory.accesses"
    assert rows(there.store, counted) == [(UUID(int=1),)]
    target = subject_target("ana") if cutoff is None else retention_target("ana", cutoff)
    assert there.eraser.erase(target).counts["memory.accesses"] == 1
    assert rows(there.store, counted) == []
    if cutoff is None:
        assert digest(there.store, TENANT) == without(lambda record: record["subject_id"] == "ana")


def test_nobody_is_noted_as_late_whose_memory_is_emptied(there: Opened) -> None:
    late = "insert into ops.late_subjects (tenant_id, subject_id, happened_at) values (%s, %s, %s)"
    with connect(there.url) as conn:
        for subject in ("ana", "ben", "gone"):
            conn.execute(late, [TENANT, subject, START])
    (turn,) = turns_of(there.store, "Delhi")
    assert there.eraser.erase(turn_target(turn)).counts["ops.late_subjects"] == 1
    there.eraser.erase(subject_target("ben"))
    there.eraser.erase(subject_target("gone"))  # erased before erasures deleted these notes
    assert rows(there.store, "select subject_id from ops.late_subjects") == []


def test_a_session_in_which_nothing_was_said_goes(there: Opened) -> None:
    with connect(there.url) as conn:
        for session in ("s8", "s9"):
            conn.execute(
                "insert into ops.sessions (tenant_id, subject_id, session_id, opened_at, since, touched_at, expires_at,"
                " preferences) values (%s, 'ana', %s, %s, %s, %s, %s, '[\"no meat\"]')",
                [TENANT, session, START, START, START, START],
            )
            conn.execute(
                "insert into ops.store_items (tenant_id, namespace, key, value, created_at, updated_at)"
                " values (%s, array['ana', %s], 'k', '{}', %s, %s)",
                [TENANT, session, START, START],
            )
    counts = there.eraser.erase(session_target("ana", "s9")).counts
    assert (counts["ops.sessions"], counts["ops.store_items"]) == (1, 1)
    assert everywhere(there.url, "s9") == {} and set(everywhere(there.url, "s8")) == {"ops.sessions", "ops.store_items"}


def test_a_run_that_was_open_during_an_erasure_does_not_name_the_subject_again(there: Opened) -> None:
    with run(work_on(there, "ana", "ben"), "drain") as attempt:
        there.eraser.erase(subject_target("ana"))
        record(attempt)
    assert rows(there.store, "select scope from ops.runs where stage = 'drain'") == [({"subjects": ["ben"]},)]
    assert everywhere(there.url, "ana") == {}


def test_a_run_that_was_recorded_during_an_erasure_loses_the_name_later(there: Opened) -> None:
    later = UNTIL + timedelta(days=2)
    there.eraser.erase(subject_target("ana"))
    replace(there.eraser, at=later).erase(subject_target("ben"))
    for subject, at in (("ana", UNTIL), ("ben", later), ("ben", later + timedelta(days=80))):
        record_late(there, subject, at)
    maintain(work_on(there), retention=Retention.of(load_settings()), now=later)
    assert names_left(there) == [[], [], ["ben"]], "runs long after any erasure are not looked at"


def test_erasures_before_the_last_maintenance_are_not_looked_at_again(there: Opened) -> None:
    now = datetime.now(UTC)
    there.eraser.erase(subject_target("ana"))
    replace(there.eraser, at=now).erase(subject_target("ben"))
    with connect(there.url) as conn:
        conn.execute("update ops.erasures set erased_at = %s where erased_at < %s", [now - timedelta(days=9), now])
    for expected in ([[], []], [[], [], ["ana"], []]):
        record_late(there, "ana", now - timedelta(days=9))
        record_late(there, "ben", now)
        maintain(work_on(there), retention=Retention.of(load_settings()), now=now)
        assert names_left(there) == expected


def record_late(there: Opened, subject: str, at: datetime) -> None:
    """Record a run of a subject just after `at`, as one that missed its erasure."""
    with connect(there.url) as conn:
        conn.execute(
            "insert into ops.runs (tenant_id, run_id, stage, as_of, scope, driver, policy, policy_hash, status,"
            " finished_at) select %s, lpad(count(*)::text, 32, '0')::uuid, 'drain', %s, %s, 't', 'p', 'p', 'done', %s"
            " from ops.runs",
            [TENANT, START, Jsonb({"subjects": [subject]}), at + timedelta(minutes=1)],
        )


def names_left(there: Opened) -> list[list[str]]:
    """The subjects of these runs, in the order in which they were recorded."""
    return [
        row[0]
        for row in rows(there.store, "select scope -> 'subjects' from ops.runs where stage = 'drain' order by run_id")
    ]


def test_a_run_that_was_open_leaves_nothing_of_an_erased_tenant(there: Opened) -> None:
    with run(work_on(there), "drain") as attempt:
        list(there.eraser.erase_tenant())
        record(attempt)
    assert rows(there.store, "select stage from ops.runs") == []


def work_on(there: Opened, *subjects: str) -> Work:
    scope = Scope(tenant_id=TENANT, subjects=subjects or None)
    return Work(store=there.store, scope=scope, policy=load_policy("reverie"), as_of=UNTIL)


def record(attempt: Run) -> None:
    with attempt.work.transaction() as conn:
        attempt.record(conn)
