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
    """The first time in a session at which enough messages in a row were negative."""

    session_id: str
    at: datetime
    #: The negative messages in a row; the last one completes the number.
    turn_ids: tuple[UUID, ...]


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
    """Return the openings in event order, at most one for each session."""
    rows: dict[str, list[Felt]] = {}
    found: dict[str, Opening] = {}
    for felt in moods:
        row = rows.setdefault(felt.session_id, [])
        if felt.mood not in policy.signals.negative_moods:
            row.clear()
            continue
        row.append(felt)
        if len(row) == policy.mood.negative_messages and felt.session_id not in found:
            ids = tuple(each.turn_id for each in row)
            found[felt.session_id] = Opening(felt.session_id, felt.said_at, ids)
    return list(found.values())


def find_periods(moods: Sequence[Felt], openings: Sequence[Opening], policy: Policy) -> list[Period]:
    """Return the periods in event order; one is over after `calm_messages` messages in a row with other moods."""
    opens = {opening.turn_ids[-1]: opening for opening in openings}
    periods: list[Period] = []
    current: Period | None = None
    calm = 0
    for felt in moods:
        negative = felt.mood in policy.signals.negative_moods
        if current is None and felt.turn_id in opens:
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
