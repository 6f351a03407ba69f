"""Everything that a context can be made of, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.language.text import CountTokens
from reverie.policy import Policy
from reverie.recall.contexts.earlier import TurnSummary
from reverie.recall.contexts.person import UNKNOWN, KnownPerson
from reverie.recall.contexts.request import Given
from reverie.recall.profile import Profile
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
