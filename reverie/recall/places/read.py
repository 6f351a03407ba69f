"""Reads what the places of candidates depend on: what they stated once, the questions they answer, the turns around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from reverie.language.text import attributed
from reverie.recall.result import Hit, Said
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


class Background(NamedTuple):
    """What is known of candidates besides their signals, by the id of the candidate."""

    formers: Mapping[UUID, Sequence[Former]]
    questions: Mapping[UUID, Said]


async def read_background(
    session: TenantSession,
    ranked: Sequence[Hit],
    *,
    subject_id: str,
    as_of: datetime,
    replies: Sequence[UUID],
    min_importance: float,
) -> Background:
    """Return what ranked candidates stated once, and the questions that the turns `replies` answer: one round trip."""
    if not ranked:
        return Background({}, {})
    params = {"tenant": session.tenant_id, "subject": subject_id, "as_of": as_of, "min_importance": min_importance}
    texts = queries("places")
    chains, questions = await session.run_all(
        Statement(texts["made_of"], params | {"ids": [hit.id for hit in ranked]}),
        Statement(texts["questions"], params | {"ids": list(replies)}),
    )
    return Background(_formers(chains), {item_id: _said(*rest) for item_id, *rest in questions})


async def with_neighbours(session: TenantSession, hits: Sequence[Hit], neighbours: int, *, horizon: UUID) -> list[Hit]:
    """Return hits with as many turns before and after the turn of each."""
    turns = {hit.id: hit.id if hit.item == "turn" else hit.turn_id for hit in hits}
    ids = list(dict.fromkeys(turn for turn in turns.values() if turn))
    if not neighbours or not ids:
        return list(hits)
    params = {"tenant": session.tenant_id, "ids": ids, "neighbours": neighbours, "horizon": horizon}
    around: dict[UUID, list[tuple[Said, bool]]] = {}
    for item_id, *rest, is_before in await session.run(Statement(queries("places")["around"], params)):
        around.setdefault(item_id, []).append((_said(*rest), is_before))
    return [
        hit._replace(
            before=tuple(said for said, is_before in near if is_before),
            after=tuple(said for said, is_before in near if not is_before),
        )
        for hit in hits
        for near in [around.get(turns[hit.id] or hit.id, [])]
    ]


def _said(id_: UUID, speaker: str | None, role: str | None, text: str, said_at: datetime) -> Said:
    return Said(id=id_, content=attributed(text, speaker, role), said_at=said_at)


def _formers(rows: Sequence[tuple[Any, ...]]) -> dict[UUID, list[Former]]:
    """Return the statements by item; rows are those of the query `made_of`."""
    found: dict[UUID, list[Former]] = {}
    for (item_id, _), group in groupby(rows, key=lambda row: row[:2]):
        first, *rest = (_step(*row) for row in group)
        successors = tuple(step.hit for step in rest if step.state != "merged")
        is_recallable = bool(rest) and rest[-1].is_recallable
        found.setdefault(item_id, []).append(
            Former(first.hit.content, first.valid_to or first.hit.happened_at, successors, is_recallable)
        )
    return found


class _Step(NamedTuple):
    hit: Hit
    state: str
    valid_to: datetime | None
    is_recallable: bool


def _step(
    item_id: UUID,
    first_id: UUID,
    depth: int,
    id_: UUID,
    kind: str,
    content: str,
    state: str,
    happened_at: datetime,
    valid_to: datetime | None,
    turn_id: UUID | None,
    session_id: str | None,
    importance: float,
    is_recallable: bool,
) -> _Step:
    hit = Hit("memory", id_, kind, content, happened_at, 0.0, {}, {}, turn_id, session_id, importance)
    return _Step(hit, state, valid_to, is_recallable)
