"""Metering: a request to a model is booked before it is sent, and settled when its reply arrives.

The most that it can cost is taken off the credits of tenant and subject in the statement that books it, so that
requests of several processes never overdraw them together. A process that dies in between leaves its request booked at
that price: nobody here can know whether the provider charges for it, and a credit must not show more than there is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg import Connection

from reverie.errors import InferenceError
from reverie.inference.completions import CallError
from reverie.inference.embedder import Embedder, EmbeddingError, Vectors, collect_lost_texts
from reverie.interruption import check_interruption
from reverie.model import stable_id
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession
from reverie.telemetry import names
from reverie.telemetry.spans import model_span, recording


@dataclass(frozen=True, kw_only=True, slots=True)
class Payer:
    """The payer of a request, and its purpose."""

    tenant_id: str
    stage: str
    run_id: UUID | None = None
    #: The one subject that its requests are about, whose credit counts too; None: several, or none.
    subject_id: str | None = None

    def new_call_id(self) -> UUID:
        """Return an id for a request that is about to be sent."""
        return stable_id(datetime.now(UTC), "call", self.tenant_id, uuid4().hex)


@dataclass(frozen=True, kw_only=True, slots=True)
class MeteredCall:
    """A request to a model that a tenant pays for."""

    payer: Payer
    kind: Literal["completion", "embedding"]
    model: str
    #: The most that it can cost; None: unknown.
    most_usd: float | None
    #: Inputs or texts in it.
    items: int
    prompt: str | None = None
    prompt_hash: bytes | None = None
    id: UUID

    def params(self) -> dict[str, Any]:
        """Return the parameters of the query `reserve`."""
        return {
            "tenant": self.payer.tenant_id,
            "stage": self.payer.stage,
            "run_id": self.payer.run_id,
            "subject": self.payer.subject_id,
            "call_id": self.id,
            "kind": self.kind,
            "model": self.model,
            "most_usd": self.most_usd or 0.0,
            "priced": self.most_usd is not None,
            "items": self.items,
            "prompt": self.prompt,
            "prompt_hash": self.prompt_hash,
        }

    def refusal(self) -> CallError:
        """Return the error that says why it was not booked."""
        tenant_id, subject_id = self.payer.tenant_id, self.payer.subject_id
        if self.most_usd is None:
            return CallError(
                f"Tenant {tenant_id} has a credit and no price is known for {self.model}: "
                "set REVERIE_LANGUAGE_MODEL_PRICE.",
                reason="unpriced",
            )
        also = f" Subject {subject_id} may have a credit of its own." if subject_id else ""
        return CallError(
            f"The credit of tenant {tenant_id} does not allow another request to {self.model}, which can cost "
            f"${self.most_usd:.6f}: reverie costs credit {tenant_id} AMOUNT.{also}",
            reason="credit",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CallOutcome:
    """The outcome of a booked request."""

    #: None: the amount that was reserved.
    cost_usd: float | None
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    failed: bool = False
    reason: str | None = None
    #: The repairs of its reply.
    repairs: Sequence[str] = ()

    def params(self, call: MeteredCall) -> dict[str, Any]:
        """Return the parameters of the query `settle`."""
        return {
            "tenant": call.payer.tenant_id,
            "call_id": call.id,
            "state": "failed" if self.failed else "done",
            "cost_usd": self.cost_usd,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "seconds": self.seconds,
            "reason": self.reason,
            "repairs": sorted(self.repairs),
        }


def reserve(conn: Connection[Any], call: MeteredCall) -> None:
    """Book a request in the caller's transaction.

    Raises CallError if the tenant's credit does not allow it, or if it has a credit and no price is known.
    """
    if conn.execute(queries("calls")["reserve"], call.params()).fetchone() is None:
        raise call.refusal()


def settle(conn: Connection[Any], call: MeteredCall, outcome: CallOutcome) -> None:
    """Record the cost of a booked request in the caller's transaction; a second call changes nothing."""
    conn.execute(queries("calls")["settle"], outcome.params(call))


@dataclass(slots=True)
class SpentTokens:
    """The tokens that an embedding costs. Those of requests whose replies were lost are included once it is over."""

    number: int


@contextmanager
def metered_embedding(
    store: Store, payer: Payer, embedder: Embedder, texts: Sequence[str], tokens: int
) -> Iterator[SpentTokens]:
    """Book the embedding of `texts`, which have `tokens` tokens, around the call; free models are not booked.

    Raises CallError if the credit does not allow it.
    """
    span = _embedding_span(embedder, len(texts)) if texts else nullcontext()
    with span, _booked_embedding(store, payer, embedder, texts, SpentTokens(tokens)) as spent:
        yield spent


