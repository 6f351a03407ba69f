"""The order in which stages read memories: by event time, then by arrival (decision 0034).

If a history has only dates, many turns share a time, and a hash must not decide which of two values is in force.
A memory's arrival is that of the turn it was made from. It is looked up in the log, never stored in memory. Queries
that order memories use the same rule: `m.turn_id is null, session_id collate "C", turn_index, turn_id, id`.
"""

from __future__ import annotations

from uuid import UUID

#: Sort key of memories with the same event time; ids break the remaining ties, of one turn or of memories without one.
Arrival = tuple[bool, str, int, UUID]

_NO_TURN = UUID(int=0)


def arrival(session_id: str | None, turn_index: int | None, turn_id: UUID | None) -> Arrival:
    """Return the sort key of a memory made from a turn; memories without a turn come last.

    Sessions sort by id (code points), turns of a session by `turn_index`, then id, as every stage reads turns.
    """
    return turn_id is None, session_id or "", turn_index or 0, turn_id or _NO_TURN
