"""The types of a statement, as `decide` takes it, and of a decision."""

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

    #: The id of the structured fact that it makes.
    id: UUID
    subject_id: str
    #: The person that it is true of; empty for the subject.
    speaker: str
    #: A name in the policy's table; `category/key` if it has only a key.
    relation: str
    #: Whether it has only a key: one value at a time, the later one.
    is_keyed: bool = False
    #: The topic that tells several values apart: for a favorite, of what it is the favorite.
    topic: str = ""
    #: Whether the relation has one value at a time.
    is_single: bool = True
    #: The topic that it belongs to, in whatever words, if the relation has one value for each topic; see `slots`.
    slot: str = ""
    #: Whether its topic says what the value is of; without a topic it stands beside others.
    needs_topic: bool = False
    #: Whether it soon ends by itself, unlike other values of its relation; it ends nothing that lasts.
    is_passing: bool = False
    #: Whether its topic is a role, which one person has at a time unless it is one of several ("a client").
    is_role: bool = False
    #: Whether a change of what serves its topic ends what served it before.
    is_use: bool = False
    #: Whether its topic is a detail of its object, such as a date, that a later one replaces.
    is_detailed: bool = False
    #: Whether values that are not denied have polarity 1; then one without polarity is not the opposite of a denial.
    is_polar: bool = True
    #: Whether its ends may refer to a value by one of its words, or mean the latest.
    refers: bool = False
    #: Whether its ends also drop what is planned in other relations.
    ends_planned: bool = False
    #: The object of the relation.
    object: str
    polarity: int = 0
    phase: Phase = "holds"
    #: Category, key and value of the structured fact; None: it makes none.
    category: str | None = None
    key: str | None = None
    value: str = ""
    confidence: float
    #: The confidence by which it is compared with other values.
    sure: float
    importance: float
    valid_from: datetime
    #: When it ends by itself; None: at no time that is known.
    expires_at: datetime | None = None
    #: The memory that states it, and the one that it was merged into; the same if it was not merged.
    memory_id: UUID
    bearer_id: UUID
    #: Whether the memory still exists; a structured fact outlives it.
    is_kept: bool = True
    turn_id: UUID | None
    origin: str
    #: The model that stated it; None for rules.
    model: str | None = None
    #: Place of the turn in the log.
    session_id: str | None = None
    turn_index: int | None = None
    #: Relations in which it ends the values that its object names.
    ends: tuple[str, ...] = ()
    #: For an end that follows from a statement of another relation: it ends values that have one of these words, or any
    #: if there are none. None: it was said itself.
    ends_words: frozenset[str] | None = None
    #: Whether such a value must have all of these words, or no others.
    ends_named: bool = False
    #: Whether such an end only drops a plan.
    drops_plan: bool = False
    #: Whether such a value must name a place of work that has none of these words.
    ends_elsewhere: bool = False
    #: The only memory whose statements it ends; None: it ends what its own words name.
    ends_memory: UUID | None = None

    @property
    def order(self) -> tuple[datetime, Arrival, bool, bool, UUID]:
        """The sort key: event time, then arrival.

        Within a turn, changes come late ("Three?" "He turned 4"), and judged ends last: a value that the turn replaces
        counts as replaced, and not only as ended.
        """
        arrived = arrival(self.session_id, self.turn_index, self.turn_id)
        return self.valid_from, arrived, self.ends_memory is not None, self.phase == "begins", self.id

    @property
    def place(self) -> tuple[str, str, str, str]:
        """The place: statements of one place can end one another."""
        return self.subject_id, self.speaker, self.relation, self.slot

    @property
    def about(self) -> Hashable:
        """The object without its count: values about the same object share this key."""
        if self.is_keyed:
            return self.object.casefold()
        words = compared_words(self.object)
        return frozenset(word for word in words if not word.isdigit()) or words or self.object.casefold()

    def is_said_with(self, other: StatedValue, together: timedelta) -> bool:
        """Return whether it was said soon after another one in the same session."""
        same = self.session_id is not None and self.session_id == other.session_id
        return same and self.valid_from - other.valid_from <= together


@dataclass(slots=True, eq=False)
class Stint:
    """A period in which a value is in force without interruption."""

    opened: StatedValue
    #: All statements of the value, the first included.
    stated: list[StatedValue]
    ended_by: StatedValue | None = None
    #: The stint that continues it, with a more certain statement.
    continued: Stint | None = None
    #: Whether it is less certain than another value in force; then it makes no structured fact.
    is_weak: bool = False

    @property
    def is_open(self) -> bool:
        """Whether nothing ended it."""
        return self.ended_by is None

    def latest(self) -> Stint:
        """Return the last stint that continues this one with a more certain statement, or this one."""
        return self.continued.latest() if self.continued else self

    def last(self) -> StatedValue | None:
        """Return the statement that ended the value in the end; None: it is in force."""
        return self.latest().ended_by


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueInForce:
    """A value that is or was in force, and what ended it."""

    fact: StatedValue
    ended_at: datetime | None
    #: The value that replaced it; None while it holds, or if it ended without another.
    replaced_by: UUID | None
    #: When it ends by itself; None: at no time that is known.
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Validity:
    """The time during which a memory's statements hold."""

    valid_from: datetime
    valid_to: datetime | None = None
    superseded_by: UUID | None = None
    #: The turn that ended it; None: it still holds, or no turn ended it.
    ended_by: UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Undecided:
    """Two memories that cannot both hold, where nothing decides between them."""

    subject_id: str
    memory_id: UUID
    other_id: UUID
    relation: str
    reason: str
    since: datetime


@dataclass(slots=True)
class Decision:
    """The result of a decision."""

    values: list[ValueInForce] = field(default_factory=list)
    #: The validity of each memory, by id.
    validity: dict[UUID, Validity] = field(default_factory=dict)
    conflicts: set[Undecided] = field(default_factory=set)
    #: Ids of structured facts that are not made because another value is more certain.
    weaker: set[UUID] = field(default_factory=set)
