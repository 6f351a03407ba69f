"""Who wrote what they read earlier knows whether something was erased since, and nothing is erased while they write."""

from __future__ import annotations

import psycopg
import pytest

from reverie.store.connect import connect, tenant_transaction
from reverie.store.locks import begin_erasing, count_erasures, is_unerased
from tests.cli.conftest import insert


def erased(conn: psycopg.Connection, number: int) -> None:
    insert(
        conn,
        "ops.erasures",
        number=number,
        id=f"019caa00-0000-8000-8000-00000000000{number}",
        kind="turn",
        target=b"",
        counts="{}",
        erased_at="2026-03-01Z",
        previous=b"",
        hash=b"",
    )


def test_an_erasure_since_is_seen(conn: psycopg.Connection, database_url: str) -> None:
    with connect(database_url, role="worker") as worker:
        with tenant_transaction(worker, "acme"):
            before = count_erasures(worker, "acme")
            assert before == 0 and is_unerased(worker, "acme", before)
        erased(conn, 1)
        with tenant_transaction(worker, "acme"):
            assert not is_unerased(worker, "acme", before) and is_unerased(worker, "acme", 1)
        with tenant_transaction(worker, "other"):
            assert is_unerased(worker, "other", 0)


def test_nothing_is_erased_while_somebody_writes(database_url: str) -> None:
    with connect(database_url, role="worker") as one, connect(database_url, role="worker") as other:
        other.execute("set lock_timeout = '200ms'")
        with tenant_transaction(one, "acme"):
            assert is_unerased(one, "acme", 0)
            with tenant_transaction(other, "acme"):
                assert is_unerased(other, "acme", 0), "any number may write"
            with pytest.raises(psycopg.errors.LockNotAvailable), tenant_transaction(other, "acme"):
                begin_erasing(other, "acme")
            with tenant_transaction(other, "globex"):
                begin_erasing(other, "globex")
        with tenant_transaction(other, "acme"):
            begin_erasing(other, "acme")
