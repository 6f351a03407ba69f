"""The candidates of an answer, best first: search results and waiting turns, without sensitive items and small talk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

from reverie.errors import InferenceError
from reverie.inference import Embedder, Vectors
from reverie.inference.reranker import Reranker
from reverie.language.languages import language_of
from reverie.llm.metering import embed_question
from reverie.policy import Policy
from reverie.recall.filters import read_admitted
from reverie.recall.fresh.arm import FreshArm
from reverie.recall.places.general import general_probability
from reverie.recall.places.replacements import Candidates, with_replacements
from reverie.recall.places.sensitive import without_sensitive
from reverie.recall.places.sensitive_items import read_vector_classes
from reverie.recall.places.small_talk import asks_back, asks_memory, is_small_talk, without_small_talk
from reverie.recall.query import RecallQuery
from reverie.recall.question import ParsedQuestion
from reverie.recall.search import (
    Search,
    by_words,
    checked_rows,
    doubted_by,
    former_ids,
    near_enough,
    read_hits,
    search_params,
    searches_words,
    unranked,
    widened,
)
from reverie.recall.subject_cache import KnownSubject
from reverie.store.session import TenantSession
from reverie.telemetry.spans import span

#: The note on an answer without an embedder.
NO_MODEL = "No embedding model is configured: found by words and entities alone."

#: Notes on a message that needs no memories.
GENERAL = "General knowledge answers this: nothing is recalled."
SMALL_TALK = "The message is small talk: nothing is recalled."
#: Up to this probability the language of a request is not known: "Explain recursion" is French by .14.
_UNKNOWN = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedQuery:
    """A query with everything that recall needs before it searches."""

    query: RecallQuery
    question: ParsedQuestion
    policy: Policy
    subject: KnownSubject
    #: The vector of the question; None: only words and entities are searched.
    vector: Vectors | None
    #: The embedding model; None: there is none.
    model: str | None

    @property
    def top_k(self) -> int:
        """Most hits of the answer."""
        return self.policy.recall.top_k if self.query.top_k is None else self.query.top_k

    @property
    def token_budget(self) -> int:
        """Most tokens of the answer."""
        return self.policy.recall.token_budget if self.query.token_budget is None else self.query.token_budget


class FoundCandidates(NamedTuple):
    """Candidates, best first, each with the filter that drops it (None: it passes)."""

    candidates: Candidates
    #: By candidate, the memories of its statements that no longer hold.
    formers: dict[UUID, list[UUID]]
    #: By memory, the turn that may have ended its statement.
    doubted_by: dict[UUID, UUID]
    #: Candidates that ranked so low that they are only counted.
    unranked: int
    #: Whether a wider search may find more.
    is_cut: bool


async def embed_query(
    session: TenantSession,
    question: ParsedQuestion,
    *,
    subject_id: str,
    subject: KnownSubject,
    embedder: Embedder | None,
    notes: list[str],
) -> Vectors | None:
    """Return the vector of a question; None and a note without a model, on its failure, or if memory uses another."""
    if embedder is None:
        notes.append(NO_MODEL)
    elif subject.model not in (None, embedder.model):
        notes.append(
            f"The memory is embedded by {subject.model}, but the embedding model is {embedder.model}: "
            "found by words and entities alone."
        )
    elif subject:
        try:
            return await embed_question(
                session, question.spoken, stage="recall", embedder=embedder, subject_id=subject_id
            )
        except InferenceError as error:
            notes.append(f"The embedding model gave no answer ({error.within}): found by words and entities alone.")
    return None


async def find_candidates(
    session: TenantSession, asked: PreparedQuery, *, reranker: Reranker | None, width: int, notes: list[str]
) -> FoundCandidates:
    """Return the candidates of an answer by score, waiting turns and replacements included.

    `width`: a factor on the policy's number of candidates to search.

    Raises:
        StaleCacheError: the cached row of the subject is out of date.
    """
    query, policy, subject = asked.query, widened(asked.policy, width), asked.subject
    search = await _search_for(session, asked, reranker, width)
    fresh = FreshArm(session, policy=policy, as_of=query.as_of, may_wait=subject.may_wait)
    words_alone = asked.vector is None and not searches_words(policy)
    found, rows = await _searched(fresh, search, by_words(policy) if words_alone else policy, subject)
    too_far = [(hit, reason) for hit, reason in found if reason == "similarity"]
    if subject and len(too_far) == len(found) and not words_alone and not searches_words(policy):
        found, rows = await _searched(fresh, replace(search, cached=None), by_words(policy), subject)
        found += [far for far in too_far if far[0].id not in {hit.id for hit, _ in found}]
        notes.append(f"The policy {policy.name} searches vectors, which found nothing: words were searched instead.")
    found = fresh.join(found, asked.question, said=query.said)
    found = await with_replacements(session, found, subject_id=query.subject_id, as_of=query.as_of)
    if search.among is not None:
        found = _with_admitted_questions(found, frozenset(search.among))
    if query.is_spoken:
        found = await _worth_telling(session, found, asked, notes)
    low = unranked(rows)
    is_cut = low > 0 or len(rows) >= policy.recall.candidates
    return FoundCandidates(found, former_ids(rows), doubted_by(rows), low, is_cut)


def _with_admitted_questions(found: Candidates, admitted: Collection[UUID]) -> Candidates:
    """Return candidates; the question that one answers stays only if the filters admit it too."""
    return [
        (hit if hit.reply_to is None or hit.reply_to.id in admitted else hit._replace(reply_to=None), reason)
        for hit, reason in found
    ]


async def _search_for(session: TenantSession, asked: PreparedQuery, reranker: Reranker | None, width: int) -> Search:
    """Return the search for a query, with its filters resolved to ids."""
    query, numbers, subject = asked.query, asked.policy.recall, asked.subject
    return Search(
        tenant_id=session.tenant_id,
        subject_id=query.subject_id,
        question=asked.question,
        vector=asked.vector,
        model=asked.model,
        as_of=query.as_of,
        kinds=query.kinds,
        include_compressed=query.include_compressed,
        among=await read_admitted(session, query.subject_id, query.filters),
        top_k=query.top_k,
        ranked=width * max(numbers.ranked, 3 * (query.top_k or 0), numbers.rerank_candidates if reranker else 0),
        cached=subject.rows[0] if subject and subject.is_cached else None,
    )


async def _searched(
    fresh: FreshArm, search: Search, policy: Policy, subject: KnownSubject
) -> tuple[Candidates, Sequence[tuple[Any, ...]]]:
    """Return the candidates by the weights of `policy`, and their rows."""
    params = search_params(search, policy)
    with span("recall search"):
        rows = await fresh.search(params) if subject and params else []
    rows = rows if search.cached is None else checked_rows(rows)
    return (read_hits(rows, params) if params else []), rows


async def _worth_telling(
    session: TenantSession, found: Candidates, asked: PreparedQuery, notes: list[str]
) -> Candidates:
    """Drop candidates that the person who says this need not hear: too far from it, sensitive, small talk."""
    question, numbers = asked.question, asked.policy.recall
    if _is_general(found, asked):
        notes.append(GENERAL)
        return [(hit, reason or "general") for hit, reason in found]
    if asked.vector is not None:
        of_assistant = numbers.query_min_assistant.get(question.kind, -1.0)
        found = near_enough(
            found,
            numbers.query_min_similarity.get(question.kind, -1.0),
            least_of_assistant=-1.0 if question.asks_assistant else of_assistant,
        )
    if question.kind == "message" and asked.policy.sensitivity.withhold:
        found = await _without_sensitive(session, found, asked)
    if not numbers.query_min_worth:
        return found
    is_chat = question.kind != "question" or "?" not in question.text or asks_back(question.text)
    is_asked = question.asks_assistant or asks_memory(question.text)
    if is_chat and not is_asked and is_small_talk(question.text, question.speakers):
        notes.append(SMALL_TALK)
        return [(hit, reason or "small_talk") for hit, reason in found]
    least = numbers.query_min_worth.get(question.kind, 0.0)
    return without_small_talk(found, least, among=4 * asked.top_k, speakers=question.speakers)


async def _without_sensitive(session: TenantSession, found: Candidates, asked: PreparedQuery) -> Candidates:
    """Drop sensitive candidates that the message does not bring up: by rules and, if the policy says so, vectors."""
    policy, among = asked.policy.sensitivity, 4 * asked.top_k
    by_vector = None
    if policy.by_vector:
        by_vector = await read_vector_classes(
            session, found, asked.vector, subject_id=asked.query.subject_id, model=asked.model, among=among
        )
    near, text = policy.withhold_similarity, asked.question.text
    return without_sensitive(found, text, policy.withhold, near=near, among=among, by_vector=by_vector)


def _is_general(found: Candidates, asked: PreparedQuery) -> bool:
    """Return whether general knowledge answers a request, and the request names no entity in memory.

    Not in a language that the reader does not know either, as the words that ask for somebody are English.
    """
    least = asked.policy.recall.general_probability
    if not least or asked.question.asks_assistant or any("entity" in hit.ranks for hit, _ in found):
        return False
    spoken = asked.question.spoken
    if general_probability(spoken, asked.vector, asked.model) < least:
        return False
    language = language_of(spoken)
    return language.probability <= _UNKNOWN or language.code in asked.policy.extract.reader.languages
