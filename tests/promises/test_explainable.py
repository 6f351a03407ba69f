"""Promises 5 and 10 over the sample history: why each memory is there, and why the rest is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from reverie.recall.inspect import explain
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.session import perform
from tests.conftest import Databases
from tests.promises.world import END, SAMPLE, live, lively

Conn = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def sample(databases: Databases) -> Iterator[str]:
    """The address of a database with the sample history, consolidated so that every stage had something to do."""
    policy = lively("reverie", merge={"threshold": 0.7}, cycle={"hours": 24})
    with databases() as url:
        with Store.open(url, size=1) as store:
            live(store, "demo", policy, SAMPLE, END)
        yield url


@pytest.fixture
def read(sample: str) -> Iterator[Conn]:
    """A reader of the sample."""
    with connect(sample, role="reader", tenant="demo") as conn:
        yield conn


def test_every_memory_names_its_turns(read: Conn) -> None:
    """Through other memories if need be, kept or forgotten; and of these turns it holds all ids, not only some."""
    found = read.execute(
        """
        with recursive up as (
            select memory_id as id, memory_id, source, source_id from memory.lineage
            union
            select u.id, l.memory_id, l.source, l.source_id
            from up u join memory.lineage l on l.memory_id = u.source_id and u.source = 'memory'
        ),
        known as (select id, kind from memory.memories union all select memory_id, kind from memory.tombstones)
        select k.kind, k.id, count(t.id), count(*) filter (where u.source = 'turn' and t.id is null)
        from known k
        left join up u on u.id = k.id
        left join log.turns t on u.source = 'turn' and t.id = u.source_id
        group by k.kind, k.id
        """
    ).fetchall()
    assert {kind for kind, *_ in found} == {"fact", "preference", "instruction", "episode", "pattern", "summary"}
    assert [row for row in found if row[2] == 0 or row[3] > 0] == []


def test_every_parent_is_known(read: Conn) -> None:
    orphans = read.execute(
        """
        select l.* from memory.lineage l
        where l.source = 'memory' and not exists (select from memory.memories where id = l.source_id)
              and not exists (select from memory.tombstones where memory_id = l.source_id)
           or l.source = 'outcome' and not exists (select from log.outcomes where id = l.source_id)
        """
    ).fetchall()
    assert orphans == []


def test_every_memory_names_its_run_and_policy(read: Conn) -> None:
    for table in ("memories", "extractions", "lineage", "links", "merges", "tombstones"):
        query = SQL("select count(*), count(r.run_id) from {} m left join ops.runs r using (tenant_id, run_id)")
        rows, known = read.execute(query.format(Identifier("memory", table))).fetchone() or (0, 0)
        assert rows == known > 0, table
    strange = read.execute(
        "select id from memory.memories m join ops.runs r using (tenant_id, run_id)"
        " where m.policy_hash <> r.policy_hash"
    ).fetchall()
    assert strange == []


def test_every_turn_gave_something_or_says_why_not(read: Conn) -> None:
    found = dict(
        read.execute(
            """select case when e.turn_id is null then 'unread' else coalesce(e.reason, 'kept') end, count(*)
               from log.turns t left join memory.extractions e on e.turn_id = t.id group by 1"""
        ).fetchall()
    )
    assert found.keys() == {"kept", "role", "low_content", "question", "no_rule"}
    contradictory = "select count(*) from memory.extractions where (candidates = 0) = (reason is null)"
    assert read.execute(contradictory).fetchone() == (0,)
    ledger = read.execute("select report from ops.runs where stage = 'extract'").fetchone()
    assert ledger is not None
    report = ledger[0]
    for reason in found.keys() - {"kept"}:
        assert report[f"discarded_{reason}"] == found[reason]
    assert report["turns"] == sum(found.values())


def test_every_candidate_became_something(read: Conn) -> None:
    """Nothing is silent: what was extracted is a memory, merged, compressed or forgotten for a reason."""
    extracted = read.execute("select sum(candidates) from memory.extractions").fetchone()
    known = read.execute(
        """select (select count(*) from memory.memories
                   where turn_id is not null and state <> 'candidate' and kind <> 'pattern')
                + (select count(*) from memory.tombstones k
                   where k.kind <> 'pattern' and exists (select from memory.lineage l
                                 where l.memory_id = k.memory_id and l.relation = 'extracted'))"""
    ).fetchone()
    assert extracted == known
    replaced = "select count(*) from memory.memories where (state in ('merged', 'compressed')) <> (into_id is not null)"
    assert read.execute(replaced).fetchone() == (0,)


def test_every_tombstone_has_a_reason_and_no_content(read: Conn) -> None:
    reasons = read.execute("select distinct kind = 'summary', reason from memory.tombstones order by 1, 2").fetchall()
    # a range of turns without a sentence worth telling leaves the tombstone of the summary that it might have had
    assert reasons == [(False, "expired"), (False, "faded"), (True, "unimportant")]
    stone = read.execute("select to_jsonb(t) from memory.tombstones t limit 1").fetchone()
    assert stone is not None
    assert not [value for value in stone[0].values() if isinstance(value, str) and " " in value]


def test_every_memory_can_be_explained(read: Conn, sample: str) -> None:
    with Store.open(sample, role="reader", size=1) as store:
        for (id_,) in read.execute("select id from memory.memories union all select memory_id from memory.tombstones"):
            why = perform(explain(store.session("demo"), str(id_)))
            assert why.turns, id_
            assert why.run is not None, id_
