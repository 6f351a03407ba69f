"""Pacing: all processes of a tenant send requests to a model at one shared rate."""

from __future__ import annotations

import time
from datetime import timedelta

from psycopg import Connection

from reverie.inference.completions import CallError, LanguageModel
from reverie.store.database import Store
from reverie.store.queries import queries

#: Longest pause between attempts, in seconds, even if a provider asks for a longer one.
LONGEST_PAUSE_S = 60.0


def wait_for_slot(store: Store, tenant_id: str, model: LanguageModel) -> None:
    """Reserve the next free slot of the shared rate and wait for it; no connection is held meanwhile.

    Raises CallError if no slot is free within the model's patience.
    """
    limits = model.limits
    params = {
        "tenant": tenant_id,
        "model": model.key,
        "pause": timedelta(seconds=1 / limits.per_second) if limits.per_second else timedelta(),
        "patience": timedelta(seconds=limits.patience_s),
    }
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("calls")["take_slot"], params).fetchone()
    if row is None:
        raise CallError(
            f"The model {model.key} has no free slot under its rate limit within {limits.patience_s:g} s.",
            reason="rate",
        )
    time.sleep(row[0])


def hold_back(conn: Connection, tenant_id: str, model: LanguageModel, seconds: float) -> None:
    """Let no process send a request within the pause that the provider asks for, in the caller's transaction."""
    pause = timedelta(seconds=min(seconds, LONGEST_PAUSE_S))
    conn.execute(queries("calls")["hold_back"], {"tenant": tenant_id, "model": model.key, "pause": pause})
