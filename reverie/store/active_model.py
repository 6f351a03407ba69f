"""The active embedding model of a tenant: the first one that embeds; `reembed` switches it.

Vectors are kept by model and never compared across models. A process with another model must not write vectors that
nobody finds, or merge by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from reverie.errors import SettingsError
from reverie.store.queries import queries


def hold_active_model(conn: Connection[Any], tenant_id: str, model: str) -> None:
    """Keep the tenant's active model from being switched until the transaction ends.

    Raises:
        SettingsError: the active model is not `model`.
    """
    sql, params = queries("tenants"), {"tenant": tenant_id, "model": model}
    row = conn.execute(sql["hold_model"], params).fetchone()
    if (
        row is None
    ):  # no model is chosen, so no row is locked: two processes that held a lock and wanted to choose would deadlock
        conn.execute(sql["choose_model"], params)
        row = conn.execute(sql["hold_model"], params).fetchone()
    if row is not None and row[0] != model:
        raise SettingsError(
            f"The memory of tenant {tenant_id} is embedded by {row[0]}, and this process has {model}: "
            "set REVERIE_EMBEDDING_MODEL to the former, or change the tenant's with `reverie reembed`."
        )


def switch_active_model(conn: Connection[Any], tenant_id: str, model: str, items: Sequence[str]) -> int:
    """Make `model` the active one if no item of these types lacks its vector. Return how many lack it; 0: switched.

    Items on which the stage embed failed do not count: they stay without a vector until they are redriven.
    A process that embeds waits until the caller's transaction ends, and then finds that its model is not active.
    """
    sql, params = queries("tenants"), {"tenant": tenant_id, "model": model, "items": list(items)}
    conn.execute(sql["lock_model"], params)
    row = conn.execute(sql["count_missing"], params).fetchone()
    missing = int(row[0]) if row else 0
    if not missing:
        conn.execute(sql["set_model"], params)
    return missing
