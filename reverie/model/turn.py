"""Turns, tool calls and outcomes, and statements imported from another memory system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from reverie.model.ids import stable_id

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)

#: Kind of an imported statement: a fact, a preference, or a document, which is read in chunks.
StatementKind = Literal["fact", "preference", "document"]
STATEMENT_KINDS: tuple[StatementKind, ...] = get_args(StatementKind)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A tool that the agent called in a turn, and why."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    why: str | None = None
    result: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One message of a speaker in a session."""

    tenant_id: str
    subject_id: str
    session_id: str
    #: The caller's id of the turn, unique in its session.
    source_id: str
    role: Role
    speaker: str | None
    #: Event time, timezone-aware.
    said_at: datetime
    text: str
    #: Position in the session; None: the log numbers the turn.
    turn_index: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        """The deterministic id: the same turn has the same id wherever it is loaded."""
        return stable_id(self.said_at, "turn", self.tenant_id, self.subject_id, self.session_id, self.source_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """A measured result of the decision made in a turn (spec B4)."""

    tenant_id: str
    subject_id: str
    session_id: str
    #: Id of the turn with the decision.
    source_id: str
    metric: str
    value: float
    positive: bool
    observed_at: datetime

    @property
    def id(self) -> UUID:
        """The deterministic id: a decision has one value for each metric and time."""
        parts = ("outcome", self.tenant_id, self.subject_id, self.session_id, self.source_id, self.metric)
        return stable_id(self.observed_at, *parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedStatement:
    """A statement that another memory system knew about a subject, without the original turns: an event of the log."""

    tenant_id: str
    subject_id: str
    #: The session in the other system, if it names one.
    session_id: str | None = None
    #: Id in the other system, unique in its subject.
    source_id: str
    kind: StatementKind
    text: str
    #: Event time: when it became true, if the other system says so, else when that system learned it.
    observed_at: datetime
    #: The time at which it stopped being true, if the other system says so.
    ends_at: datetime | None = None
    #: The remaining fields of the other system, unchanged.
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        """The deterministic id, by the same formula as all events."""
        return stable_id(self.observed_at, "event", self.tenant_id, self.subject_id, self.source_id)
