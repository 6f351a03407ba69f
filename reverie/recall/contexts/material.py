"""Everything that a context can be made of, as a value."""

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
    #: Higher is better; in a context the lowest is left out first.
    score: float
    #: Other memories that say the same, for which its line stands.
    same_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """Everything that a context can be made of."""

    subject_id: str
    question: str
    given: Given
    policy: Policy
    profile: Profile
    #: How it writes, and what else is known of it.
    person: KnownPerson = UNKNOWN
    #: Best first.
    memories: Sequence[Chosen]
    #: Only for the form that is made of it.
    staged: StagedRecall | None
    #: Tokens of memories: the policy's, or those of the relationship's stage.
    memory_budget: int
    count: CountTokens
    #: Most memories.
    top_k: int = 0
    #: The recall that the memories are of.
    recalled: RecallResult | None = None
    #: Summaries of the conversation's older turns, and of those before it.
    told: Sequence[TurnSummary] = ()
    #: What was left out or done otherwise than asked, in words for people.
    notes: Sequence[str] = ()


def one_line_each(memories: Sequence[Chosen]) -> list[Chosen]:
    """Return what was said several times once: in the place of the first, as it was said last.

    Recall folds longer texts itself and keeps short ones apart, which may answer different questions. In a context they
    stand without the questions.
    """
    groups: dict[str, list[Chosen]] = {}
    for one in memories:
        groups.setdefault(said_alike(one.content), []).append(one)
    return [_standing_for_all(group) for group in groups.values()]


def _standing_for_all(group: Sequence[Chosen]) -> Chosen:
    last = max(group, key=lambda one: one.happened_at)
    return replace(last, score=group[0].score, same_ids=tuple(one.id for one in group if one.id != last.id))
