"""Subjects, and one subject in several views: now, over time, relations, sessions and moods, signals, profile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from starlette.responses import Response

from reverie.errors import InputError, NotFoundError
from reverie.inspector.drawing import relation_graph
from reverie.inspector.reading import locate, page_turns, sessions_and_moods, turns_to_come
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.language.cues.mood import MOODS
from reverie.model import KINDS, Kind, State
from reverie.recall.browse import MemoryFilter, load_graph, page_memories
from reverie.recall.facts import StructuredFact, load_facts
from reverie.recall.inspect import count_subject
from reverie.recall.profile import load_profile
from reverie.recall.roster import list_subjects
from reverie.recall.signals.triggers import list_signals, list_triggers, read_standing

_SUBJECTS, _MEMORIES, _SESSIONS, _TURNS = 50, 40, 20, 60
#: Most entities and ties of a graph: more would be illegible.
_ENTITIES, _TIES = 24, 40
_TRIGGERS, _WEEKS = 20, 12
#: Views of a subject by name, in their order.
SUBJECT_VIEWS = {
    "now": "True now",
    "history": "Over time",
    "relations": "Relations",
    "sessions": "Sessions and moods",
    "signals": "Signals",
    "profile": "Profile",
}


class ValiditySpan(NamedTuple):
    """The time in which a fact held, as a part of the time drawn."""

    fact: StructuredFact
    #: In percent.
    x: float
    width: float


async def show_subjects(visit: Visit) -> Response:
    """List subjects by name."""
    search = visit.entry("search")
    found = await asyncio.to_thread(
        list_subjects,
        visit.services.batches,
        visit.tenant_id,
        search=search,
        after=visit.value("after"),
        limit=_SUBJECTS + 1,
    )
    return visit.render("subjects.html", subjects=found[:_SUBJECTS], more=len(found) > _SUBJECTS, search=search)


async def show_person(visit: Visit) -> Response:
    """Show one view of a subject, as of a time."""
    subject_id, chosen = visit.name("subject"), visit.value("view") or "now"
    if chosen not in _READ:
        raise InputError(f"There is no view {chosen!r}: {', '.join(_READ)}.")
    as_of = visit.time()
    counts = await count_subject(visit.caller.reader(), subject_id)
    values = await _READ[chosen](visit, subject_id, as_of or visit.at)
    return visit.render(
        f"subject_{chosen}.html",
        subject=subject_id,
        counts=counts,
        views=SUBJECT_VIEWS,
        chosen=chosen,
        as_of=as_of,
        **values,
    )


async def _now(visit: Visit, subject_id: str, at: datetime) -> dict[str, Any]:
    facts = await load_facts(visit.caller.reader(), subject_id=subject_id, as_of=at)
    chosen = visit.time()
    # a memory in force on a past day may have ended since
    states: tuple[State, ...] = ("active", "candidate", "superseded") if chosen else ("active", "candidate")
    return {"facts": facts} | await _memories(visit, subject_id, at, states, in_force_at=chosen)


async def _history(visit: Visit, subject_id: str, at: datetime) -> dict[str, Any]:
    facts = await load_facts(visit.caller.reader(), subject_id=subject_id, as_of=at, history=True)
    # a memory that had ended by a past day, and not one that has ended since
    listed = await _memories(visit, subject_id, at, ("superseded", "merged", "compressed"), ended_by=visit.time())
    return {"spans": validity_spans(facts, at)} | listed


async def _memories(
    visit: Visit,
    subject_id: str,
    at: datetime,
    states: tuple[State, ...],
    *,
    in_force_at: datetime | None = None,
    ended_by: datetime | None = None,
) -> dict[str, Any]:
    """Return a page of memories of some states and of the chosen kind, latest first."""
    kind: Kind | None = next((each for each in KINDS if each == visit.value("kind")), None)
    entity, before = visit.value("entity"), visit.value("before")
    found = await page_memories(
        visit.caller.reader(),
        subject_id,
        policy=visit.caller.policy,
        wanted=MemoryFilter(
            kinds=(kind,) if kind else KINDS,
            states=states,
            entity=entity,
            in_force_at=in_force_at,
            ended_by=ended_by,
        ),
        as_of=at,
        before=_uuid(before) if before else None,
        limit=_MEMORIES + 1,
    )
    return {
        "memories": found[:_MEMORIES],
        "more": len(found) > _MEMORIES,
        "kinds": KINDS,
        "kind": kind,
        "entity": entity,
    }


async def _relations(visit: Visit, subject_id: str, at: datetime) -> dict[str, Any]:
    graph = await load_graph(visit.caller.reader(), subject_id, limit=_ENTITIES, edges=_TIES)
    return {"graph": graph, "drawing": relation_graph(graph)}


async def _sessions(visit: Visit, subject_id: str, at: datetime) -> dict[str, Any]:
    ended_at = visit.time("before")
    after = (ended_at, visit.value("session") or "") if ended_at else None
    session, as_of = visit.caller.reader(), visit.time()
    found, moods = await sessions_and_moods(session, subject_id, as_of=as_of, after=after, limit=_SESSIONS + 1)
    return {"sessions": found[:_SESSIONS], "more": len(found) > _SESSIONS, "moods": moods}


async def _signals(visit: Visit, subject_id: str, at: datetime) -> dict[str, Any]:
    """Return a subject's standing (None before its first run), its due triggers, and its figures by week."""
    session = visit.caller.reader()
    try:
        standing = await read_standing(session, subject_id=subject_id, as_of=at)
    except NotFoundError:
        standing = None
    return {
        "standing": standing,
        "triggers": await list_triggers(session, subject_id=subject_id, as_of=at, limit=_TRIGGERS),
        "weeks": await list_signals(session, subject_id=subject_id, as_of=at, weekly=True, limit=_WEEKS),
        "moods": MOODS,
        "every": False,
    }


