"""The answer of a recall: hits with their reasons, and what was dropped and why (spec D5, D7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from reverie.language.text import one_line
from reverie.model import rounded


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """One signal of a hit."""

    #: As measured.
    value: float
    #: The policy's weight.
    weight: float

    @property
    def contribution(self) -> float:
        """The signal's part of the score."""
        return rounded(self.value * self.weight)


class Signals(Mapping[str, Signal]):
    """A hit's signals by name, computed on access, since most callers never ask for them."""

    __slots__ = ("_places", "_values", "_weights")

    def __init__(self, values: Sequence[Any], places: Mapping[str, int], weights: Mapping[str, float]) -> None:
        """`places`: the index of each measured signal in `values`; `weights`: those of the policy, other than 0.

        All hits of an answer share both.
        """
        self._values, self._places, self._weights = values, places, weights

    def measured(self, name: str) -> float:
        """Return the value of a signal, weighed or not; 0 if it was not measured."""
        place = self._places.get(name)
        return 0.0 if place is None else float(self._values[place])

    def __getitem__(self, name: str) -> Signal:
        weight = self._weights[name]
        return Signal(value=rounded(self.measured(name)), weight=weight)

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)


#: Characters shown of a message that casts doubt on a memory.
_DOUBT_CHARACTERS = 100


class NearbyTurn(NamedTuple):
    """A turn returned with a hit."""

    id: UUID
    #: With its author.
    content: str
    said_at: datetime


def in_doubt(content: str, said_at: datetime | None, said: str | None) -> str:
    """Return a memory with the message that may have ended it: "Fee: 2,200 (may be over; 2026-03-01: “…”)".

    Without a message, the memory alone.
    """
    if said_at is None or not said:
        return content
    words = one_line(said)
    # not `textwrap.shorten`, which leaves nothing of text without spaces
    words = words if len(words) <= _DOUBT_CHARACTERS else f"{words[:_DOUBT_CHARACTERS]} …"
    return f"{content} (may be over; {said_at:%Y-%m-%d}: “{words}”)"


class Hit(NamedTuple):
    """One hit: a memory or a turn. A tuple, since every question makes dozens of them."""

    item: Literal["turn", "memory"]
    id: UUID
    #: The memory's kind; `turn` for a turn.
    kind: str
    content: str
    happened_at: datetime
    #: Sum of the signals' contributions; a hit that replaces another has at least the score of that one.
    score: float
    #: Empty for a hit that a pass added, such as a memory in force in place of one that no longer holds.
    signals: Mapping[str, Signal]
    #: Place in each arm that found it (dense, lexical, entity), from 1; `weighed`: before it was re-ranked.
    ranks: Mapping[str, int]
    #: The turn it was said in; None for patterns and summaries.
    turn_id: UUID | None
    session_id: str | None
    importance: float | None
    tokens: int = 0
    #: Number of turns found that say it; if there are several, `first_at` is the time of the first.
    times: int = 1
    first_at: datetime | None = None
    #: When it ceased to hold, or a statement in it did; `content` says so too.
    until: datetime | None = None
    #: A later message that may have ended what the memory states: the judge was not sure (docs/currency.md).
    doubt: NearbyTurn | None = None
    #: Of a short reply, the question that it answers.
    reply_to: NearbyTurn | None = None
    #: Turns around it, on request.
    before: tuple[NearbyTurn, ...] = ()
    after: tuple[NearbyTurn, ...] = ()
    #: Whether it is a turn on its way to memory: said a moment ago and not consolidated yet.
    fresh: bool = False
    #: The changes that passes made to its place, in words: "moved up: holds now".
    moves: tuple[str, ...] = ()

    def measured(self, name: str) -> float:
        """Return the value of a signal, weighed or not; 0 if it was not measured."""
        if isinstance(self.signals, Signals):
            return self.signals.measured(name)
        return self.signals[name].value if name in self.signals else 0.0

    @property
    def told(self) -> str:
        """The hit on one line: the question that it answers, its content, any doubt, how often and when it was said."""
        question = f"{self.reply_to.content} / " if self.reply_to else ""
        often = f" (said {self.times} times since {self.first_at:%Y-%m-%d})" if self.first_at else ""
        just = " (said just now)" if self.fresh else ""
        doubted = in_doubt(self.content, self.doubt and self.doubt.said_at, self.doubt and self.doubt.content)
        return f"{question}{doubted}{often}{just}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Drop:
    """A candidate that was dropped."""

    id: UUID
    item: Literal["turn", "memory"]
    score: float
    #: rank, budget, kind (one that the policy leaves out), same_turn, same (the same words), similarity (below the
    #: policy's least), small_talk, general (general knowledge answers the request), sensitive (of a class that a
    #: message does not bring up), importance, expired or superseded; corrected: a person said that it is wrong;
    #: forgotten: on request.
    reason: str


def drop(hit: Hit, reason: str) -> Drop:
    """Return the record of a dropped candidate, with the reason."""
    return Drop(id=hit.id, item=hit.item, score=rounded(hit.score), reason=reason)


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallResult:
    """The answer to one question (Logic 2.7)."""

    #: The id under which it is logged.
    id: UUID
    question: str
    tenant_id: str
    subject_id: str
    asked_at: datetime
    policy: str
    policy_hash: str
    model: str | None
    #: The cross-encoder that ordered the hits; None: the weighed signals did.
    reranker: str | None = None
    hits: tuple[Hit, ...]
    dropped: tuple[Drop, ...]
    #: Candidates that ranked so low that they are only counted.
    unranked: int = 0
    total_tokens: int
    token_budget: int
    #: Notes for people: anything missing, or done differently than asked.
    notes: tuple[str, ...] = field(default=())

    @property
    def budget_used(self) -> float:
        """Share of the token budget that the hits use."""
        return self.total_tokens / self.token_budget if self.token_budget else 0.0
