"""Working memory: the state of a session in progress (spec A1; Brain 5, Chat 1).

It is a sliding window of the session's turns, which stay in the buffer and the log and are not copied, and the lists
of the caller: preferences, confirmations that it waits for, and tool results still in use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from reverie.capture.append import REFUSED
from reverie.capture.mending import mend
from reverie.errors import ConflictError, InputError
from reverie.model import Role, require_aware
from reverie.policy import Policy
from reverie.policy.live import WorkingMemoryPolicy
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Limits of one of the caller's lists: entries, and bytes of its JSON.
MOST_HELD = 100
MOST_BYTES = 64 << 10


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowTurn:
    """One turn of the window."""

    id: UUID
    source_id: str
    role: Role
    speaker: str | None
    said_at: datetime
    text: str
    tool_calls: list[dict[str, Any]]
    #: Whether it is in the log already.
    logged: bool
    #: Whether a person has since corrected what it says, or wants it forgotten.
    withdrawn: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """The working memory of a session."""

    opened_at: datetime
    #: The time of the last input.
    touched_at: datetime
    #: The time at which it ends, unless more input arrives.
    expires_at: datetime
    #: The latest time at which its turns are in the log; None: they are.
    flush_at: datetime | None
    #: The mood of the last message: {mood, energy, style, confidence, method}.
    mood: dict[str, Any] | None
    #: Preferences that the caller set: texts.
    preferences: list[str]
    #: Preferences and instructions that the session's messages state, as the rules found them.
    stated: list[str]
    #: Confirmations that the caller waits for: objects.
    confirmations: list[dict[str, Any]]
    #: Results of tools still in use: objects.
    tool_results: list[dict[str, Any]]
    #: In the order in which they were said.
    turns: tuple[WindowTurn, ...]
    #: Turns of the session that are not in the log yet.
    waiting: int
    #: Turns of the session that are not in `turns`: they come after its first one if that is kept, else before all.
    left_out: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldLists:
    """The caller's lists of a session; None leaves a list as it is."""

    preferences: Sequence[str] | None = None
    #: Confirmations that the caller waits for.
    confirmations: Sequence[Mapping[str, Any]] | None = None
    #: Results of tools still in use.
    tool_results: Sequence[Mapping[str, Any]] | None = None


async def read_session(
    session: TenantSession,
    *,
    subject_id: str,
    session_id: str,
    policy: Policy,
    as_of: datetime,
    until: datetime | None = None,
) -> Session | None:
    """Return the working memory of a session at `as_of`; None: there is none, or it has expired.

    until: The time of its last turn at most; None: all turns count. The rest is as it is now.
    """
    numbers = policy.working_memory
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "session": session_id,
        "as_of": require_aware(as_of),
        "until": until and require_aware(until),
        "turns": numbers.turns,
    }
    rows = await session.run(Statement(queries("working_memory")["read_session"], params))
    if not rows:
        return None
    *entry, mood, preferences, confirmations, tool_results, stated, first, latest, waiting, total, gone = rows[0]
    opened_at, touched_at, expires_at, flush_at = entry
    withdrawn = frozenset(gone)
    turns = [_turn(each, withdrawn) for each in orjson.loads(latest or "[]")]
    opening = _turn(orjson.loads(first), withdrawn) if first else None
    within = window(opening, turns, numbers)
    return Session(
        opened_at=opened_at,
        touched_at=touched_at,
        expires_at=expires_at,
        flush_at=flush_at,
        mood=mood,
        preferences=preferences,
        stated=list(dict.fromkeys(each["text"] for each in stated if UUID(each["turn_id"]) not in withdrawn)),
        confirmations=confirmations,
        tool_results=tool_results,
        turns=within,
        waiting=waiting,
        left_out=total - len(within),
    )


def window(
    first: WindowTurn | None, latest: Sequence[WindowTurn], numbers: WorkingMemoryPolicy
) -> tuple[WindowTurn, ...]:
    """Return the last `turns` turns; the session's first turn is among them if the policy keeps it (Brain 5.2)."""
    last = list(latest[-numbers.turns :])
    if first is None or not numbers.keep_first or any(turn.id == first.id for turn in last):
        return tuple(last)
    return (first, *last[len(last) - numbers.turns + 1 :])


async def update_session(
    session: TenantSession, lists: HeldLists, *, subject_id: str, session_id: str, policy: Policy, as_of: datetime
) -> None:
    """Replace these lists. A session without working memory gets one.

    Raises:
        InputError: a list has too many entries or is too large; names it.
        ConflictError: a list has entries, and capture is off for the subject. Nothing is changed.
    """
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "session": session_id,
        "as_of": require_aware(as_of),
        "ttl": timedelta(hours=policy.working_memory.ttl_hours),
        "is_empty": not any((lists.preferences, lists.confirmations, lists.tool_results)),
    }
    given = {"preferences": lists.preferences, "confirmations": lists.confirmations, "tool_results": lists.tool_results}
    stored = {name: None if held is None else _stored(name, held) for name, held in given.items()}
    if not await session.run(Statement(queries("working_memory")["update_session"], params | stored)):
        raise ConflictError(REFUSED["capture_off"])


async def close_session(session: TenantSession, *, subject_id: str, session_id: str, as_of: datetime) -> int | None:
    """Mark a session as over and return how many of its turns wait for the flush, which ends its working memory.

    None: it has no working memory. A turn that arrives before the flush opens the session again.
    """
    params = {"tenant": session.tenant_id, "subject": subject_id, "session": session_id, "as_of": require_aware(as_of)}
    rows = await session.run(Statement(queries("working_memory")["close_session"], params))
    return rows[0][0] if rows else None


def _turn(stored: Mapping[str, Any], withdrawn: frozenset[UUID]) -> WindowTurn:
    return WindowTurn(
        id=UUID(stored["id"]),
        source_id=stored["source_id"],
        role=stored["role"],
        speaker=stored["speaker"],
        said_at=datetime.fromisoformat(stored["said_at"]),
        text=stored["text"],
        tool_calls=stored["tool_calls"] or [],
        logged=not stored["waits"],
        withdrawn=UUID(stored["id"]) in withdrawn,
    )


def _stored(name: str, given: Sequence[Any]) -> str:
    if len(given) > MOST_HELD:
        raise InputError(f"{name} has {len(given)} entries; at most {MOST_HELD} are allowed.")
    try:
        stored = orjson.dumps(mend([dict(each) if isinstance(each, Mapping) else each for each in given]))
    except (TypeError, RecursionError) as error:
        raise InputError(f"{name} is not JSON.") from error
    if len(stored) > MOST_BYTES:
        raise InputError(f"{name} is {len(stored):,} bytes of JSON; at most {MOST_BYTES:,} are allowed.")
    return stored.decode()
