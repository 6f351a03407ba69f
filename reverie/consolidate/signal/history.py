"""Messages without a mood, and the history of subjects, as types; pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from reverie.consolidate.signal.talk_changes import TalkMessage
from reverie.consolidate.signal.trends import Number
from reverie.language.cues.mood import Mood
from reverie.language.life_events.settling import LifeEvent

#: After every message.
NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SubjectDays:
    """Some days of subjects: pairs of the two columns."""

    subject_ids: list[str] = field(default_factory=list)
    days: list[date] = field(default_factory=list)

    def params(self) -> dict[str, Any]:
        """Return them as query parameters: the pairs, the subjects, and when the first day begins and the last ends.

        The planner knows from the last three whether to read by subject or by time.
        """
        since, until = (datetime.combine(day, time(), UTC) for day in (min(self.days), max(self.days)))
        return {
            "day_subjects": self.subject_ids, "days": self.days, "names": self.names(), "since": since,
            "until": until + timedelta(days=1),
        }  # fmt: skip

    def begins(self) -> dict[str, datetime]:
        """Return when the first day of each subject begins."""
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
    #: Its stored vector, as Postgres sends a halfvec; None: it has none, or one that is not to be used.
    vector: bytes | None
    #: Whether that is of its words alone, without a speaker's name, and of all of them.
    of_words: bool
    #: What a language model told of it when it came.
    told: Mood | None
    #: Whether the subject wrote it.
    own: bool


@dataclass(frozen=True, slots=True)
class Felt:
    """The mood of a message of the subject, as it is stored."""

    session_id: str
    said_at: datetime
    turn_id: UUID
    mood: str
    crisis: bool


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The figures of a day of a subject, with one counterpart."""

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
    """When a session began and ended."""

    began: datetime
    ended: datetime


@dataclass(slots=True)
class History:
    """What is known of a subject's signals, in event order."""

    subject_id: str
    days: list[DayFigures] = field(default_factory=list)
    moods: list[Felt] = field(default_factory=list)
    sessions: list[SessionSpan] = field(default_factory=list)
    #: Settled, in the order in which they were told.
    events: list[LifeEvent] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    #: Messages with words that they may be about; read only where the days before are looked at again.
    talk: list[TalkMessage] = field(default_factory=list)
    #: Begin of the first day that is worked in.
    since: datetime = NEVER

    @property
    def last_day(self) -> date:
        """The latest day with a turn, UTC."""
        return max((day.day for day in self.days), default=date.min)
