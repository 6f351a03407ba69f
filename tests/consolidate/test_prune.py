"""Prune: what is forgotten goes with all that hangs on it; a tombstone without content stays."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg.sql import SQL, Identifier

from reverie.consolidate.prune import stage
from reverie.consolidate.prune.stage import prune
from reverie.model import Scope, stable_id
from reverie.policy import Policy
from reverie.policy.fading import forget_at, value_at
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.queries import queries
from reverie.store.work import Work
from tests.promises.world import lively

ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = lively(prune={"active_days": 0})
NUMBERS: dict[str, Any] = {
    "grace_days": POLICY.decay.grace_days,
    "below": POLICY.prune.below,
    "unaccessed_days": POLICY.prune.unaccessed_days,
}


def put(
    store: Store,
    content: str,
    *,
    peak: float = 0.05,
    day: float = 0.0,
    into: UUID | None = None,
    subject: str = "ann",
    kind: str = "fact",
) -> UUID:
    """A memory with vector, terms, item, link and lineage; merged into another if one is given."""
    at = ORIGIN + timedelta(days=day)
    id_ = stable_id(at, subject, content)
    due = forget_at(peak, at, rate=POLICY.decay.rates["fact"], **NUMBERS)
    state = "merged" if into else "active"
    with store.transaction("t") as conn:
        (length,) = conn.execute("select length(to_tsvector('english', %s))", [content]).fetchone() or (0,)
        conn.execute(
            """insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,
                   importance, happened_at, accessed_at, decayed_at, forget_at, into_id, origin, run_id, policy_hash)
               values ('t', %s, %s, %s, %s, %s, 'hash', %s, %s, %s, %s, %s, %s, %s, %s, 'test', %s, 'test')""",
            [id_, subject, kind, state, content, peak, peak, peak, at, at, at, None if into else due, into, id_],
        )
        conn.execute(
            """insert into memory.vectors (tenant_id, subject_id, model, item_id, item, live, vec)
               values ('t', %s, 'test', %s, 'memory', %s, '[1,0]')""",
            [subject, id_, into is None],
        )
        conn.execute(
            """insert into memory.terms (tenant_id, subject_id, term, first_id, item_ids, tfs, dls)
               select 't', %(subject)s, lexeme, %(id)s, array[%(id)s::uuid], '{1}', array[%(length)s::smallint]
               from unnest(to_tsvector('english', %(content)s))""",
            {"subject": subject, "id": id_, "length": length, "content": content},
        )
        conn.execute(
            """insert into memory.items (tenant_id, subject_id, item_id, item, happened_at, words, asks, first_person,
                                         names_time) values ('t', %s, %s, 'memory', %s, 3, false, false, false)""",
            [subject, id_, at],
        )
        conn.execute(
            """insert into memory.links (tenant_id, memory_id, entity_id, subject_id, run_id)
               values ('t', %s, %s, %s, %s)""",
            [id_, id_, subject, id_],
        )
        conn.execute(
            """insert into memory.subjects (tenant_id, subject_id, items, terms) values ('t', %s, %s, %s)
               on conflict (tenant_id, subject_id) do update
               set items = memory.subjects.items + excluded.items, terms = memory.subjects.terms + excluded.terms""",
            [subject, 1, length],
        )
        if into:
            conn.execute(
                """insert into memory.merges (tenant_id, loser_id, survivor_id, subject_id, similarity, peak_before,
                       peak_after, as_of, run_id) values ('t', %s, %s, %s, 1, 0, 0, %s, %s)""",
                [id_, into, subject, at, id_],
            )
    return id_


def run(store: Store, day: float, policy: Policy = POLICY, **options: Any):
    return prune(
        Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=ORIGIN + timedelta(days=day), **options)
    )


def count(store: Store, table: str) -> int:
    with store.transaction("t") as conn:
        row = conn.execute(SQL("select count(*) from memory.{}").format(Identifier(table))).fetchone()
        assert row is not None
        return int(row[0])


def test_what_is_due_goes_with_all_that_hangs_on_it(store: Store) -> None:
    put(store, "kept for long", peak=0.9)
    faded = put(store, "nobody asked again")
    assert run(store, 29)["forgotten"] == 0
    assert run(store, 31)["forgotten"] == 1
    assert [count(store, table) for table in ("memories", "vectors", "items", "links")] == [1, 1, 1, 1]
    with store.transaction("t") as conn:
        assert conn.execute("select items, terms from memory.subjects").fetchone() == (1, 2)
        assert conn.execute("select count(*) from memory.postings where item_id = %s", [faded]).fetchone() == (0,)
        assert conn.execute("select count(*) from memory.terms").fetchone() == (2,)
        (tombstone,) = conn.execute("select * from memory.tombstones").fetchall()
        columns = conn.execute(
            """select memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at
               from memory.tombstones"""
        ).fetchone()
    at = ORIGIN + timedelta(days=30, hours=6)
    importance = value_at(0.05, ORIGIN, at, rate=POLICY.decay.rates["fact"], grace_days=POLICY.decay.grace_days)
    assert columns == (faded, "ann", "fact", b"hash", pytest.approx(importance), "faded", at)
    assert not any("asked" in str(value) for value in tombstone)


def test_one_run_forgets_as_of_the_cycles_that_were_skipped(store: Store) -> None:
    for day in (0, 0.3, 5, 9.99):
        put(store, f"memory of day {day}", day=day)
    run(store, 100)
    with store.transaction("t") as conn:
        found = conn.execute("select forgotten_at from memory.tombstones order by 1").fetchall()
    assert [(at - ORIGIN) / timedelta(days=1) for (at,) in found] == [30.25, 30.5, 35.25, 40.0]


def test_what_was_merged_goes_with_its_survivor(store: Store) -> None:
    survivor = put(store, "likes tea a lot")
    middle = put(store, "likes tea", day=-1, into=survivor)
    put(store, "tea", day=-2, into=middle)
    put(store, "other subject", subject="bob", peak=0.9)
    assert run(store, 60)["forgotten"] == 3
    assert [count(store, table) for table in ("memories", "vectors", "merges", "tombstones")] == [1, 1, 0, 3]
    with store.transaction("t") as conn:
        figures = conn.execute("select subject_id, items, terms from memory.subjects order by 1").fetchall()
        assert figures == [("ann", 0, 0), ("bob", 1, 1)]
        # all of them at the time of the one that held them
        assert conn.execute("select count(distinct forgotten_at) from memory.tombstones").fetchone() == (1,)


def test_the_counts_by_reason_and_kind_are_those_of_the_tombstones(store: Store) -> None:
    """The marts count tombstones, which merged memories leave too."""
    survivor = put(store, "likes tea a lot")
    put(store, "likes tea", day=-1, into=survivor)
    plan = put(store, "plans to fly to Rome", kind="episode", peak=0.9)
    put(store, "plans a flight", day=-1, kind="episode", into=plan)
    with store.transaction("t") as conn:
        conn.execute(
            "update memory.memories set expires_at = %s, forget_at = %s where id = %s",
            [ORIGIN, ORIGIN + timedelta(days=30), plan],
        )
    planned, done = run(store, 60, dry_run=True), run(store, 60)
    with store.transaction("t") as conn:
        found = conn.execute("select reason || '_' || kind, count(*) from memory.tombstones group by 1").fetchall()
    assert dict(found) == {"faded_fact": 2, "expired_episode": 2}
    assert planned.counts == done.counts == {"forgotten": 4} | dict(found)


def say(store: Store, *days: float, subject: str = "ann") -> None:
    """Turns of a subject on these days."""
    with store.transaction("t") as conn:
        for day in days:
            at = ORIGIN + timedelta(days=day)
            conn.execute(
                """insert into log.turns (tenant_id, id, subject_id, session_id, source_id, role, said_at, recorded_at,
                       turn_index, text, content_hash)
                   values ('t', %(id)s, %(subject)s, 's', %(source)s, 'user', %(at)s, %(at)s, 0, 'Hello.', 'hash')""",
                {"id": stable_id(at, subject, str(day)), "subject": subject, "source": str(day), "at": at},
            )


THREE_DAYS = lively(prune={"active_days": 3})


def test_who_falls_silent_is_not_forgotten(store: Store) -> None:
    put(store, "what ann said last")
    put(store, "what bob said last", subject="bob")
    say(store, 0, 10, 10.1, 11)
    say(store, 0, 10, 20, 50, subject="bob")
    # two more days of ann, three of bob
    assert run(store, 3000, THREE_DAYS, dry_run=True)["forgotten"] == 1
    assert run(store, 49, THREE_DAYS)["forgotten"] == 0
    report = run(store, 3000, THREE_DAYS)
    assert (report["forgotten"], report["faded_fact"]) == (1, 1)
    with store.transaction("t") as conn:
        (found,) = conn.execute("select subject_id, forgotten_at from memory.tombstones").fetchall()
    # as of the cycle after the third day, however late the run
    assert found == ("bob", ORIGIN + timedelta(days=50, hours=6))


def test_what_was_said_on_the_day_of_its_last_access_counts_only_if_later(store: Store) -> None:
    put(store, "said at noon", day=0.5)
    say(store, 0.1, 0.5, 1, 2)
    assert run(store, 100, THREE_DAYS)["forgotten"] == 0
    say(store, 0.6)  # the same day, later: the first of three
    assert run(store, 101, THREE_DAYS)["forgotten"] == 1


def test_what_ended_by_its_own_time_does_not_wait(store: Store) -> None:
    id_ = put(store, "on holiday until the tenth")
    with store.transaction("t") as conn:
        conn.execute(
            "update memory.memories set expires_at = %s, forget_at = %s where id = %s",
            [ORIGIN + timedelta(days=10), ORIGIN + timedelta(days=30), id_],
        )
    assert run(store, 39, THREE_DAYS)["forgotten"] == 0
    report = run(store, 41, THREE_DAYS)
    assert (report["forgotten"], report["expired_fact"]) == (1, 1)


def test_in_several_transactions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "_CHUNK", 3)
    for number in range(7):
        put(store, f"number {number}", day=number / 10)
    assert run(store, 60, dry_run=True)["forgotten"] == 7
    assert run(store, 60)["forgotten"] == 7
    with store.transaction("t") as conn:
        assert conn.execute("select status, attempts, report from ops.runs").fetchall() == [
            ("done", 1, {"forgotten": 7, "faded_fact": 7})
        ]


def test_a_second_run_and_a_dry_run_change_nothing(store: Store) -> None:
    put(store, "nobody asked again")
    before = digest(store, "t")
    assert run(store, 60, dry_run=True)["forgotten"] == 1
    assert digest(store, "t") == before
    run(store, 60)
    after = digest(store, "t")
    assert after != before
    assert run(store, 60)["forgotten"] == 0
    assert digest(store, "t") == after


def test_another_policy_reschedules_before_it_forgets(store: Store) -> None:
    put(store, "worth a little", peak=0.25)
    put(store, "worth nothing")
    run(store, 10)
    patient = lively(prune={"below": 0.1, "unaccessed_days": 365, "active_days": 0})
    report = run(store, 200, patient)
    assert (report["rescheduled"], report["forgotten"]) == (2, 0)
    assert run(store, 201, patient)["rescheduled"] == 0
    # the same bits as were written when the memories were made
    again = run(store, 202)
    assert (again["rescheduled"], again["forgotten"]) == (2, 2)


def test_another_policy_of_all_subjects_in_between_reschedules_again(store: Store) -> None:
    put(store, "worth a little", peak=0.25)
    patient = lively(prune={"below": 0.1, "unaccessed_days": 365, "active_days": 0})
    work = Work(store=store, scope=Scope(tenant_id="t", subjects=("ann",)), policy=patient, as_of=ORIGIN)
    prune(work)
    assert run(store, 10)["forgotten"] == 0
    report = prune(replace(work, as_of=ORIGIN + timedelta(days=200)))
    assert (report["rescheduled"], report["forgotten"]) == (1, 0)
    assert "rescheduled" not in prune(replace(work, as_of=ORIGIN + timedelta(days=201))).counts


def test_what_never_fades_is_never_forgotten_by_another_policy(store: Store) -> None:
    put(store, "worth a lot", peak=0.9)
    run(store, 10)
    lasting = lively(decay={"rates": dict.fromkeys(POLICY.decay.rates, 0.0)})
    assert run(store, 11, lasting)["rescheduled"] == 1
    with store.transaction("t") as conn:
        assert conn.execute("select forget_at from memory.memories").fetchone() == (None,)


def test_the_first_run_of_a_scope_by_the_same_policy_reschedules_nothing(store: Store) -> None:
    put(store, "worth a lot", peak=0.9)
    run(store, 10)
    scope = Scope(tenant_id="t", subjects=("ann",))
    report = prune(Work(store=store, scope=scope, policy=POLICY, as_of=ORIGIN + timedelta(days=20)))
    assert "rescheduled" not in report.counts


def test_forgetting_a_few_reads_what_hangs_on_them_and_not_the_tenant_for_each(store: Store) -> None:
    """Where a tenant is small and all there is, a plan from the other end once took a hundred times as long."""
    many = 400
    ids = [put(store, f"number {number} of them", day=number / 24) for number in range(many)]
    doomed = [(id_, ORIGIN + timedelta(days=60)) for id_ in ids[:100]]
    params = POLICY.fading.params() | {
        "tenant": "t",
        "ids": [id_ for id_, _ in doomed],
        "forgotten_at": [at for _, at in doomed],
        "reason": "test",
        "run_id": ids[0],
        "language": "english",
    }
    with store.transaction("t") as conn:
        explained = conn.execute("explain (analyze, format json) " + queries("forgetting")["forget"], params).fetchone()
    assert explained is not None

    def touched(node: dict[str, Any]) -> float:
        rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Join Filter", 0)
        return max([rows * node["Actual Loops"], *map(touched, node.get("Plans", ()))])

    # four terms and a dozen rows hang on each; the lists of "number" and "them" hold all
    assert touched(explained[0][0]["Plan"]) < 50 * many


def test_a_lasting_memory_is_never_forgotten_whatever_the_policy(store: Store) -> None:
    put(store, "allergic to nuts")
    put(store, "likes tea")
    with store.transaction("t") as conn:
        conn.execute("update memory.memories set lasting = true, forget_at = null where content = 'allergic to nuts'")
    assert run(store, 900)["forgotten"] == 1
    report = run(store, 901, lively(prune={"below": 0.9, "unaccessed_days": 1}))
    assert (report["rescheduled"], report["forgotten"]) == (0, 0)


def test_what_ended_by_its_own_time_is_forgotten_as_expired(store: Store) -> None:
    """As of the cycle after `expired_days`, whatever its importance and however late the run."""
    plan = put(store, "plans to fly to Rome", peak=0.9)
    faded = put(store, "a plan that nobody asked for")
    ends = {plan: ORIGIN + timedelta(days=10), faded: ORIGIN + timedelta(days=20)}
    with store.transaction("t") as conn:
        for id_, at in ends.items():
            conn.execute("update memory.memories set expires_at = %s where id = %s", [at, id_])
        conn.execute("update memory.memories set forget_at = %s where id = %s", [ends[plan] + timedelta(days=30), plan])
    assert run(store, 39)["forgotten"] == 1
    assert run(store, 60)["forgotten"] == 1
    assert run(store, 60)["forgotten"] == 0
    with store.transaction("t") as conn:
        rows = conn.execute("select memory_id, reason, forgotten_at from memory.tombstones").fetchall()
    at = {id_: (reason, (when - ORIGIN) / timedelta(days=1)) for id_, reason, when in rows}
    assert at == {faded: ("faded", 30.25), plan: ("expired", 40.25)}


def test_another_number_of_days_reschedules_what_has_expired(store: Store) -> None:
    put(store, "plans to fly to Rome", peak=0.9)
    with store.transaction("t") as conn:
        conn.execute("update memory.memories set expires_at = %s", [ORIGIN + timedelta(days=10)])
    run(store, 1)
    soon = lively(prune={"expired_days": 0.0})
    assert run(store, 9, soon)["rescheduled"] == 1
    assert run(store, 11, soon)["forgotten"] == 1
