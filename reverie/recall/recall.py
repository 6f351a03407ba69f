"""recall: a question about a subject, answered from memory with the reason for every hit (spec D1-D5, D7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from reverie.errors import InferenceError
from reverie.inference import Embedder
from reverie.model import require_aware, stable_id
from reverie.policy import Policy
from reverie.recall.budget import within_budget
from reverie.recall.question import read_question
from reverie.recall.result import Drop, RecallResult
from reverie.recall.search import search
from reverie.store.database import Store
from reverie.store.queries import queries

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
    top_k: int | None = None,
    token_budget: int | None = None,
    kinds: Sequence[str] | None = None,
    include_compressed: bool = False,
) -> RecallResult:
    """Return what memory holds about the question as of a time, with signals, ranks, and what was dropped and why.

    `top_k` and `token_budget` override the policy; `kinds` limits the answer to memories of these kinds. Without an
    embedder, or when it fails, words and entities answer alone and a note says so. Nothing is logged here: see
    `log_recall`, which the caller runs once the answer is out.
    """
    as_of = require_aware(as_of)
    notes: list[str] = []
    params = {"tenant": tenant_id, "subject": subject_id}
    with store.transaction(tenant_id) as conn:
        known = conn.execute(queries("recall")["read_subject"], params).fetchone()
    if known is None:
        notes.append(f"Nothing is remembered about {subject_id}.")
    asked = read_question(question, policy=policy.recall, speakers=known[0] if known else (), asked_at=as_of)
    vector = None
    try:
        if embedder is None:
            notes.append("No embedding model is configured: found by words and entities alone.")
        elif known is not None:
            vector = embedder.encode([asked.spoken])[0]
    except InferenceError as error:
        notes.append(f"The embedding model gave no answer ({error}): found by words and entities alone.")
    with store.transaction(tenant_id) as conn:
        found = search(
            conn,
            tenant_id=tenant_id,
            subject_id=subject_id,
            vector=vector,
            question=asked,
            policy=policy,
            model=embedder.model if embedder else None,
            as_of=as_of,
            kinds=kinds,
            include_compressed=include_compressed,
            ranked=max(policy.recall.ranked, 3 * top_k) if top_k else None,
        )
    budget = policy.recall.token_budget if token_budget is None else token_budget
    hits, dropped = within_budget(
        [hit for hit, reason in found if reason is None],
        top_k=policy.recall.top_k if top_k is None else top_k,
        token_budget=budget,
        count_tokens=_counter(embedder, notes),
    )
    dropped += [Drop(id=hit.id, item=hit.item, score=hit.score, reason=reason) for hit, reason in found if reason]
    return RecallResult(
        question=question,
        tenant_id=tenant_id,
        subject_id=subject_id,
        asked_at=as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        model=embedder.model if embedder else None,
        hits=tuple(hits),
        dropped=tuple(dropped),
        total_tokens=sum(hit.tokens for hit in hits),
        token_budget=budget,
        notes=tuple(notes),
    )


def log_recall(store: Store, result: RecallResult) -> None:
    """Write the recall and the items it gave to the log, once; `score` counts them as accesses."""
    with store.transaction(result.tenant_id) as conn:
        conn.execute(
            queries("recall")["write_recall"],
            {
                "tenant": result.tenant_id,
                "id": stable_id(
                    result.asked_at, "recall", result.tenant_id, result.subject_id, result.question, result.policy_hash
                ),
                "subject": result.subject_id,
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
