"""Questions whose answers are planted, asked by the recall that users call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from reverie.evaluate.simulation.people import Person, PlantedFact
from reverie.inference import Embedder
from reverie.model import KINDS
from reverie.policy import Policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import log_recall, recall
from reverie.recall.result import Hit
from reverie.store.database import Store
from reverie.store.session import perform

#: Number of hits that the measure requests.
_HITS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedAnswer:
    """The answer of recall about a planted fact."""

    name: str
    subject_id: str
    is_durable: bool
    #: Whether a hit has the value that is true now.
    is_answered: bool
    #: Whether a memory has it, if only memories are recalled, without turns.
    is_held: bool
    #: For a fact that has changed, whether the first hit with any of its values has the one that is true now; None: the
    #: fact has not changed yet, or no hit has a value.
    is_current_first: bool | None

    @property
    def label(self) -> str:
        """Subject and fact, by their names in the simulation."""
        return f"{self.subject_id} {self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryUser:
    """A user of a person's memory at the end of a day; days are counted from 0, and `at` is the time."""

    store: Store
    tenant_id: str
    policy: Policy
    embedder: Embedder
    person: Person
    day: int
    at: datetime

    def ask(self) -> Iterator[PlantedAnswer]:
        """Ask one question about each fact told so far, over all items and over memories alone; nothing is logged."""
        rng = Random(f"{self.person.subject_id}:{self.day}")
        for fact in self.person.facts:
            question = rng.choice(fact.plan.questions)
            if fact.value_on(self.day) is not None:
                yield _judged(
                    self.person.subject_id, fact, self.day, self._hits(question, None), self._hits(question, KINDS)
                )

    def use(self, number: int) -> None:
        """Recall a number of facts as an application would in a week: by the policy's own numbers, and logged.

        The facts are drawn from those told so far, so that some are asked about often and some never.
        """
        rng = Random(f"{self.person.subject_id}:{self.day}:use")
        told = [fact for fact in self.person.facts if fact.value_on(self.day) is not None]
        session = self.store.session(self.tenant_id)
        for fact in rng.sample(told, k=min(number, len(told))):
            question = rng.choice(fact.plan.questions)
            query = RecallQuery(text=question, subject_id=self.person.subject_id, as_of=self.at)
            answer = perform(recall(session, query, policy=self.policy, embedder=self.embedder))
            perform(log_recall(session, answer))

    def _hits(self, question: str, kinds: Sequence[str] | None) -> Sequence[Hit]:
        query = RecallQuery(text=question, subject_id=self.person.subject_id, as_of=self.at, top_k=_HITS, kinds=kinds)
        session = self.store.session(self.tenant_id)
        return perform(recall(session, query, policy=self.policy, embedder=self.embedder)).hits


def _judged(
    subject_id: str, fact: PlantedFact, day: int, hits: Sequence[Hit], memories: Sequence[Hit]
) -> PlantedAnswer:
    value = fact.value_on(day)
    assert value is not None
    key = fact.plan.key_of(value.value).casefold()
    others = [fact.plan.key_of(each.value).casefold() for each in fact.values if each.from_day < value.from_day]
    texts = [hit.content.casefold() for hit in hits]
    naming = [text for text in texts if any(_has(text, each) for each in (key, *others))]
    return PlantedAnswer(
        name=fact.plan.name,
        subject_id=subject_id,
        is_durable=fact.is_durable,
        is_answered=any(_has(text, key) for text in texts),
        is_held=any(_has(hit.content.casefold(), key) for hit in memories),
        is_current_first=_has(naming[0], key) if others and naming else None,
    )


def _has(text: str, key: str) -> bool:
    """Return whether a text has the words of a key, as whole words: "Aki" is not in "making"."""
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text) is not None
