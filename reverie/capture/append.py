"""Append turns, outcomes and imported statements to the log; a record sent twice is stored once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson
from psycopg import Connection

from reverie.capture.identity import statement_hash, turn_hash
from reverie.model import ImportedStatement, Outcome, StatementKind, Turn
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession
from reverie.store.tenants import read_policy_name

_COLUMN_TYPES = (
    *("int4", "uuid", "text", "text", "text", "int4", "text", "text"),
    *("timestamptz", "text", "text", "text", "bytea"),
)


#: The reason why a record is not taken in: it was erased, or capture is off for its subject.
Refusal = Literal["erased", "capture_off"]
#: The reasons in words, for dead letters and errors.
REFUSED: Mapping[Refusal, str] = {
    "erased": "It was erased and is not stored again.",
    "capture_off": "Capture is off for its subject (reverie consent).",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class AppendResult:
    """The result of appending records."""

    #: New rows.
    added: int
    #: Records that were already in the log with the same content.
    repeated: int
    #: Positions of records whose id is already in the log with different content. The log is append-only.
    conflicts: tuple[int, ...]
    #: Positions of records that are refused, with the reason.
    refused: Mapping[int, Refusal] = field(default_factory=dict)


NOTHING = AppendResult(added=0, repeated=0, conflicts=())


def policy_of(store: Store, tenant_id: str, otherwise: str) -> Policy:
    """Return the tenant's policy, or the one named `otherwise` if the tenant does not exist yet. Raises PolicyError."""
    with store.transaction(tenant_id) as conn:
        name = read_policy_name(conn, tenant_id)
    return load_policy(name or otherwise)


def insert_turns(conn: Connection[Any], tenant_id: str, turns: Sequence[Turn]) -> AppendResult:
    """Insert turns in the caller's transaction, in their order.

    Call it once per transaction: the temporary table that it copies the turns to is emptied at commit. A turn is
    identified by subject, session and source_id. A turn without `turn_index` gets the next index of its session.
    """
    if not turns:
        return NOTHING
    _require_tenant(tenant_id, turns)
    lock_sessions(conn, tenant_id, {(turn.subject_id, turn.session_id) for turn in turns})
    make_incoming(conn)
    with conn.cursor() as cursor, cursor.copy(queries("capture")["copy_incoming"]) as copy:
        copy.set_types(_COLUMN_TYPES)
        for position, turn in enumerate(turns):
            copy.write_row(_row(position, turn))
    return add_turns(conn, tenant_id, len(turns))


def make_incoming(conn: Connection[Any]) -> None:
    """Create the temporary table that `add_turns` reads. It is emptied at commit."""
    conn.execute(queries("capture")["make_incoming"])


def lock_sessions(conn: Connection[Any], tenant_id: str, sessions: Iterable[tuple[str, str]]) -> None:
    """Lock these sessions (pairs of subject and session) of a tenant against other writers until commit."""
    names = [f"{subject_id}/{session_id}" for subject_id, session_id in sessions]
    conn.execute(queries("capture")["lock_sessions"], {"tenant": tenant_id, "sessions": names})


def add_turns(conn: Connection[Any], tenant_id: str, number: int) -> AppendResult:
    """Append the `number` turns of the temporary table to the log."""
    return _append_result(number, conn.execute(queries("capture")["add_turns"], {"tenant": tenant_id}).fetchone())


def insert_outcomes(conn: Connection[Any], tenant_id: str, outcomes: Sequence[Outcome]) -> AppendResult:
    """Insert outcomes in the caller's transaction.

    An outcome is identified by its decision, its metric and its time to the millisecond.
    """
    if not outcomes:
        return NOTHING
    row = conn.execute(queries("capture")["add_outcomes"], _outcome_columns(tenant_id, outcomes)).fetchone()
    return _append_result(len(outcomes), row)


def uncaptured_subjects(conn: Connection[Any], tenant_id: str) -> frozenset[str]:
    """Return the subjects of a tenant that are not captured."""
    rows = conn.execute(queries("capture")["uncaptured"], {"tenant": tenant_id}).fetchall()
    return frozenset(row[0] for row in rows)


def note_late_outcomes(conn: Connection[Any], tenant_id: str) -> None:
    """Note the subjects for which the caller's transaction copied late outcomes, as `insert_outcomes` does."""
    conn.execute(queries("capture")["note_late_outcomes"], {"tenant": tenant_id})


#: The type of an event by the kind of the statement. `extract` reads a document in chunks, like an attachment.
_EVENT_TYPES: Mapping[StatementKind, str] = {"fact": "fact", "preference": "preference", "document": "attachment"}


def insert_statements(conn: Connection[Any], tenant_id: str, statements: Sequence[ImportedStatement]) -> AppendResult:
    """Insert statements of another memory system as events of the log, in the caller's transaction.

    A statement is identified by its subject and source_id.
    """
    if not statements:
        return NOTHING
    _require_tenant(tenant_id, statements)
    params = {
        "tenant": tenant_id,
        "ids": [each.id for each in statements],
        "subjects": [each.subject_id for each in statements],
        "sessions": [each.session_id for each in statements],
        "sources": [each.source_id for each in statements],
        "types": [_EVENT_TYPES[each.kind] for each in statements],
        "contents": [each.text for each in statements],
        "metadata": [orjson.dumps(each.metadata).decode() if each.metadata else None for each in statements],
        "times": [each.observed_at for each in statements],
        "ends": [each.ends_at for each in statements],
        "hashes": [statement_hash(each) for each in statements],
    }
    row = conn.execute(queries("capture")["add_statements"], params).fetchone()
    return _append_result(len(statements), row)


async def log_outcomes(session: TenantSession, outcomes: Sequence[Outcome]) -> AppendResult:
    """Insert outcomes as `insert_outcomes` does, in a transaction of their own."""
    if not outcomes:
        return NOTHING
    params = _outcome_columns(session.tenant_id, outcomes)
    rows = await session.run(Statement(queries("capture")["add_outcomes"], params))
    return _append_result(len(outcomes), rows[0])


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


def _row(position: int, turn: Turn) -> tuple[Any, ...]:
    return (
        position,
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


def _append_result(sent: int, row: tuple[Any, ...] | None) -> AppendResult:
    added, conflicts, erased, uncaptured = row or (0, [], [], [])
    refused: dict[int, Refusal] = dict.fromkeys(erased, "erased") | dict.fromkeys(uncaptured, "capture_off")
    repeated = sent - added - len(conflicts) - len(refused)
    return AppendResult(added=added, repeated=repeated, conflicts=tuple(conflicts), refused=refused)


def _require_tenant(tenant_id: str, records: Sequence[Turn | Outcome | ImportedStatement]) -> None:
    if any(record.tenant_id != tenant_id for record in records):
        raise ValueError(f"every turn, outcome and statement must belong to the tenant {tenant_id!r}")
