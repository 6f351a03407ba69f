"""A correction wins: at once, for good, and in every rebuild (spec E4, promises 4 and 5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from reverie.capture.live.corrections import CorrectionAsked, correct_memory
from reverie.consolidate.correct.decide import revived
from reverie.errors import InputError, NotFoundError
from reverie.recall.inspect import explain
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from tests.promises import compact
from tests.promises.conftest import WorkedIn
from tests.promises.world import consolidate

TENANT = compact.TENANT
THEN = compact.START + timedelta(days=35, hours=5)


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return {"store": "at_then"}


@pytest.fixture(scope="module")
def at_then(worked_in: WorkedIn) -> str:
    """The name of a database with the compact history, worked in up to THEN."""
    return worked_in(compact.policy(), THEN)


def rows(store: Store, sql: Any, *params: Any) -> list[tuple[Any, ...]]:
    with store.transaction(TENANT) as conn:
        return conn.execute(sql, params).fetchall()


def find(store: Store, words: str) -> UUID:
    """The active memory that says so."""
    sql = "select id from memory.memories where state = 'active' and content ilike %s order by id limit 1"
    ((id_,),) = rows(store, sql, f"%{words}%")
    return id_  # type: ignore[no-any-return]


def correct(store: Store, memory: UUID, content: str | None = None, hours: float = 0, **more: Any) -> UUID:
    at = THEN + timedelta(hours=hours)
    correction = CorrectionAsked(memory_id=memory, content=content, **more)
    return perform(correct_memory(store.session(TENANT), correction, policy=compact.policy(), as_of=at)).id


def wipe(url: str) -> None:
    """Throw away all that is derived."""
    with connect(url) as conn:
        for (table,) in conn.execute(
            "select c.oid::regclass::text from pg_class c where relnamespace = 'memory'::regnamespace and relkind = 'r'"
        ).fetchall():
            conn.execute(psycopg.sql.SQL("delete from {}").format(psycopg.sql.Identifier(*table.split("."))))


def test_a_correction_wins_and_holds_in_a_rebuild(store: Store, database_url: str) -> None:
    policy = compact.policy()
    dog, sister = find(store, "Rex"), find(store, "sister lives")
    held = rows(store, "select count(*) from memory.memories where into_id = %s", dog)
    assert held == [(1,)], "nothing was merged into it"
    facts = rows(store, "select count(*) from memory.structured_facts where memory_id = %s", dog)
    correct(store, dog, "Has a beagle named Max")
    wrong = correct(store, sister, hours=1)
    assert rows(store, "select due_at from ops.queue") == [(THEN,)]
    consolidate(store, TENANT, policy, THEN + timedelta(hours=2))
    assert rows(store, "select id from memory.memories where content ~ 'Rex' and kind <> 'summary'") == []
    assert rows(store, "select count(*) from memory.structured_facts where memory_id = %s", dog) == [(0,)], facts
    ((beagle, state, kind, origin),) = rows(
        store, "select id, state, kind, origin from memory.memories where content = 'Has a beagle named Max'"
    )
    assert (state, kind, origin) == ("active", "fact", "correction/reader")
    assert rows(store, "select relation, source from memory.lineage where memory_id = %s", beagle) == [
        ("corrected", "correction")
    ]
    (why,) = perform(explain(store.session(TENANT), str(beagle))).observed
    assert (why.source, why.type, why.content) == ("correction", "replace", "Has a beagle named Max")
    tombstones = dict(rows(store, "select memory_id, reason from memory.tombstones"))
    assert tombstones[dog] == tombstones[sister] == "wrong"
    assert list(tombstones.values()).count("wrong") == 3
    assert (wrong,) in rows(store, "select correction_id from memory.corrected")
    again = digest(store, TENANT)
    consolidate(store, TENANT, policy, THEN + timedelta(hours=2))
    assert digest(store, TENANT).tables == again.tables

    consolidate(store, TENANT, policy, compact.UNTIL)
    live = digest(store, TENANT)
    wipe(database_url)
    assert digest(store, TENANT).tables["memories"].rows == 0
    consolidate(store, TENANT, policy, compact.UNTIL)
    assert digest(store, TENANT).tables == live.tables


def test_a_correction_turns_a_statement_round(store: Store) -> None:
    stated = "select content, object, polarity from memory.memories where relation = 'likes' and content ~ 'coffee'"
    ((content, object_, polarity),) = rows(store, stated)
    assert (object_, polarity) == ("coffee", -1)
    correct(store, find(store, content), "Likes coffee")
    consolidate(store, TENANT, compact.policy(), THEN + timedelta(hours=2))
    assert rows(store, stated) == [("Likes coffee", "coffee", 1)]


def test_what_cannot_be_corrected(store: Store) -> None:
    dog = find(store, "Rex")
    with pytest.raises(NotFoundError):
        correct(store, UUID(int=7))
    with pytest.raises(NotFoundError):
        correct(store, dog, subject_id="ben")
    for content in ("", " \n", "x" * 10_001):
        with pytest.raises(InputError, match="content"):
            correct(store, dog, content)
    assert not rows(store, "select from log.corrections")
    with store.transaction("other"):
        pass
    with pytest.raises(NotFoundError):
        perform(
            correct_memory(store.session("other"), CorrectionAsked(memory_id=dog), policy=compact.policy(), as_of=THEN)
        )


def test_a_value_is_in_force_again_when_what_replaced_it_was_wrong() -> None:
    one, two, three, four = (UUID(int=number) for number in range(1, 5))
    later = THEN + timedelta(days=1)
    assert revived([(one, two)], [(two, None, None)]) == {"ids": [one], "valid_to": [None], "replaced_by": [None]}
    chain = revived([(one, two)], [(two, THEN, three), (three, later, four)])
    assert chain == {"ids": [one], "valid_to": [later], "replaced_by": [four]}
