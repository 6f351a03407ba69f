"""The cached tools of a connection: until when they are given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from reverie.capture.live.connection_tools import MOST_BYTES, cache_tools
from reverie.errors import InputError
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def test_tools_end_after_the_policy_s_hours_or_the_caller_s(database_url: str, conn: psycopg.Connection[Any]) -> None:
    policy = load_policy("reverie")
    with Store.open(database_url, size=1) as store:

        def cache(**given: Any) -> datetime:
            options: dict[str, Any] = {"subject_id": "ann", "connection_id": "jira-1", "policy": policy, "as_of": AT}
            return perform(cache_tools(store.session("acme"), ["jira.search"], **(options | given)))

        assert cache() == AT + timedelta(hours=policy.working_memory.tools_ttl_hours)
        assert cache(ttl_hours=0.5) == AT + timedelta(minutes=30)
        with pytest.raises(InputError, match="1 MiB"):
            perform(
                cache_tools(
                    store.session("acme"), ["x" * MOST_BYTES], subject_id="ann", connection_id="c", policy=policy,
                    as_of=AT,
                )
            )  # fmt: skip
    rows = conn.execute("select connection_id, tools, read_at, expires_at from ops.connection_tools").fetchall()
    assert rows == [("jira-1", ["jira.search"], AT, AT + timedelta(minutes=30))]
