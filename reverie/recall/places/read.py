"""Reads what candidates' places depend on: their former statements, the questions they answer, the turns around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from reverie.language.parts import ended_parts
from reverie.language.text import attributed, strip_invisible
from reverie.recall.result import Hit, NearbyTurn
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


class Former(NamedTuple):
    """A statement of a candidate that no longer holds."""

    content: str
    until: datetime
    #: The statements that replaced it in turn, nearest first; the last is in force, if it is known.
    successors: tuple[Hit, ...]
    #: Whether the last may be recalled.
    is_recallable: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A memory in the chain from an ended statement to the one in force, or the turn that ended the last one."""

    first_id: UUID
    id: UUID
    kind: str
    content: str
    state: str
    happened_at: datetime
    valid_to: datetime | None
    turn_id: UUID | None
    session_id: str | None
    importance: float
    is_recallable: bool
    depth: int
    #: The part that still holds, if it ended in part; None: nothing.
    left: str | None

    @property
    def hit(self) -> Hit:
        """The memory as a hit that no search found."""
        return Hit(
            item="memory",
            id=self.id,
            kind=self.kind,
            content=strip_invisible(self.content),
            happened_at=self.happened_at,
            score=0.0,
            signals={},
            ranks={},
            turn_id=self.turn_id,
            session_id=self.session_id,
            importance=self.importance,
        )


async def read_formers(
    session: TenantSession, ids: Mapping[UUID, Sequence[UUID]], *, as_of: datetime, min_importance: float
) -> dict[UUID, list[Former]]:
    """Return by candidate its statements that no longer hold; `ids` has the memories of these statements."""
    if not ids:
        return {}
    params = {
        "tenant": session.tenant_id,
        "ids": list({id_ for each in ids.values() for id_ in each}),
        "as_of": as_of,
        "min_importance": min_importance,
    }
    steps = await session.run(Statement(queries("places")["successors"], params, row=Step))
    formers = {first_id: _former(list(group)) for first_id, group in groupby(steps, key=lambda step: step.first_id)}
    return {item_id: [formers[id_] for id_ in each if id_ in formers] for item_id, each in ids.items()}


async def read_doubts(
    session: TenantSession, doubted: Mapping[UUID, UUID], *, subject_id: str, as_of: datetime
) -> dict[UUID, NearbyTurn]:
    """Return by memory the message that may have ended it; `doubted` has the turn of each."""
    if not doubted:
        return {}
    params = {"tenant": session.tenant_id, "subject": subject_id, "ids": list({*doubted.values()}), "as_of": as_of}
    said = {row[0]: _nearby(*row) for row in await session.run(Statement(queries("places")["doubts"], params))}
    return {memory_id: said[turn_id] for memory_id, turn_id in doubted.items() if turn_id in said}


def read_nearby(question: Sequence[Any]) -> NearbyTurn:
    """Return the question that a candidate answers, from the id, speaker, role, text and time of its turn."""
    id_, speaker, role, text, said_at = question
    return _nearby(UUID(id_), speaker, role, text, datetime.fromisoformat(said_at))


async def with_neighbours(
    session: TenantSession,
    hits: Sequence[Hit],
    neighbours: int,
    *,
    horizon: UUID,
    among: Sequence[UUID] | None = None,
) -> list[Hit]:
    """Return hits with `neighbours` turns before and after the turn of each, of those `among`; None: of all."""
    turns = {hit.id: hit.id if hit.item == "turn" else hit.turn_id for hit in hits}
    ids = list(dict.fromkeys(turn for turn in turns.values() if turn))
    if not ids:
        return list(hits)
    params = {"tenant": session.tenant_id, "ids": ids, "neighbours": neighbours, "horizon": horizon}
    params["among"] = None if among is None else list(among)
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


def _former(steps: Sequence[Step]) -> Former:
    first, *rest = steps
    return Former(
        content=ended_parts(first.content, first.left) if first.left else first.content,
        until=first.valid_to or first.happened_at,
        successors=tuple(step.hit for step in rest if step.state != "merged"),
        is_recallable=bool(rest) and rest[-1].is_recallable,
    )
