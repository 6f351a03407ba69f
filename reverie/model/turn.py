"""What is said, and what came of it: turns, tool calls and outcomes; and what another memory system knew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from reverie.model.ids import stable_id

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)

#: What an imported statement is: a fact, a preference, or a document, which is read in chunks.
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
    """One thing said by one speaker in one session."""

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
    #: Position in the session; None lets the log count on.
    turn_index: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        """Deterministic id: the same turn has the same id wherever it is loaded."""
        return stable_id(self.said_at, "turn", self.tenant_id, self.subject_id, self.session_id, self.source_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """A measured value that came of the decision made in a turn (spec B4)."""

    tenant_id: str
    subject_id: str
    session_id: str
    #: Of the turn that decided.
    source_id: str
    metric: str
    value: float
    positive: bool
    observed_at: datetime

    @property
    def id(self) -> UUID:
        """Deterministic id: one value a decision, metric and time."""
        parts = ("outcome", self.tenant_id, self.subject_id, self.session_id, self.source_id, self.metric)
        return stable_id(self.observed_at, *parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedStatement:
    """What another memory system knew of a subject, without the turns that it was drawn from: an event of the log."""

    tenant_id: str
    subject_id: str
    #: The session that the other system names, if any.
    session_id: str | None = None
    #: The other system's id of it, unique in its subject.
    source_id: str
    kind: StatementKind
    text: str
    #: Event time: when the other system learned it or, where it says so, when it became true.
    observed_at: datetime
    #: When it stopped being true, if the other system says so.
    ends_at: datetime | None = None
    #: The other fields of the other system, as they were.
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        """Deterministic id, by the formula of all events."""
        return stable_id(self.observed_at, "event", self.tenant_id, self.subject_id, self.source_id)
