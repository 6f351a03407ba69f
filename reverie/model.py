"""The values that pass between the floors: frozen, keyword-only, timezone-aware."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args
from uuid import UUID

Kind = Literal["fact", "preference", "instruction", "episode", "summary", "pattern"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)

State = Literal["candidate", "active", "merged", "compressed"]

#: Virtual shards a subject hashes to (`ops.shard_of`); a bucket is a range of them.
SHARDS = 1024

#: Event times lie in this range (half-open). Ids hold no time before 1970, and arithmetic with times far in the future
#: overflows.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)

_HASH_BITS = (1 << 80) - 1
_VERSION_8 = 8 << 76
_VARIANT = 2 << 62


def stable_id(at: datetime, *parts: str) -> UUID:
    """Return the UUIDv8 of an event time and the parts that identify the thing.

    The first 48 bits are the event time in Unix milliseconds, so ids sort by event time and fall together in an index;
    the rest is a sha256 of the parts, so the same thing has the same id in every run, rebuild and database.
    """
    milliseconds = int(at.timestamp() * 1000) & ((1 << 48) - 1)
    digest = int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:10], "big") & _HASH_BITS
    value = (milliseconds << 80) | digest
    value = value & ~(0xF << 76) | _VERSION_8
    value = value & ~(0x3 << 62) | _VARIANT
    return UUID(int=value)


def candidate_id(
    at: datetime, tenant_id: str, subject_id: str, kind: str, source_id: str, origin: str, place: int
) -> UUID:
    """Return the id of what a source (the id of a turn or event) gives for memory at a place, by a rule or method."""
    return stable_id(at, "memory", tenant_id, subject_id, kind, source_id, origin, str(place))


def replacement_of(kind: str, at: datetime, tenant_id: str, subject_id: str, correction_id: UUID) -> tuple[Kind, UUID]:
    """Return kind and id of the memory that a person's words become in the place of a memory of this kind.

    What stands for several memories, a pattern or a summary, is replaced by a fact.
    """
    new: Kind = kind if kind in ("preference", "instruction", "episode") else "fact"  # type: ignore[assignment]
    return new, candidate_id(at, tenant_id, subject_id, new, str(correction_id), "correction", 0)


def require_aware(at: datetime, name: str = "as_of") -> datetime:
    """Return `at` in UTC; a naive time is a programming error, since nobody can say when it was.

    Raises:
        ValueError: `at` has no offset.
    """
    if at.tzinfo is None:
        raise ValueError(f"{name} must carry a UTC offset, got the naive time {at.isoformat()}")
    return at.astimezone(UTC)


def bounded_time(at: datetime) -> datetime:
    """Return an aware time in UTC.

    Raises:
        ValueError: it lies outside of `EARLIEST` to `LATEST`, in any offset.
    """
    # compared before it is converted: an offset can move a time at the edge of the calendar beyond it
    if not EARLIEST <= at < LATEST:
        raise ValueError("a time between 1970 and 2200 is needed")
    return at.astimezone(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """What one stage run works on: always one tenant, optionally a part of it.

    Each stage limits itself to rows of these subjects; `since` and `until` limit the turns that `extract` and `embed`
    read (half-open, by event time) and are ignored by the stages that work on memory.
    """

    #: Whose rows; row-level security holds the run to it.
    tenant_id: str
    #: First virtual shard, inclusive.
    shard_from: int = 0
    #: Last virtual shard, exclusive.
    shard_to: int = SHARDS
    #: Only these subjects; none means all of the shards.
    subjects: tuple[str, ...] | None = None
    #: Turns said at or after this time.
    since: datetime | None = None
    #: Turns said before this time.
    until: datetime | None = None

    @classmethod
    def bucket(cls, tenant_id: str, number: int, of: int, **limits: Any) -> Scope:
        """Return the scope of bucket `number` (0-based) when the shards are cut into `of` equal ranges."""
        return cls(
            tenant_id=tenant_id, shard_from=SHARDS * number // of, shard_to=SHARDS * (number + 1) // of, **limits
        )

    def params(self) -> dict[str, Any]:
        """Return the scope as query parameters: tenant, shard_from, shard_to, subjects, since, until."""
        return {
            "tenant": self.tenant_id,
            "shard_from": self.shard_from,
            "shard_to": self.shard_to,
            "subjects": list(self.subjects) if self.subjects is not None else None,
            "since": self.since,
            "until": self.until,
        }

    def describe(self) -> dict[str, Any]:
        """Return the parts that differ from "all of the tenant", for the run ledger; ids and times only."""
        limits: dict[str, Any] = {}
        if (self.shard_from, self.shard_to) != (0, SHARDS):
            limits["shards"] = [self.shard_from, self.shard_to]
        if self.subjects is not None:
            limits["subjects"] = sorted(self.subjects)
        if self.since is not None:
            limits["since"] = self.since.isoformat()
        if self.until is not None:
            limits["until"] = self.until.isoformat()
        return limits


def rounded(number: float) -> float:
    """Return a score, a similarity or a probability as it is shown: to six decimals, as no signal means more."""
    return round(number, 6)


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
