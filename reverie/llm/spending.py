"""Spending: the cost of a tenant's calls to models, and the credits that limit it: its own and its subjects'."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg.rows import dict_row

from reverie.store.database import Store
from reverie.store.queries import queries


def read_spending(
    store: Store,
    tenant_id: str,
    *,
    since: datetime | None,
    by_run: bool = False,
    by_subject: bool = False,
    subject_id: str | None = None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the costs booked since a time, a row for each stage and model, run or subject, and the credits.

    With `subject_id`, only requests about that subject alone, and of the subjects' credits only its own. The tenant's
    credit has no subject; without a credit there is no limit.
    """
    params = {
        "tenant": tenant_id, "since": since, "by_run": by_run, "by_subject": by_subject, "subject": subject_id
    }  # fmt: skip
    with store.transaction(tenant_id) as conn:
        cursor = conn.cursor(row_factory=dict_row)
        rows = cursor.execute(queries("calls")["sum_costs"], params).fetchall()
        credits = cursor.execute(queries("calls")["read_credits"], params).fetchall()
    for row in rows:
        row |= {name: float(row[name] or 0) for name in ("cost_usd", "open_usd")} | {"items": int(row["items"])}
    return rows, credits


def set_credit(store: Store, tenant_id: str, balance_usd: float | None, *, subject_id: str | None = None) -> None:
    """Set what a tenant may spend from now on, in all or for one subject; None removes the limit."""
    if subject_id is None:
        name = "lift_credit" if balance_usd is None else "give_credit"
    else:
        name = "lift_subject_credit" if balance_usd is None else "give_subject_credit"
    params = {"tenant": tenant_id, "subject": subject_id, "balance_usd": balance_usd}
    with store.transaction(tenant_id) as conn:
        conn.execute(queries("calls")[name], params)
