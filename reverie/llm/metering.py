"""Money: a request to a model is booked before it is sent and settled when its reply is there (spec E1).

The most that it can cost is taken off the tenant's credit in the statement that books it, so that requests of several
processes never overdraw it together. A process that dies in between leaves its request booked at that price: whether
the provider charges for it nobody here can know, and the credit must not say that there is more than there is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg import Connection

from reverie.errors import InferenceError
from reverie.inference.completions import CallError
from reverie.inference.embedder import Embedder, Vectors
from reverie.model import stable_id
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


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
    told = {"prompt": prompt, "prompt_hash": prompt_hash}
    params = _reservation(payer, kind=kind, model=model, most_usd=most_usd, items=items) | told
    if conn.execute(queries("calls")["reserve"], params).fetchone() is None:
        raise _refusal(payer, model, most_usd)
    return UUID(str(params["call_id"]))


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
    params = _settlement(payer, call_id, cost_usd=cost_usd, seconds=seconds, failed=failed, reason=reason)
    more = {"tokens_in": tokens_in, "tokens_out": tokens_out, "repairs": sorted(repairs)}
    conn.execute(queries("calls")["settle"], params | more)


@contextmanager
def embedding_booked(
    store: Store, payer: Payer, embedder: Embedder, texts: Sequence[str], tokens: int
) -> Iterator[None]:
    """Book the embedding of `texts`, of `tokens` tokens, around the call; free models are not booked.

    Raises CallError when the credit does not allow it.
    """
    if not texts or not embedder.price_per_token:
        yield
        return
    most = embedder.price_per_token * _most_tokens(texts)
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


async def embed_question(session: TenantSession, text: str, *, stage: str, embedder: Embedder) -> Vectors:
    """Return the vector of one text, shape (dimensions,); what a hosted model costs is booked around the call.

    The session must be a worker's where the model has a price. Raises InferenceError when it gives no usable answer,
    and CallError when the tenant's credit does not allow it.
    """
    if not embedder.price_per_token:
        vector: Vectors = (await session.offload(embedder.encode, [text]))[0]
        return vector
    payer = Payer(tenant_id=session.tenant_id, stage=stage)
    most = embedder.price_per_token * _most_tokens([text])
    params = _reservation(payer, kind="embedding", model=embedder.model, most_usd=most, items=1)
    if not await session.run(Statement(queries("calls")["reserve"], params)):
        raise _refusal(payer, embedder.model, most)
    began = time.perf_counter()

    async def settle_call(cost_usd: float | None, **outcome: Any) -> None:
        seconds = time.perf_counter() - began
        values = _settlement(payer, params["call_id"], cost_usd=cost_usd, seconds=seconds, **outcome)
        await session.run(Statement(queries("calls")["settle"], values))

    try:
        vector, tokens = await session.offload(lambda: (embedder.encode([text])[0], embedder.count_tokens(text)))
    except InferenceError:
        await settle_call(None, failed=True, reason="unavailable")
        raise
    await settle_call(embedder.price_per_token * tokens, tokens_in=tokens)
    return vector


def _most_tokens(texts: Sequence[str]) -> int:
    """At least as many as any tokenizer makes of the texts: none makes more than one of a byte."""
    return sum(len(text.encode()) + 2 for text in texts)


def _reservation(payer: Payer, *, kind: str, model: str, most_usd: float | None, items: int) -> dict[str, Any]:
    """The parameters of the query `reserve`."""
    return {
        "tenant": payer.tenant_id,
        "stage": payer.stage,
        "run_id": payer.run_id,
        "call_id": stable_id(datetime.now(UTC), "call", payer.tenant_id, uuid4().hex),
        "kind": kind,
        "model": model,
        "most_usd": most_usd or 0.0,
        "priced": most_usd is not None,
        "items": items,
        "prompt": None,
        "prompt_hash": None,
    }


def _refusal(payer: Payer, model: str, most_usd: float | None) -> CallError:
    """Why a request was not booked."""
    if most_usd is None:
        return CallError(
            f"Tenant {payer.tenant_id} has a credit and no price is known for {model}: "
            "set REVERIE_LANGUAGE_MODEL_PRICE.",
            reason="unpriced",
        )
    return CallError(
        f"The credit of tenant {payer.tenant_id} does not allow another request to {model}, which can cost "
        f"${most_usd:.6f}: reverie costs credit {payer.tenant_id} AMOUNT.",
        reason="credit",
    )


def _settlement(
    payer: Payer,
    call_id: UUID,
    *,
    cost_usd: float | None,
    tokens_in: int = 0,
    seconds: float = 0.0,
    failed: bool = False,
    reason: str | None = None,
) -> dict[str, Any]:
    """The parameters of the query `settle`."""
    return {
        "tenant": payer.tenant_id,
        "call_id": call_id,
        "state": "failed" if failed else "done",
        "cost_usd": cost_usd,
        "tokens_in": tokens_in,
        "tokens_out": 0,
        "seconds": seconds,
        "reason": reason,
        "repairs": [],
    }
