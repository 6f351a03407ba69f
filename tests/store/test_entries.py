"""Rows of the log of answers are written together."""

from __future__ import annotations

from typing import Any

import psycopg

from reverie.store.database import Store
from reverie.store.entries import Entry, write_entries
from reverie.store.session import perform

TENANTS = "insert into ops.tenants (tenant_id) select %(tenant)s from jsonb_to_recordset(%(rows)s) as r (x int) limit 1"
CHANGES = (
    "update ops.tenants set policy = (select string_agg(r.x::text, ',') from jsonb_to_recordset(%(rows)s) as r (x int))"
    " where tenant_id = %(tenant)s"
)


def test_entries_of_one_kind_are_one_statement_and_all_are_one_transaction(
    database_url: str, conn: psycopg.Connection[Any]
) -> None:
    entries = [Entry(TENANTS, {"x": 1}), Entry(CHANGES, {"x": 2}), Entry(CHANGES, {"x": 3})]
    with Store.open(database_url, size=1) as store:
        perform(write_entries(store.session("acme"), entries))
    assert conn.execute("select tenant_id, policy, xmin = xmax from ops.tenants").fetchall() == [("acme", "2,3", False)]
