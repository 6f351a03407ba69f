"""Promise 7: a merge keeps what it replaced, and a wrong one is undone for good."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from reverie.capture.live.corrections import Corrected, retract_correction
from reverie.consolidate.merge.undo import undo
from reverie.errors import NotFoundError
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from tests.promises import compact
from tests.promises.conftest import WorkedIn
from tests.promises.test_corrected_at_once import wipe
from tests.promises.world import consolidate

Conn = psycopg.Connection[Any]

TENANT = compact.TENANT
#: What is said on the first day and again, in nearly the same words, on the tenth.
SAID_TWICE = "Rex"


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return {"merged": "alone"}


@pytest.fixture(scope="module")
def alone(worked_in: WorkedIn) -> str:
    """The name of a database with the compact history, worked in up to the fifth day."""
    return worked_in(compact.policy(), day(5))


@pytest.fixture
def merged(store: Store, conn: Conn) -> tuple[dict[str, Any], UUID, UUID]:
    """A memory as it was by itself, and loser and survivor of the merge that followed, of which it is one."""
    (alone,) = memories(conn)
    up_to(store, 10)
    (loser,) = (row for row in memories(conn) if row["state"] == "merged")
    assert alone["id"] in (loser["id"], loser["into_id"])
    return alone, loser["id"], loser["into_id"]


def test_both_are_as_they_were(store: Store, conn: Conn, merged: tuple[dict[str, Any], UUID, UUID]) -> None:
    policy, (alone, loser, survivor) = compact.policy(), merged
    both = {row["id"]: row for row in memories(conn)}
    assert both[survivor]["peak"] > alone["peak"]
    assert both[loser]["vectors"] == [False]
    assert undo(store, tenant_id=TENANT, loser_id=loser, policy=policy, as_of=day(11)) == survivor
    both = {row["id"]: row for row in memories(conn)}
    for row in both.values():
        assert (row["state"], row["into_id"], row["vectors"]) == ("active", None, [True])
        # what the merge added is taken back; a pet does not fade
        assert row["lasting"] and row["peak"] == pytest.approx(alone["peak"])
        assert row["forget_at"] is None
    same = ("content", "content_hash", "kind", "polarity", "base", "access_count", "happened_at", "mentions", "turn_id")
    assert {name: both[alone["id"]][name] for name in same} == {name: alone[name] for name in same}


def test_they_stay_apart(store: Store, conn: Conn, merged: tuple[dict[str, Any], UUID, UUID]) -> None:
    _, loser, survivor = merged
    undo(store, tenant_id=TENANT, loser_id=loser, policy=compact.policy(), as_of=day(11))
    before = digest(store, TENANT)
    assert undo(store, tenant_id=TENANT, loser_id=loser, policy=compact.policy(), as_of=day(12)) == survivor
    assert digest(store, TENANT) == before
    up_to(store, 35)
    assert {row["state"] for row in memories(conn)} == {"active"}


def test_an_undo_is_taken_back(
    store: Store, conn: Conn, merged: tuple[dict[str, Any], UUID, UUID], database_url: str
) -> None:
    """It was never made: after the next run, and in a rebuild. It can be made again, even at the same time."""
    _, loser, _ = merged
    up_to(store, 12)
    never = without_notes(store)
    for hours in (0, 2):
        at = day(11) + timedelta(hours=hours)
        undo(store, tenant_id=TENANT, loser_id=loser, policy=compact.policy(), as_of=day(11))
        up_to(store, 12)
        assert {row["state"] for row in memories(conn)} == {"active"}
        made = take_back(store, loser, at)
        assert made.memory_id == loser
        up_to(store, 12)
        assert sorted(row["state"] for row in memories(conn)) == ["active", "merged"]
        assert without_notes(store) == never
    live = digest(store, TENANT)
    wipe(database_url)
    up_to(store, 12)
    assert digest(store, TENANT) == live
    with pytest.raises(NotFoundError, match="No correction"):
        take_back(store, loser, day(11.5))


def take_back(store: Store, memory: UUID, at: datetime) -> Corrected:
    session, kinds = store.session(TENANT), ("keep_apart",)
    return perform(retract_correction(session, memory_id=memory, policy=compact.policy(), as_of=at, kinds=kinds))


def without_notes(store: Store) -> dict[str, Any]:
    """All tables but the list of what is worked in."""
    return {name: table for name, table in digest(store, TENANT).tables.items() if name != "corrected"}


def up_to(store: Store, days: float) -> None:
    """Bring memory to a day of the history."""
    consolidate(store, TENANT, compact.policy(), day(days))


def day(number: float) -> Any:
    return compact.START + timedelta(days=number)


def memories(conn: Conn) -> list[dict[str, Any]]:
    """The memories of what is said twice, oldest first, with whether they are found."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            """select m.*, (select array_agg(distinct live) from memory.vectors where item_id = m.id) as vectors
               from memory.memories m where content ~ %s and kind = 'fact' order by happened_at""",
            [SAID_TWICE],
        ).fetchall()
