"""Money: a request to a model is booked before it is sent and settled when its reply is there (spec E1).

The most that it can cost is taken off the tenant's credit in the statement that books it, so that requests of several
processes never overdraw it together. A process that dies in between leaves its request booked at that price: whether
the provider charges for it nobody here can know, and the credit must not say that there is more than there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg import Connection

from reverie.errors import InferenceError
from reverie.inference.completions import CallError
from reverie.inference.embedder import Embedder
from reverie.model import stable_id
from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class Payer:
    """Who pays for a request, and for what."""

    tenant_id: str
    stage: str
    run_id: UUID | None = None


def reserve(
    conn: Connection[Any],
    payer: Payer,
    *,
    kind: Literal["completion", "embedding"],
    model: str,
    most_usd: float | None,
    items: int,
    prompt: str | None = None,
    prompt_hash: bytes | None = None,
) -> UUID:
    """Book a request that can cost `most_usd` (None: nobody knows) in the caller's transaction; return its id.

    Raises CallError when the tenant's credit does not allow it, and when it has a credit and no price is known.
    """
    call_id = stable_id(datetime.now(UTC), "call", payer.tenant_id, uuid4().hex)
    params = {
        "tenant": payer.tenant_id,
        "stage": payer.stage,
        "run_id": payer.run_id,
        "call_id": call_id,
        "kind": kind,
        "model": model,
        "most_usd": most_usd or 0.0,
        "priced": most_usd is not None,
        "items": items,
        "prompt": prompt,
        "prompt_hash": prompt_hash,
    }
    if conn.execute(queries("calls")["reserve"], params).fetchone() is not None:
        return call_id
    if most_usd is None:
        raise CallError(
            f"Tenant {payer.tenant_id} has a credit and no price is known for {model}: "
            "set REVERIE_LANGUAGE_MODEL_PRICE.",
            reason="unpriced",
        )
    raise CallError(
        f"The credit of tenant {payer.tenant_id} does not allow another request to {model}, which can cost "
        f"${most_usd:.6f}: reverie costs credit {payer.tenant_id} AMOUNT.",
        reason="credit",
    )


def settle(
    conn: Connection[Any],
    payer: Payer,
    call_id: UUID,
    *,
    cost_usd: float | None,
    tokens_in: int = 0,
    tokens_out: int = 0,
    seconds: float = 0.0,
    failed: bool = False,
    reason: str | None = None,
    repairs: Sequence[str] = (),
) -> None:
    """Write what the request cost (None: what was reserved) in the caller's transaction; twice does nothing more."""
    params = {
        "tenant": payer.tenant_id,
        "call_id": call_id,
        "state": "failed" if failed else "done",
        "cost_usd": cost_usd,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "seconds": seconds,
        "reason": reason,
        "repairs": sorted(repairs),
    }
    conn.execute(queries("calls")["settle"], params)


@contextmanager
def embedding_booked(
    store: Store, payer: Payer, embedder: Embedder, texts: Sequence[str], tokens: int
) -> Iterator[None]:
    """Book the embedding of `texts`, of `tokens` tokens, around the call; free models are not booked.

    A text has no more tokens than bytes. Raises CallError when the credit does not allow it.
    """
    if not texts or not embedder.price_per_token:
        yield
        return
    most = embedder.price_per_token * sum(len(text.encode()) + 2 for text in texts)
    named: dict[str, Any] = {"kind": "embedding", "model": embedder.model, "items": len(texts)}
    with store.transaction(payer.tenant_id) as conn:
        call_id = reserve(conn, payer, most_usd=most, **named)
    try:
        yield
    except InferenceError:
        with store.transaction(payer.tenant_id) as conn:
            settle(conn, payer, call_id, cost_usd=None, failed=True, reason="unavailable")
        raise
    with store.transaction(payer.tenant_id) as conn:
        settle(conn, payer, call_id, cost_usd=embedder.price_per_token * tokens, tokens_in=tokens)
