"""Questions whose answers are planted, asked by the recall that users call: of turns and memories, and of memories alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from reverie.evaluate.simulation.people import Person, PlantedFact
from reverie.inference import Embedder
from reverie.policy import Policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import log_recall, recall
from reverie.recall.result import Hit
from reverie.store.database import Store
from reverie.store.session import perform

#: Hits that are asked for.
DEPTH = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedAnswer:
    """What recall answers about a planted fact."""

    name: str
    subject_id: str
    is_durable: bool
    #: Whether one of the hits has the value that is true now.
    is_answered: bool
    #: Whether a memory alone has it, when nothing but memories is asked.
    is_held: bool
    #: Of a fact that has changed: whether the first hit with any of its values has the one that is true now; None:
    #: the fact has not changed yet, or no hit has a value.
    is_current_first: bool | None

    @property
    def label(self) -> str:
        """Subject and fact, by their simulated names."""
        return f"{self.subject_id} {self.name}"


def ask_person(
    store: Store, tenant_id: str, person: Person, *, day: int, at: datetime, policy: Policy, embedder: Embedder
) -> list[PlantedAnswer]:
    """Ask one question about each fact that a person has told by a day; nothing is logged."""
    rng = Random(f"{person.subject_id}:{day}")  # noqa: S311: a simulation
    answers = []
    for fact in person.facts:
        question = rng.choice(fact.plan.questions)
        if fact.value_on(day) is None:
            continue
        hits = {
            kinds: perform(
                recall(
                    store.session(tenant_id),
                    RecallQuery(text=question, subject_id=person.subject_id, as_of=at, top_k=DEPTH, kinds=kinds),
                    policy=policy,
                    embedder=embedder,
                )
            ).hits
            for kinds in (None, _MEMORIES)
        }
        answers.append(_judged(person.subject_id, fact, day, hits[None], hits[_MEMORIES]))
    return answers


def use_memory(
    store: Store, tenant_id: str, person: Person, *, day: int, at: datetime, policy: Policy, embedder: Embedder, number: int
) -> None:
    """Recall a number of facts as an application would in a week of use: by the policy's own numbers, and logged.

    Which facts are asked about is drawn by chance of those told so far, so that some are asked often and some never.
    """
    rng = Random(f"{person.subject_id}:{day}:use")  # noqa: S311: a simulation
    told = [fact for fact in person.facts if fact.value_on(day) is not None]
    session = store.session(tenant_id)
    for fact in rng.choices(told, k=number) if told else ():
        query = RecallQuery(text=rng.choice(fact.plan.questions), subject_id=person.subject_id, as_of=at)
        perform(log_recall(session, perform(recall(session, query, policy=policy, embedder=embedder))))


_MEMORIES = ("fact", "preference", "instruction", "episode", "pattern", "summary")


def _judged(subject_id: str, fact: PlantedFact, day: int, hits: Sequence[Hit], memories: Sequence[Hit]) -> PlantedAnswer:
    value = fact.value_on(day)
    assert value is not None
    key = fact.plan.key_of(value.value).casefold()
    others = [fact.plan.key_of(each.value).casefold() for each in fact.values if each.from_day < value.from_day]
    texts = [hit.content.casefold() for hit in hits]
    naming = [text for text in texts if key in text or any(other in text for other in others)]
    return PlantedAnswer(
        name=fact.plan.name,
        subject_id=subject_id,
        is_durable=fact.is_durable,
        is_answered=any(key in text for text in texts),
        is_held=any(key in hit.content.casefold() for hit in memories),
        is_current_first=(key in naming[0]) if others and naming else None,
    )
