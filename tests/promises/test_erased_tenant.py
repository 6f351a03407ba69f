"""A tenant that is erased as a whole: nothing that is said meanwhile or later is kept for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from reverie.drive.erase.write import delete_tenant
from reverie.store.connect import connect
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