@contextmanager
def _booked_embedding(
    store: Store, payer: Payer, embedder: Embedder, texts: Sequence[str], spent: SpentTokens
) -> Iterator[SpentTokens]:
    if not texts or not embedder.price_per_token:
        yield spent
        return
    call = _embedding_call(payer, embedder, texts)
    check_interruption()  # a process that is to stop sends nothing, and books nothing
    with store.transaction(payer.tenant_id) as conn:
        reserve(conn, call)
    try:
        with collect_lost_texts() as lost:
            yield spent
    except BaseException as error:  # of an interruption too, after which nobody else settles it
        with store.transaction(payer.tenant_id) as conn:
            settle(conn, call, _failed_embedding(error))
        raise
    spent.number += sum(embedder.count_tokens(text) for text in lost)
    with store.transaction(payer.tenant_id) as conn:
        settle(conn, call, CallOutcome(cost_usd=embedder.price_per_token * spent.number, tokens_in=spent.number))


def limited_subjects(conn: Connection[Any], tenant_id: str) -> frozenset[str]:
    """Return the subjects with a credit of their own. Requests about them include no other subject."""
    rows = conn.execute(queries("calls")["limited_subjects"], {"tenant": tenant_id}).fetchall()
    return frozenset(row[0] for row in rows)


async def embed_question(
    session: TenantSession, text: str, *, stage: str, embedder: Embedder, subject_id: str | None = None
) -> Vectors:
    """Return the vector of one text, shape (dimensions,); the cost of a hosted model is booked around the call.

    If the model has a price, the session must be a worker's. Raises InferenceError if it gives no usable answer, and
    CallError if the tenant's credit does not allow it.
    """
    vector: Vectors = (await embed_texts(session, [text], stage=stage, embedder=embedder, subject_id=subject_id))[0]
    return vector


async def embed_texts(
    session: TenantSession, texts: Sequence[str], *, stage: str, embedder: Embedder, subject_id: str | None = None
) -> Vectors:
    """Return the vectors of texts, shape (texts, dimensions), by one call; booked and failing as `embed_question`."""
    with _embedding_span(embedder, len(texts)):
        payer = Payer(tenant_id=session.tenant_id, stage=stage, subject_id=subject_id)
        return await _embed_booked(session, texts, payer=payer, embedder=embedder)


async def _embed_booked(session: TenantSession, texts: Sequence[str], *, payer: Payer, embedder: Embedder) -> Vectors:
    if not embedder.price_per_token:
        return await session.offload(embedder.encode, texts)
    call = _embedding_call(payer, embedder, texts)
    if not await session.run(Statement(queries("calls")["reserve"], call.params())):
        raise call.refusal()
    began, started = time.perf_counter(), Event()

    async def settle_call(outcome: CallOutcome) -> None:
        await session.run(Statement(queries("calls")["settle"], outcome.params(call)))

    def encode() -> tuple[Vectors, int]:
        started.set()
        with collect_lost_texts() as lost:
            vectors = embedder.encode(texts)
        return vectors, sum(embedder.count_tokens(text) for text in [*texts, *lost])

    try:
        vectors, tokens = await session.offload(encode)
    except BaseException as error:  # a request is cancelled at its deadline, while the call may go on
        seconds = time.perf_counter() - began
        await settle_call(_failed_embedding(error, seconds=seconds, sent=started.is_set()))
        raise
    seconds, cost_usd = time.perf_counter() - began, embedder.price_per_token * tokens
    await settle_call(CallOutcome(cost_usd=cost_usd, seconds=seconds, tokens_in=tokens))
    return vectors


def _failed_embedding(error: BaseException, *, seconds: float = 0.0, sent: bool = True) -> CallOutcome:
    """Return the outcome of a failed call; it costs nothing if it is known not to be billed, and else the most."""
    free = not sent or (isinstance(error, EmbeddingError) and not error.billed)
    reason = "unavailable" if isinstance(error, InferenceError) else "interrupted"
    return CallOutcome(cost_usd=0.0 if free else None, seconds=seconds, failed=True, reason=reason)


@contextmanager
def _embedding_span(embedder: Embedder, texts: int) -> Iterator[None]:
    """Open a span for a call to an embedding model."""
    if not recording():
        yield
        return
    with model_span("embeddings", embedder.model) as current:
        current.set({names.ITEMS: texts})
        yield


def _embedding_call(payer: Payer, embedder: Embedder, texts: Sequence[str]) -> MeteredCall:
    # no tokenizer makes more than one token of a byte
    most_tokens = sum(len(text.encode()) + 2 for text in texts)
    return MeteredCall(
        payer=payer,
        kind="embedding",
        model=embedder.model,
        most_usd=embedder.price_per_token * most_tokens,
        items=len(texts),
        id=payer.new_call_id(),
    )
