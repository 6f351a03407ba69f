"""A statement as `decide` reads it, and what a decision says of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from reverie.language.objects import compared_words
from reverie.model import Phase
from reverie.model.arrival import Arrival, arrival


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedValue:
    """One value of one relation or key, as a memory states it."""

    #: Of the structured fact that it makes.
    id: UUID
    subject_id: str
    #: Of whom it is true; empty for the subject itself.
    speaker: str
    #: A name of the policy's table; of what only a key states: `category/key`.
    relation: str
    #: Whether only a key states it: one value, and the later one counts.
    is_keyed: bool = False
    #: Which of several: the favorite of what.
    topic: str = ""
    #: Whether the relation has one value at a time.
    is_single: bool = True
    #: Where it has one value for each topic, the topic that it belongs to, whatever the words; see `slots`.
    slot: str = ""
    #: Whether its topic says of what it is told; without one it stands beside others.
    needs_topic: bool = False
    #: Whether it soon ends by itself, unlike what its relation usually says: it ends nothing that lasts.
    is_passing: bool = False
    #: Whether its topic is a role, which several may have unless it says which one.
    is_role: bool = False
    #: Whether a change of what serves its topic ends what served it.
    is_use: bool = False
    #: Whether its topic is a detail of its object, such as a date, that a later one replaces.
    is_detailed: bool = False
    #: Whether it has a polarity of 1 where it is not denied: one without is then no opposite of a denial.
    is_polar: bool = True
    #: Whether its ends may refer to a value by one of its words, or to the latest.
    refers: bool = False
    #: Whether its ends also drop what is planned in other relations.
    ends_planned: bool = False
    #: What stands in the relation.
    object: str
    polarity: int = 0
    phase: Phase = "holds"
    #: Category, key and value of the structured fact; None: it makes none.
    category: str | None = None
    key: str | None = None
    value: str = ""
    confidence: float
    #: Confidence by which it is compared with other values.
    sure: float
    importance: float
    valid_from: datetime
    #: The memory that states it, and the one that it was merged into, else the same.
    memory_id: UUID
    bearer_id: UUID
    #: Whether the memory is there; a structured fact outlives it.
    is_kept: bool = True
    turn_id: UUID | None
    origin: str
    #: Language model that said so; None for rules.
    model: str | None = None
    #: Of the turn.
    session_id: str | None = None
    turn_index: int | None = None
    #: Relations of which it ends the values that its object names.
    ends: tuple[str, ...] = ()
    #: Of what follows from a statement of another relation: it ends values that have one of these words, or any if
    #: there are none. None: it was said.
    ends_words: frozenset[str] | None = None
    #: Whether such a value must have all of these words, or no others.
    ends_named: bool = False
    #: Whether it only drops such a plan.
    drops_plan: bool = False
    #: Whether such a value must name a place of work that has none of these words.
    ends_elsewhere: bool = False
    #: The memory of which it ends what it states, and nothing else; None: it ends by what it says.
    ends_memory: UUID | None = None

    @property
    def order(self) -> tuple[datetime, Arrival, bool, bool, UUID]:
        """What sorts values by event time, then arrival.

        Of one turn, a change comes late ("Three?" "He turned 4"), and what it was judged to end last: what a value
        of it replaces is replaced, and not only over.
        """
        arrived = arrival(self.session_id, self.turn_index, self.turn_id)
        return self.valid_from, arrived, self.ends_memory is not None, self.phase == "begins", self.id

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Where statements can end one another."""
        return self.subject_id, self.speaker, self.relation, self.slot

    @property
    def about(self) -> Hashable:
        """What it is about, whatever its count: values about the same object have the same."""
        if self.is_keyed:
            return self.object.casefold()
        words = compared_words(self.object)
        return frozenset(word for word in words if not word.isdigit()) or words or self.object.casefold()

    def is_said_with(self, other: StatedValue, together: timedelta) -> bool:
        """Whether it was said soon after another in the same session."""
        same = self.session_id is not None and self.session_id == other.session_id
        return same and self.valid_from - other.valid_from <= together


@dataclass(slots=True, eq=False)
class Stint:
    """A value in force without interruption."""

    opened: StatedValue
    #: All that state it, the first included.
    stated: list[StatedValue]
    ended_by: StatedValue | None = None
    #: What states the same with more confidence.
    continued: Stint | None = None
    #: Less sure than another value in force: no structured fact.
    is_weak: bool = False

    @property
    def is_open(self) -> bool:
        """Whether nothing ended it."""
        return self.ended_by is None

    def latest(self) -> Stint:
        """Return the stint that goes on with the value, through what states the same with more confidence."""
        return self.continued.latest() if self.continued else self

    def last(self) -> StatedValue | None:
        """Return what ended the value at last."""
        return self.latest().ended_by


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueInForce:
    """A value that is or was in force, and what ended it."""

    fact: StatedValue
    ended_at: datetime | None
    #: The value that replaced it; None while it holds, or if it ended without another.
    replaced_by: UUID | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Validity:
    """From when to when what a memory states holds."""

    valid_from: datetime
    valid_to: datetime | None = None
    superseded_by: UUID | None = None
    #: The turn that ended it; None: no turn did, or nothing.
    ended_by: UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Undecided:
    """Two memories of which nothing says which one holds."""

    subject_id: str
    memory_id: UUID
    other_id: UUID
    relation: str
    reason: str
    since: datetime


@dataclass(slots=True)
class Decision:
    """What is in force."""

    values: list[ValueInForce] = field(default_factory=list)
    #: Of each memory, by id.
    validity: dict[UUID, Validity] = field(default_factory=dict)
    conflicts: set[Undecided] = field(default_factory=set)
    #: Structured facts that are not made, being less sure than another value.
    weaker: set[UUID] = field(default_factory=set)
