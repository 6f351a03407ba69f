"""Asks many questions at once, each as of its own time, by the recall that users call. Nothing is logged.

The questions are embedded in batches and shared among the connections of a pool.
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

#: Number of requested hits.
DEPTH = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedAnswer:
    """The answer to one question."""

    question: HeldQuestion
    ranks: Ranks
    #: Whether a hit is an item that a person called wrong, or was made from one.
    is_wrong: bool
    tokens: int
    #: Text that a model would be given; never stored.
    text: str


class KnownQuestions:
    """An embedder with precomputed vectors of some texts; thread-safe after construction."""

    def __init__(self, embedder: Embedder, texts: Iterable[str]) -> None:
        """Embed the texts in one call."""
        self._embedder = embedder
        distinct = list(dict.fromkeys(texts))
        self._vectors = dict(zip(distinct, embedder.encode(distinct), strict=True)) if distinct else {}
        self.model, self.dimensions = embedder.model, embedder.dimensions
        #: The caller books the cost of all texts at once.
        self.price_per_token = 0.0

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts; that of a single known text is not computed again."""
        known = [self._vectors.get(text) for text in texts]
        if len(known) == 1 and known[0] is not None:
            vector: Vectors = known[0].reshape(1, -1)
            return vector
        return self._embedder.encode(texts)

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self._embedder.count_tokens(text)


def subjects_known(store: Store, tenant_id: str, asked: Iterable[HeldQuestion]) -> dict[str, KnownSubject]:
    """Return the rows of each subject that recall needs, read once per subject."""
    session = store.session(tenant_id)
    return {
        subject: KnownSubject(rows=perform(session.run(subject_statement(tenant_id, subject))))
        for subject in sorted({each.subject_id for each in asked})
    }


def embedded(asked: Iterable[HeldQuestion], known: Mapping[str, KnownSubject], embedder: Embedder) -> KnownQuestions:
    """Embed the questions in the form that recall embeds."""
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
    """Return the answer to each question, in order; `jobs` connections share them.

    Recall reads memory as it is now, without items from after the question; see docs/evaluating.md.
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
