"""A tenant that is erased as a whole: nothing that is said meanwhile or later is kept for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from reverie.drive.erase.write import delete_tenant
from reverie.store.connect import connect
from reverie.store.queries import queries
from tests.live.conftest import Talk
from tests.promises.compact import TENANT, UNTIL
from tests.promises.test_corrected_at_once import rows
from tests.promises.test_erased import POLICY, Opened, everywhere, there, without

__all__ = ["there", "without"]


def test_turns_of_an_erased_tenant_are_refused(there: Opened) -> None:
    """A server trusts a key for some seconds more."""
    assert list(there.eraser.erase_tenant())
    told = Talk(there.store, POLICY, tenant=TENANT).say("I moved to Quito.")
    assert [(heard.status, heard.noticed.reason) for heard in told.turns] == [("refused", "erased")]
    assert everywhere(there.url, "Quito") == everywhere(there.url, "ana") == {}
    assert not there.eraser.has_rows()


def test_turns_that_are_stored_while_a_tenant_is_erased_go_with_it(there: Opened) -> None:
    talk = Talk(there.store, POLICY, tenant=TENANT)
    with ThreadPoolExecutor() as threads:
        with there.eraser.transaction() as conn:
            delete_tenant(conn, TENANT)
            said = threads.submit(talk.say, "I moved to Quito.")
            with pytest.raises(TimeoutError):
                said.result(timeout=0.5)
        assert said.result().turns[0].status == "refused"
    assert everywhere(there.url, "Quito") == {}


def test_what_was_left_of_an_erased_tenant_can_be_erased(there: Opened) -> None:
    """Before turns were refused, they waited in the buffer of no tenant."""
    assert list(there.eraser.erase_tenant())
    with connect(there.url) as conn:
        conn.execute(
            "insert into ops.pending_turns (tenant_id, subject_id, session_id, source_id, id, role, said_at, text,"
            " content_hash) values (%s, 'ana', 's', '1', %s, 'user', %s, 'I moved to Quito.', '')",
            [TENANT, UUID(int=9), UNTIL],
        )
    assert there.eraser.has_rows()
    assert list(there.eraser.erase_tenant())
    assert everywhere(there.url, "Quito") == {} and not there.eraser.has_rows()


def test_the_keys_of_a_tenant_go_first(there: Opened) -> None:
    with connect(there.url) as conn:
        conn.execute(
            "insert into ops.api_keys (tenant_id, id, name, digest, scopes, made_at)"
            " values (%s, %s, 'k', '', '{write}', %s)",
            [TENANT, UUID(int=9), UNTIL],
        )
    erasing = there.eraser.erase_tenant()
    next(erasing)
    assert rows(there.store, "select count(*) from ops.api_keys") == [(0,)]
    assert [*erasing][-1].counts["ops.api_keys"] == 1


def test_the_subjects_of_a_tenant_come_in_order_and_once(there: Opened) -> None:
    """Whatever the tables that know them, and however many are read at once."""
    with connect(there.url) as conn:
        conn.execute(
            "insert into ops.store_items (tenant_id, namespace, key, value, created_at, updated_at)"
            " select %s, array[l, 'ben'], 'k', '{}', %s, %s from unnest(array['abe', 'ana', 'zoe']) l",
            [TENANT, UNTIL, UNTIL],
        )
        conn.execute(
            "insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped)"
            " select %s, gen_random_uuid(), 'cy', %s, 'where?', 'p', '{}', 0 from generate_series(1, 3)",
            [TENANT, UNTIL],
        )
    for limit in (1, 2, 3, 20):
        found: list[str] = []
        while page := subjects_after(there, found[-1] if found else "", limit):
            assert len(page) <= limit
            found += page
        assert found == ["abe", "ana", "ben", "cy", "zoe"]


def subjects_after(there: Opened, after: str, limit: int) -> list[str]:
    with there.eraser.transaction() as conn:
        params = {"tenant": TENANT, "after": after, "limit": limit}
        return [row[0] for row in conn.execute(queries("erase")["subjects_after"], params)]
