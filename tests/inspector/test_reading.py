"""What an id names, sessions, and the recalls in which a memory served."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from reverie.errors import NotFoundError
from reverie.inspector.reading import (
    ListedSession,
    latest_corrections,
    locate,
    page_turns,
    read_tenant,
    recalls_with,
    sessions_and_moods,
)
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.session import perform
from tests.inspector.conftest import Site

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_tenants_rows_are_found_and_no_others(site: Site) -> None:
    with Store.open(site.database, role="reader", size=1) as store:
        acme, globex = store.session("acme"), store.session("globex")
        sessions, moods = perform(sessions_and_moods(acme, "eve", after=None, limit=20))
        assert [(each.session_id, each.turns) for each in sessions] == [("s3", 2), ("s2", 2), ("s1", 3)]
        assert len(moods) == 6 and {each.method for each in moods} <= {"classifier", "keywords", "previous"}
        assert all(each.mood for each in sessions)
        turns = perform(page_turns(acme, "eve", "s1", first=None, limit=10))
        assert [turn.role for turn in turns] == ["user", "assistant", "user"]
        last = perform(locate(acme, turns[2].id))
        assert (last.item, last.session_id) == ("turn", "s1")
        assert [each.id for each in perform(page_turns(acme, "eve", "s1", first=last, limit=10))] == [turns[2].id]
        (memory_id, content), *_ = turns[2].extracted
        assert "Bruno" in content and perform(locate(acme, UUID(memory_id))).item == "memory"
        assert perform(page_turns(globex, "eve", "s1", first=None, limit=10)) == []
        with pytest.raises(NotFoundError):
            perform(locate(globex, turns[2].id))
        assert perform(latest_corrections(globex, limit=5)) == []


def test_recalls_in_which_an_item_served(site: Site) -> None:
    item = UUID(int=7)
    row = "insert into log.recalls values ('acme', %s, 'zoe', %s, 'What?', '', null, %s, 0)"
    with connect(site.database) as conn:
        conn.execute(row, (UUID(int=1), "2026-03-01T00:00Z", [UUID(int=6), item]))
        conn.execute(row, (UUID(int=2), "2026-03-02T00:00Z", [UUID(int=6)]))
    with Store.open(site.database, role="reader", size=1) as store:
        (found,) = perform(recalls_with(store.session("acme"), "zoe", item))
    assert (found.id, found.place, found.hits) == (UUID(int=1), 2, 2)


def test_a_tenant_has_a_policy_and_a_clock(site: Site) -> None:
    with Store.open(site.database, size=1) as store:
        policy, clock_at = perform(read_tenant(store.session("acme")))
        assert policy == "reverie" and clock_at is not None
        with pytest.raises(NotFoundError):
            perform(read_tenant(store.session("nobody")))


def test_sessions_are_paged_by_their_ends(database_url: str) -> None:
    """Sessions that overlap, some of which end at the same time, and one that lasts as long as all."""
    began = datetime(2026, 3, 1, tzinfo=UTC)
    spans = {f"s{number:02d}": (number, number + 5 - number % 2) for number in range(23)} | {"long": (0, 30)}
    row = "insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, text, "
    row += "content_hash) values ('acme', gen_random_uuid(), 'ana', %s, %s, %s, 'user', %s, 'Hello', 'x')"
    with connect(database_url) as conn:
        for session, span in spans.items():
            for index, hours in enumerate(span):
                conn.execute(row, (session, f"{session}-{index}", index, began + timedelta(hours=hours)))
    seen: list[ListedSession] = []
    with Store.open(database_url, role="reader", size=1) as store:
        session = store.session("acme")
        for most in (20, 20, 20):
            after = (seen[-1].ended_at, seen[-1].session_id) if seen else None
            seen += perform(sessions_and_moods(session, "ana", after=after, limit=most))[0]
    assert len(seen) == 24 and {each.session_id for each in seen} == spans.keys()
    assert {each.turns for each in seen} == {2}
    assert [(each.ended_at, each.session_id) for each in seen] == sorted(
        ((each.ended_at, each.session_id) for each in seen), key=lambda pair: (-pair[0].timestamp(), pair[1])
    )