async def _profile(visit: Visit, subject_id: str, at: datetime) -> dict[str, Any]:
    policy = visit.caller.policy
    profile = await load_profile(visit.caller.reader(), subject_id=subject_id, policy=policy, as_of=at)
    return {"profile": profile, "narrative": profile.narrative(policy.profile.narrative_words)}


_READ: dict[str, Callable[[Visit, str, datetime], Awaitable[dict[str, Any]]]] = {
    "now": _now,
    "history": _history,
    "relations": _relations,
    "sessions": _sessions,
    "signals": _signals,
    "profile": _profile,
}


def validity_spans(facts: Sequence[StructuredFact], at: datetime) -> list[ValiditySpan]:
    """Return facts with the part of the time from the first one to `at` in which each held."""
    if not facts:
        return []
    start = min(fact.valid_from for fact in facts)
    whole = max((at - start).total_seconds(), 1.0)

    def share(when: datetime | None) -> float:
        return 100.0 if when is None else min(max((when - start).total_seconds() / whole * 100, 0.0), 100.0)

    spans = []
    for fact in facts:
        x = share(fact.valid_from)
        spans.append(ValiditySpan(fact, round(x, 2), round(max(share(fact.valid_to) - x, 1.0), 2)))
    return spans


async def show_session(visit: Visit) -> Response:
    """Show the turns of a session, from the beginning or from one turn on."""
    subject_id, session_id = visit.name("subject"), visit.name("session")
    first = await locate(visit.caller.reader(), visit.uuid("turn")) if visit.value("turn") else None
    turns = await page_turns(visit.caller.reader(), subject_id, session_id, first=first, limit=_TURNS + 1)
    following = turns[_TURNS] if len(turns) > _TURNS else None
    if following is None:
        turns += await turns_to_come(visit.caller.reader(), subject_id, session_id, limit=_TURNS)
    return visit.render(
        "session.html",
        subject=subject_id,
        session=session_id,
        turns=turns[:_TURNS] if following else turns,
        following=following,
        first=first,
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InputError(f"{text!r} is not an id.") from None


PAGES = (
    InspectorPage("subjects", show_subjects),
    InspectorPage("subject", show_person),
    InspectorPage("session", show_session),
)
