"""The scope of a run: a tenant, and all or some of its shards, subjects and times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

#: Number of virtual shards to which subjects hash (`ops.shard_of`); a bucket is a range of them.
SHARDS = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The rows that one run of a stage processes: those of one tenant, or of a part of it.

    Each stage reads only rows of these subjects. `since` and `until` limit the turns that `extract` and `embed` read
    (half-open, by event time); the stages that process memory ignore them.
    """

    #: Row-level security limits the run to this tenant.
    tenant_id: str
    #: First virtual shard, inclusive.
    shard_from: int = 0
    #: Last virtual shard, exclusive.
    shard_to: int = SHARDS
    #: Only these subjects; None: all of the shards.
    subjects: tuple[str, ...] | None = None
    #: Turns said at or after this time.
    since: datetime | None = None
    #: Turns said before this time.
    until: datetime | None = None

    @classmethod
    def bucket(cls, tenant_id: str, number: int, of: int, **limits: Any) -> Scope:
        """Return the scope of bucket `number` (0-based) if the shards are divided into `of` equal ranges."""
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
