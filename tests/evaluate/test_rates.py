"""Rates of observations and corrections, and what was called wrong."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg

from reverie.evaluate.conduct.growth import keys_first_known
from reverie.evaluate.conduct.rates import (
    CorrectedShare,
    SessionCounts,
    corrected_shares,
    correction_rate,
    correction_trend,
    observation_rate,
    session_counts,
)
from reverie.model import stable_id
from reverie.store.database import Store
from tests.cli.conftest import insert
from tests.recall.conftest import LATER, Corpus, day


def counts(number: int, *, observations: int = 0, corrections: int = 0) -> SessionCounts:
    return SessionCounts("ann", number, day(number), 10, observations, corrections)


def test_rates_by_hand() -> None:
    sessions = [counts(1, observations=3, corrections=2), counts(2, corrections=1), counts(3), counts(4)]
    assert observation_rate(sessions) == 3 / 4
    assert correction_rate(sessions) == 100 * 3 / 40
    assert correction_trend(sessions) == (15.0, 0.0)
    assert observation_rate([]) is correction_rate([]) is None
    assert CorrectedShare(learned=8, wrong=2).accuracy == 0.75 and CorrectedShare(learned=0, wrong=0).accuracy is None


def test_each_session_has_its_own(conn: psycopg.Connection[Any], database_url: str) -> None:
    corpus = Corpus(conn)
    for number, (at, session, role) in enumerate([(1, "s1", "user"), (1.1, "s1", "assistant"), (5, "s2", "user")]):
        corpus.turn(f"Said {number}", at=day(at), session=session, role=role)
    event = {"subject_id": "ann", "type": "fact", "content": "x", "content_hash": b""}
    for number, (at, session, channel) in enumerate(
        [(1, "s1", "interactive"), (6, None, "interactive"), (6, "s1", "interactive"), (6, None, "autonomous")]
    ):
        insert(
            conn, "log.events", id=UUID(int=number), source_id=str(number), observed_at=day(at), session_id=session,
            channel=channel, **event,
        )  # fmt: skip
    for number, (at, kind) in enumerate([(0, "wrong"), (2, "replace"), (9, "wrong"), (9, "forget"), (9, "pin")]):
        insert(
            conn, "log.corrections", id=UUID(int=number), subject_id="ann", kind=kind, memory_id=UUID(int=1),
            corrected_at=day(at),
        )  # fmt: skip
    with Store.open(database_url) as store:
        assert session_counts(store, "acme", as_of=LATER) == [
            ("ann", 1, day(1), 1, 2, 2), ("ann", 2, day(5), 1, 1, 1),
        ]  # fmt: skip
        assert session_counts(store, "acme", as_of=day(1.5)) == [("ann", 1, day(1), 1, 1, 1)], "as if it ended then"
        assert session_counts(store, "other", as_of=LATER) == []


def test_what_was_called_wrong(conn: psycopg.Connection[Any], database_url: str) -> None:
    corpus = Corpus(conn)
    for state, kind in (("active", "fact"), ("superseded", "preference"), ("merged", "fact"), ("active", "episode")):
        corpus.memory("x", state=state, kind=kind)
    tombstone = {"subject_id": "ann", "content_hash": b"", "importance": 0.1, "forgotten_at": day(1)}
    for number, reason in enumerate(("wrong", "faded")):
        insert(
            conn, "memory.tombstones", memory_id=UUID(int=number), kind="fact", reason=reason, run_id=UUID(int=0),
            **tombstone,
        )  # fmt: skip
    for number, (path, state) in enumerate([("city", "active"), ("city", "wrong"), ("pet", "repeated")]):
        insert(
            conn, "memory.scaffold", id=UUID(int=number), subject_id="ann", path=[path], confidence=0.9, basis="said",
            state=state, valid_from=day(number), sources=[UUID(int=0)], run_id=UUID(int=0), policy_hash="",
            replaced_by=UUID(int=0) if state == "repeated" else None,
        )  # fmt: skip
    with Store.open(database_url) as store:
        facts, scaffold = corrected_shares(store, "acme", as_of=LATER)
        assert (facts.learned, facts.wrong) == (4, 1)
        assert (scaffold.learned, scaffold.wrong) == (2, 1)
        assert sorted(keys_first_known(store, "acme", as_of=LATER)) == [
            ("ann", "scaffold", day(0)), ("ann", "scaffold", day(2)),
        ]  # fmt: skip


def test_corrections_count_from_when_they_were_made(conn: psycopg.Connection[Any], database_url: str) -> None:
    corpus = Corpus(conn)
    wrong, faded = (stable_id(day(at), "acme", "ann", str(at)) for at in (2, 9))
    corpus.memory("Lives in Oslo", at=day(1))
    corpus.memory("Lives in Bergen", at=day(8))
    for id_, reason, at in ((wrong, "wrong", 10), (faded, "faded", 200)):
        insert(
            conn, "memory.tombstones", memory_id=id_, subject_id="ann", kind="fact", content_hash=b"", importance=0.1,
            reason=reason, forgotten_at=day(at), run_id=UUID(int=0),
        )  # fmt: skip
    for number, (state, at) in enumerate((("wrong", 2), ("active", 3), ("active", 8))):
        insert(
            conn, "memory.scaffold", id=UUID(int=number), subject_id="ann", path=["city"], confidence=0.9, basis="said",
            state=state, valid_from=day(at), sources=[wrong if state == "wrong" else faded], run_id=UUID(int=0),
            policy_hash="",
        )  # fmt: skip
    with Store.open(database_url) as store:
        for as_of, memories, entries in ((5, (2, 0), (2, 0)), (9, (4, 0), (3, 0)), (10, (4, 1), (3, 1))):
            facts, scaffold = corrected_shares(store, "acme", as_of=day(as_of))
            assert ((facts.learned, facts.wrong), (scaffold.learned, scaffold.wrong)) == (memories, entries), as_of


def forgotten(conn: psycopg.Connection[Any], id_: UUID, reason: str, at: float) -> None:
    insert(
        conn, "memory.tombstones", memory_id=id_, subject_id="ann", kind="fact", content_hash=b"", importance=0.1,
        reason=reason, forgotten_at=day(at), run_id=UUID(int=0),
    )  # fmt: skip


def test_a_forgotten_memory_counts_once_however_often_it_was_told(
    conn: psycopg.Connection[Any], database_url: str
) -> None:
    corpus = Corpus(conn)
    for number in range(8):
        corpus.memory(f"Fact {number}", at=day(1))
    for survivor, reason in enumerate(("wrong", "faded")):
        first, *repeats = (stable_id(day(1), "acme", "ann", f"{survivor}/{telling}") for telling in range(5))
        for id_ in (first, *repeats):
            forgotten(conn, id_, reason, 30)
        for id_ in repeats:
            insert(
                conn, "memory.lineage", memory_id=first, relation="merged", source="memory", source_id=id_,
                as_of=day(3), run_id=UUID(int=0),
            )  # fmt: skip
    with Store.open(database_url) as store:
        facts, _ = corrected_shares(store, "acme", as_of=LATER)
        assert (facts.learned, facts.wrong, facts.accuracy) == (10, 1, 0.9)
        before, _ = corrected_shares(store, "acme", as_of=day(2))
        assert (before.learned, before.wrong) == (18, 0), "nothing was merged yet"


def test_an_entry_that_was_forgotten_on_request_is_no_error(conn: psycopg.Connection[Any], database_url: str) -> None:
    Corpus(conn)
    for number, reason in enumerate(("wrong", "forgotten_on_request")):
        source = stable_id(day(1), "acme", "ann", reason)
        forgotten(conn, source, reason, 2)
        insert(
            conn, "memory.scaffold", id=UUID(int=number), subject_id="ann", path=[reason], confidence=0.9, basis="said",
            state="wrong", valid_from=day(1), sources=[source], run_id=UUID(int=0), policy_hash="",
        )  # fmt: skip
    with Store.open(database_url) as store:
        _, scaffold = corrected_shares(store, "acme", as_of=LATER)
        assert (scaffold.learned, scaffold.wrong) == (2, 1)
