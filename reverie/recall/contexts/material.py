"""The material of a context, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from reverie.language.text import CountTokens
from reverie.policy import Policy
from reverie.recall.contexts.earlier import TurnSummary
from reverie.recall.contexts.person import UNKNOWN, KnownPerson
from reverie.recall.contexts.request import Given
from reverie.recall.contexts.sections import Line
from reverie.recall.profile import Profile, said_alike
from reverie.recall.result import RecallResult
from reverie.recall.staged import StagedRecall


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """A memory or a turn that was selected for a context."""

    id: UUID
    kind: str
    content: str
    happened_at: datetime
    importance: float | None
    #: Higher is better; a context drops the lowest first.
    score: float
    #: Other memories that say the same, which share its line.
    same_ids: tuple[UUID, ...] = ()
    #: Whether `content` begins with the question that it answers.
    is_answer: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """Everything that a context can be made of."""

    subject_id: str
    question: str
    given: Given
    policy: Policy
    profile: Profile
    #: The subject's style of writing, and what else is known of it.
    person: KnownPerson = UNKNOWN
    #: Best first; more than are shown if nothing was asked.
    memories: Sequence[Chosen]
    #: Only for the form that uses it.
    staged: StagedRecall | None
    #: Tokens for memories: the policy's, or those of the relationship's stage.
    memory_budget: int
    count: CountTokens
    #: Most memories.
    top_k: int = 0
    #: The recall that found the memories.
    recalled: RecallResult | None = None
    #: Summaries of the conversation's older turns, and of turns before it.
    told: Sequence[TurnSummary] = ()
    #: Notes for people: anything left out, or done differently than asked.
    notes: Sequence[str] = ()

    def shown(self, profile: Sequence[Line] = ()) -> Sequence[Chosen]:
        """Return the memories to show below a profile with these lines.

        What answers a question is shown though the profile tells it, since its place says that it answers; and so is a
        reply with its question, which the profile tells without.
        """
        if self.question:
            return self.memories
        ids = {id_ for line in profile for id_ in line.ids}
        told = ids | {fact.memory_id for fact in self.profile.facts if fact.id in ids}
        untold = [one for one in self.memories if one.is_answer or told.isdisjoint((one.id, *one.same_ids))]
        return untold[: self.top_k]


def one_line_each(memories: Sequence[Chosen]) -> list[Chosen]:
    """Return memories without repeats: the latest wording in the place of the first.

    Recall folds longer texts itself and keeps short ones apart, which may answer different questions. A context gives
    them without the questions.
    """
    groups: dict[str, list[Chosen]] = {}
    for one in memories:
        groups.setdefault(said_alike(one.content), []).append(one)
    return [_standing_for_all(group) for group in groups.values()]


def _standing_for_all(group: Sequence[Chosen]) -> Chosen:
    last = max(group, key=lambda one: one.happened_at)
    return replace(last, score=group[0].score, same_ids=tuple(one.id for one in group if one.id != last.id))
