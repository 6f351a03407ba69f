"""Event time, then arrival: the order in which stages read memories that happened at one time (decision 0034).

Where a history has dates only, many turns share a time, and which of two values stands must not follow from a hash.
A memory's arrival is that of the turn it was made of. It is looked up in the log, never stored in memory. The queries
that order memories do so by the same rule: `m.turn_id is null, session_id collate "C", turn_index, turn_id, id`.
"""

from __future__ import annotations

from uuid import UUID

#: What sorts memories of one time; their ids break what ties are left: those of one turn, and those of no turn.
Arrival = tuple[bool, str, int, UUID]

_NO_TURN = UUID(int=0)


def arrival(session_id: str | None, turn_index: int | None, turn_id: UUID | None) -> Arrival:
    """Return the place, among memories of one time, of what was made of a turn; what no turn made comes last.

    Sessions go by id, by code point; turns of a session by `log.turns.turn_index`, then id, as every stage reads turns.
    """
    return turn_id is None, session_id or "", turn_index or 0, turn_id or _NO_TURN
