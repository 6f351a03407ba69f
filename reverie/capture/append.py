"""Turns and outcomes into the log: appended once, however often they are sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from psycopg import Connection

from reverie.capture.identity import turn_hash
from reverie.model import Outcome, Turn
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession
from reverie.store.tenants import read_policy_name

_COLUMN_TYPES = (
    *("int4", "uuid", "text", "text", "text", "int4", "text", "text"),
    *("timestamptz", "text", "text", "text", "bytea"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Appended:
    """What became of the turns or outcomes that were sent."""

    #: New rows.
    added: int
    #: Sent before with the same content.
    repeated: int
    #: Positions, in what was sent, of those whose id has other content in the log, which is append-only.
    conflicts: tuple[int, ...]


NOTHING = Appended(added=0, repeated=0, conflicts=())


def policy_of(store: Store, tenant_id: str, otherwise: str) -> Policy:
    """Return the tenant's policy; `otherwise` names that of a tenant which is not known yet. Raises PolicyError."""
    with store.transaction(tenant_id) as conn:
        name = read_policy_name(conn, tenant_id)
    return load_policy(name or otherwise)


def insert_turns(conn: Connection[Any], tenant_id: str, turns: Sequence[Turn]) -> Appended:
    """Insert turns in the caller's transaction, in their order.

    Once a transaction: the table that the turns are copied to is emptied at commit. A turn is known by subject,
    session and source_id; one without `turn_index` is counted on after its session's last.
    """
    if not turns:
        return NOTHING
    _require_tenant(tenant_id, turns)
    lock_sessions(conn, tenant_id, {(turn.subject_id, turn.session_id) for turn in turns})
    make_incoming(conn)
    with conn.cursor() as cursor, cursor.copy(queries("capture")["copy_incoming"]) as copy:
        copy.set_types(_COLUMN_TYPES)
        for place, turn in enumerate(turns):
            copy.write_row(_row(place, turn))
    return _appended(len(turns), add_turns(conn, tenant_id))


def make_incoming(conn: Connection[Any]) -> None:
    """Make the temporary table that `add_turns` reads; it is emptied at commit."""
    conn.execute(queries("capture")["make_incoming"])


def lock_sessions(conn: Connection[Any], tenant_id: str, sessions: Iterable[tuple[str, str]]) -> None:
    """Wait until no other writer adds turns to these sessions (subject and session) of a tenant."""
    names = [f"{subject_id}/{session_id}" for subject_id, session_id in sessions]
    conn.execute(queries("capture")["lock_sessions"], {"tenant": tenant_id, "sessions": names})


def add_turns(conn: Connection[Any], tenant_id: str) -> tuple[int, list[int]]:
    """Add the incoming turns to the log; return how many were new, and the places of those in conflict with it."""
    added, conflicts = conn.execute(queries("capture")["add_turns"], {"tenant": tenant_id}).fetchone() or (0, [])
    return added, conflicts


def insert_outcomes(conn: Connection[Any], tenant_id: str, outcomes: Sequence[Outcome]) -> Appended:
    """Insert outcomes in the caller's transaction; known by decision, metric and time to the millisecond."""
    if not outcomes:
        return NOTHING
    found = conn.execute(queries("capture")["add_outcomes"], _outcome_columns(tenant_id, outcomes)).fetchone()
    return _appended(len(outcomes), found)


async def log_outcomes(session: TenantSession, outcomes: Sequence[Outcome]) -> Appended:
    """Insert outcomes as `insert_outcomes` does, in a transaction of their own."""
    if not outcomes:
        return NOTHING
    params = _outcome_columns(session.tenant_id, outcomes)
    rows = await session.run(Statement(queries("capture")["add_outcomes"], params))
    return _appended(len(outcomes), rows[0])


def _outcome_columns(tenant_id: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    _require_tenant(tenant_id, outcomes)
    return {
        "tenant": tenant_id,
        "ids": [outcome.id for outcome in outcomes],
        "subjects": [outcome.subject_id for outcome in outcomes],
        "sessions": [outcome.session_id for outcome in outcomes],
        "sources": [outcome.source_id for outcome in outcomes],
        "metrics": [outcome.metric for outcome in outcomes],
        "values": [outcome.value for outcome in outcomes],
        "positives": [outcome.positive for outcome in outcomes],
        "times": [outcome.observed_at for outcome in outcomes],
    }


def _row(place: int, turn: Turn) -> tuple[Any, ...]:
    return (
        place,
        turn.id,
        turn.subject_id,
        turn.session_id,
        turn.source_id,
        turn.turn_index,
        turn.role,
        turn.speaker,
        turn.said_at,
        turn.text,
        orjson.dumps(turn.tool_calls).decode() if turn.tool_calls else None,
        orjson.dumps(turn.metadata).decode() if turn.metadata else None,
        turn_hash(turn),
    )


def _appended(sent: int, found: tuple[Any, ...] | None) -> Appended:
    added, conflicts = found or (0, [])
    return Appended(added=added, repeated=sent - added - len(conflicts), conflicts=tuple(conflicts))


def _require_tenant(tenant_id: str, sent: Sequence[Turn | Outcome]) -> None:
    if any(each.tenant_id != tenant_id for each in sent):
        raise ValueError("every turn and outcome must be of the tenant it is appended for")
