"""The active embedding model of a tenant: the first one that embeds; `reembed` switches it.

Vectors are kept by model and never compared across models; what may not happen is that a process with another model
writes vectors that nobody finds, or merges by them.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from reverie.errors import SettingsError
from reverie.store.queries import queries


def hold_active_model(conn: Connection[Any], tenant_id: str, model: str) -> None:
    """Keep the tenant's active model from being switched until the transaction ends.

    Raises:
        SettingsError: it is another one than `model`.
    """
    sql, params = queries("tenants"), {"tenant": tenant_id, "model": model}
    row = conn.execute(sql["hold_model"], params).fetchone()
    if (
        row is None
    ):  # none is chosen, and so none is held: two that hold it and want to choose would wait for each other
        conn.execute(sql["choose_model"], params)
        row = conn.execute(sql["hold_model"], params).fetchone()
    if row is not None and row[0] != model:
        raise SettingsError(
            f"The memory of tenant {tenant_id} is embedded by {row[0]}, and this process has {model}: "
            "set REVERIE_EMBEDDING_MODEL to the former, or change the tenant's with `reverie reembed`."
        )


def switch_active_model(conn: Connection[Any], tenant_id: str, model: str) -> int:
    """Make `model` the active one if everything has its vectors; returns how many items lack them: 0, it is switched.

    Whoever embeds waits until the caller's transaction ends, and then finds another active model than its own.
    """
    sql, params = queries("tenants"), {"tenant": tenant_id, "model": model}
    conn.execute(sql["lock_model"], params)
    row = conn.execute(sql["count_missing"], params).fetchone()
    missing = int(row[0]) if row else 0
    if not missing:
        conn.execute(sql["set_model"], params)
    return missing
