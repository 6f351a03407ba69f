"""Asks many questions at once, each as of its own time, by the recall that users call. Nothing is logged.

The questions are embedded in batches, and the connections of the pool share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.evaluate.retrieval.ranks import Ranks, ranks
from reverie.inference import Embedder, Vectors
from reverie.policy import Policy
from reverie.recall.query import RecallQuery
from reverie.recall.question import as_spoken
from reverie.recall.recall import recall
from reverie.recall.result import RecallResult
from reverie.recall.subject_cache import KnownSubject, subject_statement
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import perform

#: Hits that are asked for.
DEPTH = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedAnswer:
    """The answer of one question."""

    question: HeldQuestion
    ranks: Ranks
    #: Whether a hit is, or was drawn from, what a person said is wrong.
    is_wrong: bool
    tokens: int
    #: What a model would be told; never stored.
    text: str


class KnownQuestions:
    """An embedder with the vectors of texts that it was asked for before; thread-safe once it is made."""

    def __init__(self, embedder: Embedder, texts: Iterable[str]) -> None:
        """Embed the texts in one call."""
        self._embedder = embedder
        distinct = list(dict.fromkeys(texts))
        self._vectors = dict(zip(distinct, embedder.encode(distinct), strict=True)) if distinct else {}
        self.model, self.dimensions = embedder.model, embedder.dimensions
        #: The caller books them, all at once.
        self.price_per_token = 0.0

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, from memory where they are known."""
        known = [self._vectors.get(text) for text in texts]
        if len(known) == 1 and known[0] is not None:
            vector: Vectors = known[0].reshape(1, -1)
            return vector
        return self._embedder.encode(texts)

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text."""
        return self._embedder.count_tokens(text)


def subjects_known(store: Store, tenant_id: str, asked: Iterable[HeldQuestion]) -> dict[str, KnownSubject]:
    """Return what recall must know of each subject, once a subject."""
    session = store.session(tenant_id)
    return {
        subject: KnownSubject(rows=perform(session.run(subject_statement(tenant_id, subject))))
        for subject in sorted({each.subject_id for each in asked})
    }


def embedded(asked: Iterable[HeldQuestion], known: Mapping[str, KnownSubject], embedder: Embedder) -> KnownQuestions:
    """Embed the questions as recall reads them."""
    return KnownQuestions(
        embedder,
        (as_spoken(each.text, known[each.subject_id].speakers) for each in asked),
    )


def ask_all(
    store: Store,
    tenant_id: str,
    asked: Sequence[HeldQuestion],
    *,
    known: Mapping[str, KnownSubject],
    policy: Policy,
    embedder: Embedder | None,
    jobs: int = 2,
) -> list[AskedAnswer]:
    """Return the answer of each question, in their order; `jobs` connections share them.

    Recall reads memory as it is now, without what happened after the question; see docs/evaluating.md.
    """

    def ask(each: HeldQuestion) -> RecallResult:
        query = RecallQuery(text=each.text, subject_id=each.subject_id, as_of=each.asked_at, top_k=DEPTH)
        subject = known[each.subject_id]
        return perform(recall(store.session(tenant_id), query, policy=policy, embedder=embedder, known=subject))

    with ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(ask, asked))
    behind = _behind(store, tenant_id, answers)
    return list(map(partial(_judged, behind), asked, answers))


def _behind(store: Store, tenant_id: str, answers: Iterable[RecallResult]) -> Mapping[UUID, set[UUID]]:
    """Return the turns and corrections behind each memory of the answers, in one statement."""
    ids = list({hit.id for answer in answers for hit in answer.hits if hit.item == "memory"})
    found: dict[UUID, set[UUID]] = {}
    with store.transaction(tenant_id) as conn:
        for memory_id, source_id in conn.execute(queries("retrieval")["behind"], {"tenant": tenant_id, "ids": ids}):
            found.setdefault(memory_id, set()).add(source_id)
    return found


def _judged(behind: Mapping[UUID, set[UUID]], asked: HeldQuestion, answer: RecallResult) -> AskedAnswer:
    ranking = [
        frozenset({hit.id} | ({hit.turn_id} if hit.turn_id else set()) | behind.get(hit.id, set()))
        for hit in answer.hits
    ]
    return AskedAnswer(
        question=asked,
        ranks=ranks(ranking, asked.needs),
        is_wrong=any(not asked.avoids.isdisjoint(ids) for ids in ranking),
        tokens=answer.total_tokens,
        text="\n".join(hit.told for hit in answer.hits),
    )
