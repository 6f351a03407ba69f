"""recall: a question about a subject, answered from memory with the reason for every hit (spec D1-D5, D7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from reverie.errors import InferenceError
from reverie.inference import Embedder
from reverie.inference.reranker import Reranker
from reverie.llm.metering import Payer, embedding_question
from reverie.model import require_aware, stable_id
from reverie.policy import Policy
from reverie.recall.budget import drop, within_budget
from reverie.recall.question import read_question
from reverie.recall.replaced import replacing
from reverie.recall.rerank import reranking
from reverie.recall.result import RecallResult
from reverie.recall.search import holding, read_hits, search_params, search_statement
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.steps import Entry, Rows, Statement, Steps, entering, perform

#: Characters a token has on average; for budgets when no tokenizer is at hand, which the answer then says.
_CHARACTERS_A_TOKEN = 4


def recall(
    store: Store,
    question: str,
    *,
    tenant_id: str,
    subject_id: str,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
    top_k: int | None = None,
    token_budget: int | None = None,
    kinds: Sequence[str] | None = None,
    include_compressed: bool = False,
) -> RecallResult:
    """Run `recalling` without asyncio and return its answer."""
    steps = recalling(
        question,
        tenant_id=tenant_id,
        subject_id=subject_id,
        policy=policy,
        as_of=as_of,
        embedder=embedder,
        reranker=reranker,
        top_k=top_k,
        token_budget=token_budget,
        kinds=kinds,
        include_compressed=include_compressed,
    )
    return perform(store, tenant_id, steps)


def log_recall(store: Store, result: RecallResult) -> None:
    """Write the recall and the items it gave to the log, once; `score` counts them as accesses."""
    perform(store, result.tenant_id, entering(result.tenant_id, [recall_entry(result)]))


def recalling(
    question: str,
    *,
    tenant_id: str,
    subject_id: str,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
    top_k: int | None = None,
    token_budget: int | None = None,
    kinds: Sequence[str] | None = None,
    include_compressed: bool = False,
    known: Rows | None = None,
    guessed: bool = False,
) -> Steps[RecallResult]:
    """Return what memory holds about the question as of a time, with signals, ranks, and what was dropped and why.

    `top_k` and `token_budget` override the policy; `kinds` limits the answer to memories of these kinds. Without an
    embedder, or when it fails, words and entities answer alone and a note says so; when the reranker fails, the weighed
    signals do. An embedder with a price is booked, for which the store must be a worker's. Nothing is logged here: see
    `recall_entry`, which the caller logs once the answer is out. `known` are the rows of `subject_statement`, where
    the caller has them already; `guessed`: as they once were.

    Raises:
        GuessError: they are others by now.
    """
    as_of = require_aware(as_of)
    notes: list[str] = []
    known = (yield subject_statement(tenant_id, subject_id, last=embedder is not None)) if known is None else known
    if not known:
        notes.append(f"Nothing is remembered about {subject_id}.")
    asked = read_question(question, policy=policy.recall, speakers=known[0][0] if known else (), asked_at=as_of)
    vector = None
    if embedder is None:
        notes.append("No embedding model is configured: found by words and entities alone.")
    elif known and known[0][1] not in (None, embedder.model):
        notes.append(
            f"The memory is embedded by {known[0][1]} and the question would be by {embedder.model}: "
            "found by words and entities alone."
        )
    elif known:
        try:
            payer = Payer(tenant_id=tenant_id, stage="recall")
            vector = yield from embedding_question(asked.spoken, payer=payer, embedder=embedder)
        except InferenceError as error:
            notes.append(f"The embedding model gave no answer ({error.within}): found by words and entities alone.")
    search = search_params(
        tenant_id=tenant_id,
        subject_id=subject_id,
        vector=vector,
        question=asked,
        policy=policy,
        model=embedder.model if embedder else None,
        as_of=as_of,
        kinds=kinds,
        include_compressed=include_compressed,
        ranked=max(policy.recall.ranked, 3 * (top_k or 0), policy.recall.rerank_candidates if reranker else 0),
        guess=known[0] if guessed else None,
    )
    rows: Rows = ()
    if known and search:
        rows = yield Statement(search_statement(search), search, last=True)
    if guessed:
        rows = holding(rows)
    found = yield from replacing(read_hits(rows, policy), tenant_id=tenant_id, subject_id=subject_id)
    ranked, again = [hit for hit, reason in found if reason is None], None
    if reranker is not None:
        again = yield from reranking(ranked, question=question, reranker=reranker, numbers=policy.recall, notes=notes)
    budget = policy.recall.token_budget if token_budget is None else token_budget
    hits, dropped = within_budget(
        ranked if again is None else again,
        top_k=policy.recall.top_k if top_k is None else top_k,
        token_budget=budget,
        count_tokens=_counter(embedder, notes),
    )
    dropped += [drop(hit, reason) for hit, reason in found if reason]
    return RecallResult(
        id=stable_id(as_of, "recall", tenant_id, subject_id, question, policy.hash),
        question=question,
        tenant_id=tenant_id,
        subject_id=subject_id,
        asked_at=as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        model=embedder.model if embedder else None,
        reranker=reranker.model if reranker and again is not None else None,
        hits=tuple(hits),
        dropped=tuple(dropped),
        total_tokens=sum(hit.tokens for hit in hits),
        token_budget=budget,
        notes=tuple(notes),
    )


def subject_statement(tenant_id: str, subject_id: str, *, last: bool = False) -> Statement:
    """Return the statement that reads what a recall has to know of its subject first."""
    return Statement(queries("recall")["read_subject"], {"tenant": tenant_id, "subject": subject_id}, last=last)


def recall_entry(result: RecallResult) -> Entry:
    """The recall and the items it gave, for the log; `score` counts them as accesses."""
    return Entry(
        queries("recall")["write_recalls"],
        {
            "id": result.id,
            "subject_id": result.subject_id,
            "asked_at": result.asked_at,
            "question": result.question,
            "policy_hash": result.policy_hash,
            "model": result.model,
            "item_ids": [hit.id for hit in result.hits],
            "dropped": len(result.dropped),
        },
    )


def _counter(embedder: Embedder | None, notes: list[str]) -> Callable[[str], int]:
    if embedder is not None:
        return embedder.count_tokens
    notes.append(f"Tokens are estimated at {_CHARACTERS_A_TOKEN} characters each.")
    return lambda text: -(-len(text) // _CHARACTERS_A_TOKEN)
