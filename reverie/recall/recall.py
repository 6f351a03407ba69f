"""recall: hits for a question about a subject, each with its reasons (spec D1-D5, D7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from reverie.errors import InferenceError
from reverie.inference import Embedder
from reverie.inference.reranker import Reranker
from reverie.llm.metering import embed_question
from reverie.model import require_aware, stable_id
from reverie.policy import Policy, RecallPolicy
from reverie.recall.filters import Filters, read_admitted
from reverie.recall.fresh.arm import FreshArm
from reverie.recall.passes import Placing, placed
from reverie.recall.places.asked import asked_relations, read_asked
from reverie.recall.places.read import read_formers, with_neighbours
from reverie.recall.places.replacements import Candidates, with_replacements
from reverie.recall.places.small_talk import asks_back, is_small_talk, without_small_talk
from reverie.recall.question import ParsedQuestion, read_question
from reverie.recall.rerank import rerank
from reverie.recall.result import RecallResult, drop
from reverie.recall.search import (
    by_words,
    checked_rows,
    former_ids,
    horizon,
    near_enough,
    read_hits,
    search_params,
    searches_words,
    unranked,
)
from reverie.store.entries import Entry, write_entries
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession
from reverie.telemetry import names
from reverie.telemetry.spans import SpanAttributes, span, spanned

#: Rows of `subject_statement`.
Rows: TypeAlias = Sequence[tuple[Any, ...]]

#: The note on an answer without an embedder.
NO_MODEL = "No embedding model is configured: found by words and entities alone."
#: Characters a token has on average; for budgets when no tokenizer is at hand, which the answer then says.
_CHARACTERS_A_TOKEN = 4


async def log_recall(session: TenantSession, result: RecallResult) -> None:
    """Write the recall and its items to the log, once; `score` counts them as accesses."""
    await write_entries(session, [recall_entry(result)])


def _told(found: RecallResult) -> SpanAttributes:
    """What a span tells of an answer: numbers alone."""
    return {
        names.TENANT: found.tenant_id,
        names.POLICY: found.policy,
        "reverie.recall.hits": len(found.hits),
        "reverie.recall.dropped": len(found.dropped),
        "reverie.recall.tokens": found.total_tokens,
    }


@spanned("retrieval", {names.OPERATION: "retrieval", names.PROVIDER: "reverie"}, _told)
async def recall(
    session: TenantSession,
    question: str,
    *,
    subject_id: str,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
    top_k: int | None = None,
    token_budget: int | None = None,
    kinds: Sequence[str] | None = None,
    include_compressed: bool = False,
    filters: Filters | None = None,
    neighbours: int = 0,
    said: Collection[str] = (),
    is_spoken: bool = False,
    known: Rows | None = None,
    from_cache: bool = False,
) -> RecallResult:
    """Return the hits for a question as of a time, with signals and ranks, and what was dropped and why.

    `top_k` and `token_budget` override the policy; `kinds` limits the answer to memories of these kinds, `filters`
    to items of these connections, context types, sources, tools, attachments and sessions; each hit comes with
    `neighbours` turns before and after it. Turns that are on their way to memory are hits too, but those with the words
    of `said`, which the caller has at hand. `is_spoken`: the question is what a person says, and no search words:
    what is too far from it or tells too little is dropped, and everything where it is small talk. Without an embedder,
    or when it fails, words and entities answer alone and a note says so; when the reranker fails, the weighed signals
    do. An embedder with a price is booked, for which the session must be a worker's. Nothing is logged here: see
    `log_recall`, which the caller runs once the answer is out.
    `known` are the rows of `subject_statement`, where the caller has them already; `from_cache`: they may be out of
    date.

    Raises:
        StaleCacheError: they are out of date.
    """
    as_of = require_aware(as_of)
    notes: list[str] = []
    tenant_id, numbers = session.tenant_id, policy.recall
    if known is None:
        known = await session.run(subject_statement(tenant_id, subject_id))
    if not known:
        notes.append(f"Nothing is remembered about {subject_id}.")
    asked = read_question(question, policy=numbers, speakers=known[0][0] if known else (), asked_at=as_of)
    vector = None
    if embedder is None:
        notes.append(NO_MODEL)
    elif known and known[0][1] not in (None, embedder.model):
        notes.append(
            f"The memory is embedded by {known[0][1]} and the question would be by {embedder.model}: "
            "found by words and entities alone."
        )
    elif known:
        try:
            vector = await embed_question(session, asked.spoken, stage="recall", embedder=embedder)
        except InferenceError as error:
            notes.append(f"The embedding model gave no answer ({error.within}): found by words and entities alone.")
    among = await read_admitted(session, subject_id, filters)
    fresh = FreshArm(session, policy=policy, as_of=as_of)

    async def searched(searching: Policy, cached: Sequence[Any] | None) -> tuple[Candidates, Rows]:
        params = search_params(
            tenant_id=tenant_id,
            subject_id=subject_id,
            vector=vector,
            question=asked,
            policy=searching,
            model=embedder.model if embedder else None,
            as_of=as_of,
            kinds=kinds,
            include_compressed=include_compressed,
            among=among,
            top_k=top_k,
            ranked=max(policy.recall.ranked, 3 * (top_k or 0), policy.recall.rerank_candidates if reranker else 0),
            cached=cached,
        )
        with span("recall search"):
            rows: Rows = await fresh.search(params) if known and params else []
        rows = rows if cached is None else checked_rows(rows)
        return (read_hits(rows, params) if params else []), rows

    words_alone = vector is None and not searches_words(policy)
    found, rows = await searched(by_words(policy) if words_alone else policy, known[0] if from_cache else None)
    too_far = [(hit, reason) for hit, reason in found if reason == "similarity"]
    if known and len(too_far) == len(found) and not words_alone and not searches_words(policy):
        found, rows = await searched(by_words(policy), None)
        found += [far for far in too_far if far[0].id not in {hit.id for hit, _ in found}]
        notes.append(f"The policy {policy.name} searches vectors, which found nothing: words were searched instead.")
    found = fresh.join(found, asked, said=said)
    top_k = policy.recall.top_k if top_k is None else top_k
    if is_spoken:
        found = _worth_telling(found, asked, numbers, is_embedded=vector is not None, among=4 * top_k, notes=notes)
    candidates = await with_replacements(session, found, subject_id=subject_id)
    ranked, reranked = [hit for hit, reason in candidates if reason is None], None
    if reranker is not None:
        with span("recall rerank", {names.ITEMS: len(ranked)}):
            reranked = await rerank(
                session, ranked, question=question, reranker=reranker, numbers=policy.recall, notes=notes
            )
    budget = policy.recall.token_budget if token_budget is None else token_budget
    formers = await read_formers(session, former_ids(rows), as_of=as_of, min_importance=policy.recall.min_importance)
    ranked = ranked if reranked is None else reranked
    stated = await read_asked(
        session, subject_id, asked_relations(asked, numbers.asked), question=asked, numbers=numbers, as_of=as_of,
        horizon=horizon(as_of),
    )  # fmt: skip
    known_of = Placing(
        question=asked,
        numbers=numbers,
        formers=formers,
        stated=stated,
        may_add=kinds is None and among is None and "memory" in numbers.items,
        top_k=top_k,
        token_budget=budget,
        count_tokens=_counter(embedder, notes),
    )
    with span("recall place", {names.ITEMS: len(ranked)}):
        hits, dropped = placed(ranked, known_of)
    hits = await with_neighbours(session, hits, neighbours, horizon=horizon(as_of))
    dropped += [drop(hit, reason) for hit, reason in candidates if reason]
    return RecallResult(
        id=stable_id(as_of, "recall", tenant_id, subject_id, question, policy.hash),
        question=question,
        tenant_id=tenant_id,
        subject_id=subject_id,
        asked_at=as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        model=embedder.model if embedder else None,
        reranker=reranker.model if reranker and reranked is not None else None,
        hits=tuple(hits),
        dropped=tuple(dropped),
        unranked=unranked(rows),
        total_tokens=sum(hit.tokens for hit in hits),
        token_budget=budget,
        notes=tuple(notes),
    )


def _worth_telling(
    found: Candidates, asked: ParsedQuestion, numbers: RecallPolicy, *, is_embedded: bool, among: int, notes: list[str]
) -> Candidates:
    """Drop what a person who says this need not be reminded of: what is far from it or tells nothing."""
    if is_embedded:
        of_assistant = numbers.query_min_assistant.get(asked.kind, -1.0)
        found = near_enough(
            found,
            numbers.query_min_similarity.get(asked.kind, -1.0),
            least_of_assistant=-1.0 if asked.asks_assistant else of_assistant,
        )
    if not numbers.query_min_worth:
        return found
    is_chat = asked.kind != "question" or "?" not in asked.text or asks_back(asked.text)
    if is_chat and not asked.asks_assistant and is_small_talk(asked.text, asked.speakers):
        notes.append("The message is small talk: nothing is recalled.")
        return [(hit, reason or "small_talk") for hit, reason in found]
    least = numbers.query_min_worth.get(asked.kind, 0.0)
    return without_small_talk(found, least, among=among, speakers=asked.speakers)


def subject_statement(tenant_id: str, subject_id: str) -> Statement[tuple[Any, ...]]:
    """Return the statement that reads what a recall must know about its subject."""
    return Statement(queries("recall")["read_subject"], {"tenant": tenant_id, "subject": subject_id})


def recall_entry(result: RecallResult) -> Entry:
    """The recall and its hits as a log entry; `score` counts them as accesses."""
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
