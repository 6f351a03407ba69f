"""The one writer: what is written is there, what exists stays, and what a person found wrong does not come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from reverie.consolidate.forgetting import forget
from reverie.consolidate.memories import set_live, write_candidates, write_lineage, write_memories
from reverie.model import Candidate, Lineage, Memory, Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.runs import run
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICY = load_policy("reverie")
CANDIDATE = Candidate(
    id=UUID(int=1),
    subject_id="ana",
    kind="fact",
    content="Has a dog named Bruno",
    importance=0.6,
    polarity=1,
    happened_at=AT,
    mentions=("pet:bruno", "place:pune"),
    turn_id=UUID(int=9),
    session_id="s1",
    origin="pet-named",
    model="m",
    stated={"key": "pet", "value": "Bruno"},
)
PATTERN = Memory(
    id=UUID(int=2),
    subject_id="ana",
    kind="pattern",
    content="Walks Bruno on Sundays",
    importance=0.7,
    happened_at=AT,
    accessed_at=AT,
    access_count=3,
    origin="theme:pet:bruno",
)


@pytest.fixture
def work(database_url: str) -> Iterator[Work]:
    with Store.open(database_url) as store:
        with store.transaction("t") as conn:
            ensure_tenant(conn, "t", "reverie")
        yield Work(store=store, scope=Scope(tenant_id="t"), policy=POLICY, as_of=AT)


def write(work: Work, *candidates: Candidate) -> None:
    with run(work, "extract") as attempt, work.transaction() as conn:
        write_candidates(conn, attempt, candidates)
        attempt.record(conn)


def rows(work: Work, query: str) -> list[tuple[object, ...]]:
    with work.transaction() as conn:
        return conn.execute(query).fetchall()  # type: ignore[arg-type]


def test_every_field_of_a_candidate_is_written(work: Work) -> None:
    write(work, CANDIDATE)
    query = """select id, subject_id, kind, state, content, polarity, peak::text, happened_at, mentions, turn_id,
                      session_id, origin, model, stated, forget_at
               from memory.memories"""
    assert rows(work, query) == [
        (CANDIDATE.id, "ana", "fact", "candidate", CANDIDATE.content, 1, "0.6", AT, ["pet:bruno", "place:pune"],
         CANDIDATE.turn_id, "s1", "pet-named", "m", {"key": "pet", "value": "Bruno"},
         POLICY.fading.forget_at("fact", 0.6, AT))
    ]  # fmt: skip


def test_a_candidate_that_exists_stays_as_it_is(work: Work) -> None:
    write(work, CANDIDATE)
    write(work, replace(CANDIDATE, content="Has a cat"))
    assert rows(work, "select content from memory.memories") == [(CANDIDATE.content,)]


@pytest.mark.parametrize(("reason", "left"), [("wrong", 0), ("forgotten_on_request", 0), ("faded", 1)])
def test_what_a_person_found_wrong_does_not_come_back(work: Work, reason: str, left: int) -> None:
    write(work, CANDIDATE)
    with run(work, "prune") as attempt, work.transaction() as conn:
        assert forget(conn, attempt, [(CANDIDATE.id, AT)], reason).total() == 1
        assert forget(conn, attempt, [], reason).total() == 0
        attempt.record(conn)
    write(work, CANDIDATE)
    assert rows(work, "select count(*)::int from memory.memories") == [(left,)]


def test_a_memory_is_in_force_at_once_with_its_lineage(work: Work) -> None:
    source = Lineage(memory_id=PATTERN.id, relation="compressed", source="memory", source_id=CANDIDATE.id, at=AT)
    with run(work, "compress") as attempt, work.transaction() as conn:
        write_memories(conn, attempt, [PATTERN])
        write_lineage(conn, attempt, [source, source])
        write_lineage(conn, attempt, [])
        attempt.record(conn)
    assert rows(work, "select state, content, access_count, scored, linked from memory.memories") == [
        ("active", PATTERN.content, 3, True, True)
    ]
    assert rows(work, "select memory_id, relation, source, source_id, as_of from memory.lineage") == [
        (PATTERN.id, "compressed", "memory", CANDIDATE.id, AT)
    ]


def test_only_what_is_named_leaves_the_search(work: Work) -> None:
    write(work, CANDIDATE, replace(CANDIDATE, id=UUID(int=3), content="Has a cat"))
    with work.transaction() as conn:
        conn.execute(
            """insert into memory.vectors (tenant_id, subject_id, item, item_id, part, model, live, vec)
               select tenant_id, subject_id, 'memory', id, 0, 'm', true, '[1]'::halfvec from memory.memories"""
        )
        set_live(conn, "t", [CANDIDATE.id], live=False)
    assert rows(work, "select item_id, live from memory.vectors order by item_id") == [
        (CANDIDATE.id, False), (UUID(int=3), True)
    ]  # fmt: skip
