"""The types of messages without a mood and of the history of subjects; pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from reverie.consolidate.signal.talk_changes import TalkMessage
from reverie.consolidate.signal.trends import Number
from reverie.language.cues.mood import Mood
from reverie.language.life_events.settling import LifeEvent

#: A time after every message.
NEVER = datetime.max.replace(tzinfo=UTC)


#: An author in a session: subject, session, whether the author is the subject, and otherwise the speaker.
AuthorChain = tuple[str, str, bool, str | None]


@dataclass(frozen=True, slots=True)
class SubjectDays:
    """Days of subjects: the two columns form pairs."""

    subject_ids: list[str] = field(default_factory=list)
    days: list[date] = field(default_factory=list)

    def params(self) -> dict[str, Any]:
        """Return query parameters: the pairs, the subjects, the start of the first day and the end of the last.

        From the last three, the planner knows whether to read by subject or by time.
        """
        since, until = (datetime.combine(day, time(), UTC) for day in (min(self.days), max(self.days)))
        return {
            "day_subjects": self.subject_ids, "days": self.days, "names": self.names(), "since": since,
            "until": until + timedelta(days=1),
        }  # fmt: skip

    def begins(self) -> dict[str, datetime]:
        """Return the start of the first day of each subject."""
        first: dict[str, date] = {}
        for subject_id, day in zip(self.subject_ids, self.days, strict=True):
            first[subject_id] = min(day, first.get(subject_id, day))
        return {subject_id: datetime.combine(day, time(), UTC) for subject_id, day in first.items()}

    def names(self) -> list[str]:
        """Return the subjects, each once, in order."""
        return sorted(set(self.subject_ids))


@dataclass(frozen=True, slots=True)
class UntoldMessage:
    """A message of the log without a mood."""

    id: UUID
    subject_id: str
    session_id: str
    said_at: datetime
    text: str
    #: Its stored vector, as Postgres sends a halfvec; None: it has none, or one that must not be used.
    vector: bytes | None
    #: Whether the vector covers exactly its words: all of them, and no speaker's name.
    of_words: bool
    #: The mood that a language model gave when the message came in; None: there is none.
    told: Mood | None
    #: Whether the subject wrote it.
    own: bool
    #: The speaker, if that is not the subject.
    author: str | None = None

    @property
    def chain(self) -> AuthorChain:
        """Its author in its session, whose previous mood it may continue."""
        return self.subject_id, self.session_id, self.own, self.author


@dataclass(frozen=True, slots=True)
class Felt:
    """The stored mood of a message of the subject."""

    session_id: str
    said_at: datetime
    turn_id: UUID
    mood: str
    crisis: bool


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The figures of one day of a subject with one counterpart."""

    day: date
    messages: int
    received: int
    sessions: int
    begun: int
    own_begun: int
    latency: float | None
    gaps: list[float]
    half_hours: list[int]
    words: int
    questions: int
    negative: int
    bored: int
    crises: int
    zone: str | None


@dataclass(frozen=True, slots=True)
class SessionSpan:
    """The first and last message of a session on one day (UTC)."""

    began: datetime
    ended: datetime
    #: Whether the session begins on this day.
    is_first: bool = True


@dataclass(slots=True)
class History:
    """The history of a subject's signals, in event order."""

    subject_id: str
    days: list[DayFigures] = field(default_factory=list)
    moods: list[Felt] = field(default_factory=list)
    sessions: list[SessionSpan] = field(default_factory=list)
    #: Settled life events, in the order in which they were told.
    events: list[LifeEvent] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    #: Messages with their possible topics; read only if the days before are compared again.
    talk: list[TalkMessage] = field(default_factory=list)
    #: Start of the first day to process.
    since: datetime = NEVER

    @property
    def last_day(self) -> date:
        """The latest day with a turn, UTC."""
        return max((day.day for day in self.days), default=date.min)
