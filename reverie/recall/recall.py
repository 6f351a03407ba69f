"""recall: hits for a question about a subject, each with its reasons (spec D1-D5, D7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple
from uuid import UUID

from reverie.inference import Embedder
from reverie.inference.reranker import Reranker
from reverie.model import stable_id
from reverie.policy import Policy
from reverie.recall.candidates import FoundCandidates, PreparedQuery, embed_query, find_candidates
from reverie.recall.filters import read_admitted
from reverie.recall.passes import Placing, placed
from reverie.recall.places.asked import asked_relations, read_asked
from reverie.recall.places.read import Former, read_doubts, read_formers, with_neighbours
from reverie.recall.places.sensitive import may_be_told
from reverie.recall.query import RecallQuery
from reverie.recall.question import read_question
from reverie.recall.rerank import rerank
from reverie.recall.result import Drop, Hit, NearbyTurn, RecallResult, drop
from reverie.recall.search import StaleCacheError, horizon
from reverie.recall.subject_cache import KnownSubject, SubjectCache, subject_statement
from reverie.store.entries import Entry, write_entries
from reverie.store.queries import queries
from reverie.store.session import TenantSession
from reverie.telemetry import names
from reverie.telemetry.spans import SpanAttributes, span, spanned

#: Characters of a token on average, for budgets without a tokenizer; a note on the answer then says so.
_CHARACTERS_A_TOKEN = 4


class _Answer(NamedTuple):
    """Hits in their places, and the candidates they were chosen from."""

    hits: list[Hit]
    dropped: list[Drop]
    found: FoundCandidates
    reranked_by: str | None
    notes: list[str]

    def lacks(self, top_k: int) -> bool:
        """Return whether there are too few hits because repeats were folded, and a wider search may find more."""
        if not self.found.is_cut or len(self.hits) >= top_k:
            return False
        reasons = Counter(each.reason for each in self.dropped)
        folded = reasons["same"] + reasons["same_turn"]
        return not reasons["budget"] and top_k <= len(self.hits) + folded


def _told(found: RecallResult) -> SpanAttributes:
    """Return the attributes of an answer's span; they have none of its content."""
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
    query: RecallQuery,
    *,
    policy: Policy,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
    known: KnownSubject | None = None,
) -> RecallResult:
    """Return the hits for a query, with signals and ranks, and what was dropped and why.

    Turns that are on their way to memory are hits too. Without an embedder, or when it fails, only words and entities
    are searched, and a note says so; when the reranker fails, the weighed signals rank. The cost of an embedder with a
    price is booked, for which the session must be a worker's. `known`: the subject's rows, if the caller has read them.
    Nothing is logged here: the caller runs `log_recall` after it has sent the answer.

    Raises:
        StaleCacheError: `known` was cached and is out of date.
    """
    notes: list[str] = []
    if known is None:
        known = KnownSubject(rows=await session.run(subject_statement(session.tenant_id, query.subject_id)))
    if not known:
        notes.append(f"Nothing is remembered about {query.subject_id}.")
    if known.is_withheld:
        return _withheld(session.tenant_id, query, policy)
    question = read_question(query.text, policy=policy.recall, speakers=known.speakers, asked_at=query.as_of)
    vector = await embed_query(
        session, question, subject_id=query.subject_id, subject=known, embedder=embedder, notes=notes
    )
    asked = PreparedQuery(
        query=query,
        question=question,
        policy=policy,
        subject=known,
        vector=vector,
        model=embedder.model if embedder else None,
    )
    for width in (1, *policy.recall.wider):
        answer = await _answer(session, asked, embedder, reranker, width)
        if not answer.lacks(asked.top_k):
            break
    hits = answer.hits
    if query.neighbours:
        among = await read_admitted(session, query.subject_id, query.filters)
        hits = await with_neighbours(session, hits, query.neighbours, horizon=horizon(query.as_of), among=among)
    dropped = [*answer.dropped, *(drop(hit, reason) for hit, reason in answer.found.candidates if reason)]
    result = _result(session.tenant_id, asked, hits, dropped, [*notes, *answer.notes])
    return replace(result, reranker=answer.reranked_by, unranked=answer.found.unranked)


async def recall_at_once(
    session: TenantSession,
    query: RecallQuery,
    subject_cache: SubjectCache,
    *,
    policy: Policy,
    embedder: Embedder | None,
    reranker: Reranker | None = None,
) -> RecallResult:
    """Return what `recall` returns, in one round trip if the cached rows are up to date."""
    rows = subject_cache.cached(session.tenant_id, query.subject_id, embedder)
    if rows is not None:
        known = KnownSubject(rows=rows, is_cached=True)
        try:
            return await recall(session, query, policy=policy, embedder=embedder, reranker=reranker, known=known)
        except StaleCacheError:
            pass  # the cached rows are out of date
    rows = await session.run(subject_statement(session.tenant_id, query.subject_id))
    subject_cache.put(session.tenant_id, query.subject_id, rows)
    known = KnownSubject(rows=rows)
    return await recall(session, query, policy=policy, embedder=embedder, reranker=reranker, known=known)


async def log_recall(session: TenantSession, result: RecallResult) -> None:
    """Write the recall and its items to the log, once; `score` counts them as accesses."""
    await write_entries(session, [recall_entry(result)])


def recall_entry(result: RecallResult) -> Entry:
    """Return the recall and its hits as a log entry; `score` counts them as accesses."""
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


