"""Receipts are a chain: one that is changed, left out or put in shows, and no role can change one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest

from reverie.store.connect import connect, tenant_transaction
from reverie.store.privacy.receipts import (
    ErasureDone,
    ensure_keys,
    find_receipt,
    first_break,
    new_erasure_id,
    read_receipts,
    target_of,
    write_receipt,
)

AT = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)


@pytest.fixture
def eraser(database_url: str) -> Iterator[psycopg.Connection]:
    """A session as the eraser, with keys of two tenants."""
    with connect(database_url) as session:
        session.execute("set role reverie_eraser")
        for tenant in ("acme", "other"):
            with tenant_transaction(session, tenant):
                ensure_keys(session, tenant)
        yield session


def write(conn: psycopg.Connection, name: str) -> None:
    with tenant_transaction(conn, "acme"):
        done = ErasureDone(
            id=new_erasure_id(),
            kind="subject",
            target=target_of(conn, "subject", [name]),
            counts={"log.turns": 3, "log.moods": 1},
            erased_at=AT,
            actor="dana",
        )
        write_receipt(conn, "acme", done)


def test_a_chain_holds_until_a_receipt_is_changed_or_missing(eraser: psycopg.Connection) -> None:
    for name in ("ana", "ben", "cleo"):
        write(eraser, name)
    with tenant_transaction(eraser, "acme"):
        receipts = read_receipts(eraser, "acme")
    assert [receipt.number for receipt in receipts] == [1, 2, 3]
    assert first_break("acme", receipts) is None and first_break("acme", []) is None
    assert first_break("other", receipts) == 1, "of another tenant"
    changed = [receipts[0], replace(receipts[1], counts={"log.turns": 2}), receipts[2]]
    assert first_break("acme", changed) == 2
    assert first_break("acme", [receipts[0], receipts[2]]) == 2


def test_a_receipt_is_found_by_who_knows_what_was_erased(eraser: psycopg.Connection) -> None:
    write(eraser, "ana")
    with tenant_transaction(eraser, "acme"):
        ana = target_of(eraser, "subject", ["ana"])
        assert (found := find_receipt(eraser, "acme", "subject", ana)) and found.erased_at == AT
        assert find_receipt(eraser, "acme", "session", ana) is None
        assert len(ana) == 32 and ana != target_of(eraser, "turn", ["ana"])
    with tenant_transaction(eraser, "other"):
        assert target_of(eraser, "subject", ["ana"]) != ana, "each tenant has keys of its own"


@pytest.mark.parametrize("role", ["eraser", "worker"])
def test_nobody_changes_a_receipt_or_reads_the_keys(eraser: psycopg.Connection, database_url: str, role: str) -> None:
    write(eraser, "ana")
    with connect(database_url) as session:
        session.execute(f"set role reverie_{role}")
        for statement in (
            "update ops.erasures set actor = 'nobody'",
            "delete from ops.erasures",
            "delete from ops.erased",
            "select inner_key from ops.erasure_keys",
            "delete from ops.erasure_keys",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), tenant_transaction(session, "acme"):
                session.execute(statement)
