"""What a subject agreed to keep for some days is erased when they are over, as if it had not been said."""

from __future__ import annotations

from datetime import timedelta

from reverie.store.connect import connect
from reverie.store.privacy.consents import ConsentChange, change_consent
from reverie.store.session import perform
from tests.promises.compact import START, TENANT, UNTIL
from tests.promises.test_corrected_at_once import rows
from tests.promises.test_erased import Opened, Record, differing, remember, there, without

__all__ = ["there", "without"]


def test_a_run_erases_what_is_overdue(there: Opened, without) -> None:
    kept = (UNTIL - START - timedelta(days=20)).days
    change = ConsentChange(retain_days=kept)
    perform(change_consent(there.store.session(TENANT), "ana", change, at=UNTIL))
    cutoff = (UNTIL - timedelta(days=kept)).replace(hour=0, minute=0).isoformat()

    def is_old(record: Record) -> bool:
        return record["subject_id"] == "ana" and (record.get("observed_at") or record["said_at"]) < cutoff

    assert differing(remember(there.store), without(is_old)) == []
    assert rows(there.store, "select kind, actor from ops.erasures") == [("retention", None)]
    assert rows(there.store, "select report -> 'subjects' from ops.runs where stage = 'expire'") == [(1,)]
    remember(there.store)
    assert rows(there.store, "select count(*) from ops.erasures") == [(1,)], "nothing is left that is too old"


def test_items_of_the_key_value_store_are_not_overdue(there: Opened, without) -> None:
    """A session in use for longer than the retention has new items, and old turns."""
    first = "select session_id from log.turns where subject_id = 'ana' order by said_at limit 1"
    ((session,),) = rows(there.store, first)
    with connect(there.url) as conn:
        conn.execute(
            "insert into ops.store_items (tenant_id, namespace, key, value, created_at, updated_at)"
            " values (%s, array['ana', %s], 'k', '{}', %s, %s)",
            [TENANT, session, UNTIL, UNTIL],
        )
    perform(change_consent(there.store.session(TENANT), "ana", ConsentChange(retain_days=20), at=UNTIL))
    remember(there.store)
    assert rows(there.store, "select kind from ops.erasures") == [("retention",)]
    assert rows(there.store, "select namespace from ops.store_items") == [(["ana", session],)]
