"""Reads what the places of candidates depend on: what they stated once, the questions they answer, the turns around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from reverie.language.text import attributed, strip_invisible
from reverie.recall.result import Hit, NearbyTurn
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


class Former(NamedTuple):
    """A statement of a candidate that no longer holds."""

    content: str
    until: datetime
    #: What came in its place, the nearest first; the last is what holds, if it is known.
    successors: tuple[Hit, ...]
    #: Whether the last may be recalled.
    is_recallable: bool


def read_formers(steps: Sequence[Mapping[str, Any]]) -> list[Former]:
    """Return what a candidate stated and no longer holds.

    `steps` are those of the query `search`: each statement, followed by what came in its place, one after the other.
    """
    found = []
    for _, group in groupby(steps, key=lambda step: step["first_id"]):
        first, *rest = group
        successors = tuple(_successor(step) for step in rest if step["state"] != "merged")
        is_recallable = bool(rest) and bool(rest[-1]["is_recallable"])
        found.append(Former(first["content"], datetime.fromisoformat(first["valid_to"]), successors, is_recallable))
    return found


def read_nearby(question: Sequence[Any]) -> NearbyTurn:
    """Return the question that a candidate answers: the id, speaker, role, text and time of its turn."""
    id_, speaker, role, text, said_at = question
    return _nearby(UUID(id_), speaker, role, text, datetime.fromisoformat(said_at))


async def with_neighbours(session: TenantSession, hits: Sequence[Hit], neighbours: int, *, horizon: UUID) -> list[Hit]:
    """Return hits with as many turns before and after the turn of each."""
    turns = {hit.id: hit.id if hit.item == "turn" else hit.turn_id for hit in hits}
    ids = list(dict.fromkeys(turn for turn in turns.values() if turn))
    if not neighbours or not ids:
        return list(hits)
    params = {"tenant": session.tenant_id, "ids": ids, "neighbours": neighbours, "horizon": horizon}
    around: dict[UUID, list[tuple[NearbyTurn, bool]]] = {}
    for item_id, *rest, is_before in await session.run(Statement(queries("places")["around"], params)):
        around.setdefault(item_id, []).append((_nearby(*rest), is_before))
    return [
        hit._replace(
            before=tuple(turn for turn, is_before in near if is_before),
            after=tuple(turn for turn, is_before in near if not is_before),
        )
        for hit in hits
        for near in [around.get(turns[hit.id] or hit.id, [])]
    ]


def _nearby(id_: UUID, speaker: str | None, role: str | None, text: str, said_at: datetime) -> NearbyTurn:
    return NearbyTurn(id=id_, content=attributed(text, speaker, role), said_at=said_at)


def _successor(step: Mapping[str, Any]) -> Hit:
    return Hit(
        item="memory",
        id=UUID(step["id"]),
        kind=step["kind"],
        content=strip_invisible(step["content"]),
        happened_at=datetime.fromisoformat(step["happened_at"]),
        score=0.0,
        signals={},
        ranks={},
        turn_id=UUID(step["turn_id"]) if step["turn_id"] else None,
        session_id=step["session_id"],
        importance=step["importance"],
    )
