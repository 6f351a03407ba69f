"""Spending: what calls of models cost a tenant, and the credit that limits it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg.rows import dict_row

from reverie.store.database import Store
from reverie.store.queries import queries


def read_spending(
    store: Store, tenant_id: str, *, since: datetime | None, by_run: bool
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Return what was booked since a time, a row for each stage and model or run, and the credit; None: no limit."""
    params = {"tenant": tenant_id, "since": since, "by_run": by_run}
    with store.transaction(tenant_id) as conn:
        rows = conn.cursor(row_factory=dict_row).execute(queries("calls")["sum_costs"], params).fetchall()
        credit = conn.execute(queries("calls")["read_credit"], params).fetchone()
    for row in rows:
        row |= {name: float(row[name] or 0) for name in ("cost_usd", "open_usd")} | {"items": int(row["items"])}
    return rows, {"balance_usd": credit[0], "given_at": credit[1]} if credit else None


def set_credit(store: Store, tenant_id: str, balance_usd: float | None) -> None:
    """Set what a tenant may spend from now on; None: without limit."""
    name = "lift_credit" if balance_usd is None else "give_credit"
    with store.transaction(tenant_id) as conn:
        conn.execute(queries("calls")[name], {"tenant": tenant_id, "balance_usd": balance_usd})
