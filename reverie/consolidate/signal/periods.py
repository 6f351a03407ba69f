"""Difficult periods: several negative messages in a row (Contact 4.2); pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.consolidate.signal.history import Felt
from reverie.policy import Policy


@dataclass(frozen=True, slots=True)
class Opening:
    """A time in a session at which enough messages in a row were negative."""

    session_id: str
    at: datetime
    #: The negative messages in a row; the last one completes the number.
    turn_ids: tuple[UUID, ...]
    #: Whether an earlier opening of the session was not over yet, by the messages of this session alone.
    again: bool


@dataclass(slots=True)
class Period:
    """A difficult period."""

    opened_at: datetime
    turn_id: UUID
    moods: Counter[str]
    closed_at: datetime | None = None

    @property
    def mood(self) -> str:
        """The most frequent mood of the period; of several, the first by name."""
        return min(self.moods, key=lambda mood: (-self.moods[mood], mood))


def find_openings(moods: Sequence[Felt], policy: Policy) -> list[Opening]:
    """Return the openings in event order, one for each row of messages that is long enough."""
    rows: dict[str, list[Felt]] = {}
    calm: Counter[str] = Counter()
    difficult: set[str] = set()
    found: list[Opening] = []
    for felt in moods:
        session = felt.session_id
        row = rows.setdefault(session, [])
        if felt.mood not in policy.signals.negative_moods:
            row.clear()
            calm[session] += 1
            if calm[session] == policy.signals.calm_messages:
                difficult.discard(session)
            continue
        row.append(felt)
        calm[session] = 0
        if len(row) == policy.mood.negative_messages:
            ids = tuple(each.turn_id for each in row)
            found.append(Opening(session, felt.said_at, ids, again=session in difficult))
            difficult.add(session)
    return found


def find_periods(moods: Sequence[Felt], openings: Sequence[Opening], policy: Policy) -> list[Period]:
    """Return the periods in event order; one is over after `calm_messages` messages in a row with other moods.

    A period is known by its time: of several that open at the same time, only the first counts.
    """
    opens = {opening.turn_ids[-1]: opening for opening in openings}
    periods: list[Period] = []
    current: Period | None = None
    calm = 0
    for felt in moods:
        negative = felt.mood in policy.signals.negative_moods
        is_new = not periods or felt.said_at > periods[-1].opened_at
        if current is None and is_new and felt.turn_id in opens:
            current, calm = Period(felt.said_at, felt.turn_id, Counter()), 0
            of_row = set(opens[felt.turn_id].turn_ids)
            current.moods.update(each.mood for each in moods if each.turn_id in of_row and each is not felt)
            periods.append(current)
        if current is None:
            continue
        calm = 0 if negative else calm + 1
        if negative:
            current.moods[felt.mood] += 1
        elif calm == policy.signals.calm_messages:
            current.closed_at, current = felt.said_at, None
    return periods
