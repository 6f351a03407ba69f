"""A command with a policy of its own still compares with the memory by the tenant's policy."""

from __future__ import annotations

import psycopg
import pytest

from reverie.cli.generations.live import live_memory
from reverie.cli.session import CommandSession
from reverie.errors import NotFoundError


def test_the_live_memory_is_that_of_the_tenants_own_policy(
    database_url: str, conn: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    conn.execute("insert into ops.tenants (tenant_id, policy) values ('acme', 'brain')")
    with CommandSession("acme", "contact") as session:
        live = live_memory(session, None, jobs=3)
        assert (live.work.policy.name, session.policy.name) == ("brain", "contact")
        assert live.url == database_url and live.jobs < session.connections
    with CommandSession("nobody") as session, pytest.raises(NotFoundError):
        live_memory(session, None, jobs=1)
