"""Observation rate, correction rate, and accuracy against corrections (Agent 8.1 and 8.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from reverie.store.database import Store
from reverie.store.queries import queries


class SessionCounts(NamedTuple):
    """The counts of one session of a subject."""

    subject_id: str
    #: Number among the subject's sessions, from 1.
    number: int
    began: datetime
    #: Number of turns of the user.
    messages: int
    #: Number of interactive observations: calls of record_observation.
    observations: int
    #: Number of corrections `wrong` and `replace` until the next session.
    corrections: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrectedShare:
    """The number of learned items, and of those that a person called wrong."""

    learned: int
    wrong: int

    @property
    def accuracy(self) -> float | None:
        """1 - wrong / learned, 0 to 1; None if nothing was learned.

        Source: agreement with the user's own profile (Agent 8.1), as far as the user corrects it. Known error: items
        that nobody corrects count as right, so this is an upper bound.
        """
        return 1 - self.wrong / self.learned if self.learned else None


def session_counts(store: Store, tenant_id: str, *, as_of: datetime) -> list[SessionCounts]:
    """Return the counts of every session, by subject and time."""
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("conduct")["sessions"], {"tenant": tenant_id, "as_of": as_of}).fetchall()
    return [SessionCounts(*row) for row in rows]


def observation_rate(sessions: Sequence[SessionCounts]) -> float | None:
    """Return interactive observations per session, 0 or more; None without sessions. Source: Agent 8.2.

    Known error: observations that the rules find in the user's words are not calls, so they do not count.
    """
    return sum(each.observations for each in sessions) / len(sessions) if sessions else None


def correction_rate(sessions: Sequence[SessionCounts]) -> float | None:
    """Return corrections per 100 messages of the user, 0 or more; None without messages. Source: Agent 8.2.

    Known error: a correction in conversation ("no, I moved") ends a statement, but does not count here.
    """
    messages = sum(each.messages for each in sessions)
    return 100 * sum(each.corrections for each in sessions) / messages if messages else None


def correction_trend(sessions: Sequence[SessionCounts]) -> tuple[float | None, float | None]:
    """Return the correction rates of the first and the second half of each subject's sessions; they should fall."""
    last: dict[str, int] = {}
    for each in sessions:
        last[each.subject_id] = max(each.number, last.get(each.subject_id, 0))
    early = [each for each in sessions if 2 * each.number <= last[each.subject_id]]
    late = [each for each in sessions if 2 * each.number > last[each.subject_id]]
    return correction_rate(early), correction_rate(late)


def corrected_shares(store: Store, tenant_id: str, *, as_of: datetime) -> tuple[CorrectedShare, CorrectedShare]:
    """Return the share of facts, preferences and instructions that a person called wrong, and that of scaffold entries.

    Only items learned up to `as_of` and corrections made up to then count. Merged memories are counted once, and faded
    ones count as learned.
    """
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("conduct")["wrong"], {"tenant": tenant_id, "as_of": as_of}).fetchone()
    learned, wrong, entries, wrong_entries = row or (0, 0, 0, 0)
    return CorrectedShare(learned=learned, wrong=wrong), CorrectedShare(learned=entries, wrong=wrong_entries)