async def _answer(
    session: TenantSession, asked: PreparedQuery, embedder: Embedder | None, reranker: Reranker | None, width: int
) -> _Answer:
    """Find candidates, `width` times as many as the policy says, and place them."""
    notes: list[str] = []
    found = await find_candidates(session, asked, reranker=reranker, width=width, notes=notes)
    ranked, reranked_by = await _reranked(session, found, asked, reranker, notes)
    placing = await _read_placing(session, found, ranked, asked, _counter(embedder, notes))
    with span("recall place", {names.ITEMS: len(ranked)}):
        hits, dropped = placed(ranked, placing)
    return _Answer(hits, dropped, found, reranked_by, notes)


async def _reranked(
    session: TenantSession,
    found: FoundCandidates,
    asked: PreparedQuery,
    reranker: Reranker | None,
    notes: list[str],
) -> tuple[list[Hit], str | None]:
    """Return the candidates that pass, and the cross-encoder that ordered them; None: the weighed signals did."""
    ranked = [hit for hit, reason in found.candidates if reason is None]
    if reranker is None:
        return ranked, None
    with span("recall rerank", {names.ITEMS: len(ranked)}):
        reranked = await rerank(
            session, ranked, question=asked.query.text, reranker=reranker, numbers=asked.policy.recall, notes=notes
        )
    return (ranked, None) if reranked is None else (reranked, reranker.model)


async def _read_placing(
    session: TenantSession,
    found: FoundCandidates,
    ranked: Sequence[Hit],
    asked: PreparedQuery,
    count_tokens: Callable[[str], int],
) -> Placing:
    """Read the data that the passes over the ranking need."""
    query, question, numbers = asked.query, asked.question, asked.policy.recall
    formers = await read_formers(session, found.formers, as_of=query.as_of, min_importance=numbers.min_importance)
    if query.is_spoken and question.kind == "message":
        formers = _without_sensitive(formers, found, asked)
    relations = asked_relations(question, numbers)
    stated, doubted_by = await read_asked(session, query, relations, question=question, numbers=numbers)
    doubted_by |= {id_: found.doubted_by[id_] for hit in ranked if (id_ := hit.id) in found.doubted_by}
    doubts = await _read_doubts(session, doubted_by, asked)
    return Placing(
        question=question,
        numbers=numbers,
        formers=formers,
        stated=stated,
        doubts=doubts,
        may_add=query.kinds is None and not query.filters and "memory" in numbers.items,
        top_k=asked.top_k,
        token_budget=asked.token_budget,
        count_tokens=count_tokens,
    )


def _without_sensitive(
    formers: Mapping[UUID, Sequence[Former]], found: FoundCandidates, asked: PreparedQuery
) -> dict[UUID, list[Former]]:
    """Return former statements; none leads to a sensitive one in force that the message does not bring up.

    One that was dropped is known by its vector too; the others are checked by rules alone.
    """
    dropped = {hit.id for hit, reason in found.candidates if reason == "sensitive"}

    def checked(former: Former) -> Former:
        last = former.successors[-1] if former.successors else None
        if last is None or not former.is_recallable:
            return former
        (may,) = may_be_told(asked.query.text, [(last.content, 0.0)], asked.policy.sensitivity)
        return former._replace(is_recallable=may and last.id not in dropped)

    return {item_id: [checked(former) for former in each] for item_id, each in formers.items()}


async def _read_doubts(
    session: TenantSession, doubted_by: Mapping[UUID, UUID], asked: PreparedQuery
) -> dict[UUID, NearbyTurn]:
    """Read the messages that cast doubt on memories; none with filters, which were not applied to these messages."""
    query = asked.query
    if query.filters or "doubts" in asked.policy.recall.without:
        return {}
    doubts = await read_doubts(session, doubted_by, subject_id=query.subject_id, as_of=query.as_of)
    if not (query.is_spoken and asked.question.kind == "message"):
        return doubts
    told = may_be_told(query.text, [(said.content, 0.0) for said in doubts.values()], asked.policy.sensitivity)
    return dict(compress(doubts.items(), told))


def withheld_note(subject_id: str) -> str:
    """Return the note on an answer about a subject that does not want to be recalled."""
    return f"Recall is off for {subject_id} by consent: nothing from memory is returned."


def _withheld(tenant_id: str, query: RecallQuery, policy: Policy) -> RecallResult:
    """Return the answer about a subject that does not want to be recalled; the question is not kept."""
    return RecallResult(
        id=stable_id(query.as_of, "recall", tenant_id, query.subject_id, query.text, policy.hash, *query.limits),
        question="",
        tenant_id=tenant_id,
        subject_id=query.subject_id,
        asked_at=query.as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        model=None,
        hits=(),
        dropped=(),
        total_tokens=0,
        token_budget=policy.recall.token_budget if query.token_budget is None else query.token_budget,
        notes=(withheld_note(query.subject_id),),
    )


def _result(
    tenant_id: str, asked: PreparedQuery, hits: Sequence[Hit], dropped: Sequence[Drop], notes: Sequence[str]
) -> RecallResult:
    query, policy = asked.query, asked.policy
    return RecallResult(
        id=stable_id(query.as_of, "recall", tenant_id, query.subject_id, query.text, policy.hash, *query.limits),
        question=query.text,
        tenant_id=tenant_id,
        subject_id=query.subject_id,
        asked_at=query.as_of,
        policy=policy.name,
        policy_hash=policy.hash,
        model=asked.model,
        hits=tuple(hits),
        dropped=tuple(dropped),
        total_tokens=sum(hit.tokens for hit in hits),
        token_budget=asked.token_budget,
        notes=tuple(notes),
    )


def _counter(embedder: Embedder | None, notes: list[str]) -> Callable[[str], int]:
    if embedder is not None:
        return embedder.count_tokens
    notes.append(f"Tokens are estimated at {_CHARACTERS_A_TOKEN} characters each.")
    return lambda text: -(-len(text) // _CHARACTERS_A_TOKEN)
