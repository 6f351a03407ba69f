"""What an id names, sessions, and the recalls in which a memory served."""

from __future__ import annotations

from uuid import UUID

import pytest

from reverie.errors import NotFoundError
from reverie.inspector.reading import (
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
        sessions, moods = perform(sessions_and_moods(acme, "eve", before=None))
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
