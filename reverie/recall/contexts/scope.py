"""The part of memory that a context may use: all of it, that of the active connections, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import compress
from typing import TypeVar
from uuid import UUID

from reverie.recall.connections import ConnectionTools, tools_statement
from reverie.recall.contexts.request import Given, tool_name
from reverie.recall.facts import StructuredFact
from reverie.recall.filters import Filters
from reverie.recall.profile import Profile, ProfileStatement
from reverie.store.session import Statement

V = TypeVar("V", StructuredFact, ProfileStatement)


def admitted_profile(known: Profile, given: Given, filters: Filters, admitted: Collection[UUID] | None) -> Profile:
    """Return the parts of the profile that mode and filters allow; relationship and moods stay."""
    if given.mode == "off":
        known = replace(known, facts=(), preferences=(), statements=(), recent=(), upcoming=())
        known = replace(known, entries=(), learned_facts=(), conflicts=())
        return replace(known, written=None, is_written=False, note="")
    if admitted is None:
        return known
    ids, active = frozenset(admitted), filters.connections
    known = with_doubts(known, lambda said: False)  # nothing says whether these messages are admitted
    return replace(
        known,
        facts=tuple(one for one in known.facts if one.memory_id in ids or one.turn_id in ids),
        preferences=tuple(one for one in known.preferences if one.id in ids),
        statements=tuple(one for one in known.statements if one.id in ids),
        recent=tuple(one for one in known.recent if one.id in ids),
        upcoming=tuple(one for one in known.upcoming if one.turn_id in ids or one.memory_id in ids),
        learned_facts=tuple(one for one in known.learned_facts if one.id in ids),
        entries=tuple(
            one for one in known.entries if not one.connection_id or active is None or one.connection_id in active
        ),
    )


def with_doubts(known: Profile, is_told: Callable[[str], bool]) -> Profile:
    """Return the profile with those messages that cast doubt on a value that may be told."""

    def told(one: V) -> V:
        return one if one.doubt is None or is_told(one.doubt) else replace(one, doubt=None, doubted_at=None)

    return replace(
        known,
        facts=tuple(map(told, known.facts)),
        preferences=tuple(map(told, known.preferences)),
        statements=tuple(map(told, known.statements)),
    )


def without_withheld(known: Profile, may_tell: Callable[[Sequence[str]], Sequence[bool]]) -> Profile:
    """Return the profile without the memories and events that a message does not bring up."""
    events, recent = known.upcoming, known.recent

    def told(statements: Sequence[ProfileStatement]) -> tuple[ProfileStatement, ...]:
        return tuple(compress(statements, may_tell([one.content for one in statements])))

    return replace(
        known,
        upcoming=tuple(compress(events, may_tell([one.title for one in events]))),
        preferences=told(known.preferences),
        statements=told(known.statements),
        recent=tuple(compress(recent, may_tell([one.content for one in recent]))),
    )


def connection_statements(filters: Filters, tenant_id: str, subject_id: str) -> tuple[Statement[ConnectionTools], ...]:
    """Return the statement that reads the active connections' tools; none if no connection is active."""
    active = filters.connections
    return (tools_statement(tenant_id, subject_id, active),) if active else ()


def with_tools(given: Given, cached: Sequence[ConnectionTools], as_of: datetime) -> tuple[Given, list[str]]:
    """Return the request with the cached tools of the active connections after its own, and notes on stale ones."""
    names = {tool if isinstance(tool, str) else tool_name(tool) for tool in given.tools}
    tools, notes = list(given.tools), []
    for one in cached:
        if not one.is_fresh(as_of):
            read = f"{one.read_at:%Y-%m-%d %H:%M}"
            notes.append(f"The tools of {one.connection_id} were read at {read} and are out of date: not given.")
            continue
        for tool in one.tools:
            name = tool if isinstance(tool, str) else tool_name(tool)
            if name not in names:
                names.add(name)
                tools.append(tool)
    return replace(given, tools=tools), notes


def scope_notes(known: Profile, given: Given, filters: Filters) -> list[str]:
    """Return notes on data left out by mode and filters, or given from all connections."""
    if given.mode == "off":
        return ["Retrieval is off: no facts and no memories are given."]
    connections = {one.connection_id for one in known.active if one.connection_id}
    active = filters.connections
    if active is None:
        return [f"No active connections were named: what was learned about all {len(connections):,} counts."] * (
            len(connections) > 1
        )
    left = connections - set(active)
    return [f"Left out, since they are not active: {', '.join(sorted(left))}."] * bool(left)
