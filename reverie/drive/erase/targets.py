"""What is named to be erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.store.privacy.receipts import ErasureKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One thing to erase: make it with a function of this module."""

    kind: ErasureKind
    #: None: found by the id.
    subject_id: str | None = None
    #: Of a turn or memory.
    id: UUID | None = None
    session_id: str | None = None
    #: Of a memory: also erase turns that other memories were made of as well.
    shared: bool = False
    #: Of a retention: what was said before this time.
    before: datetime | None = None

    @property
    def names(self) -> Sequence[str]:
        """The ids that were given, of which the receipt keeps a keyed hash."""
        given = (self.subject_id, self.session_id, self.id and str(self.id), self.before and self.before.isoformat())
        return [name for name in given if name]


def turn_target(turn_id: UUID) -> Target:
    """One turn, in the log or on its way there; or one event."""
    return Target(kind="turn", id=turn_id)


def session_target(subject_id: str | None, session_id: str) -> Target:
    """All turns and events of one session of a subject; None: of the only subject that has a session of this name."""
    return Target(kind="session", subject_id=subject_id, session_id=session_id)


def memory_target(memory_id: UUID, *, shared: bool = False) -> Target:
    """The turns and events that a memory rests on.

    Those are the ones that it, and all that was merged into it, was extracted from. If other memories rest on one of
    them as well, it is erased only if `shared`.
    """
    return Target(kind="memory", id=memory_id, shared=shared)


def subject_target(subject_id: str) -> Target:
    """Everything about a subject."""
    return Target(kind="subject", subject_id=subject_id)


def retention_target(subject_id: str, before: datetime) -> Target:
    """What was said, observed, asked and corrected about a subject before a time."""
    return Target(kind="retention", subject_id=subject_id, before=before)
