"""The targets of erasures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.store.privacy.receipts import ErasureKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One thing to erase, made by a function of this module."""

    kind: ErasureKind
    #: Subject; None if it is found by the id.
    subject_id: str | None = None
    #: Id of a turn, event or memory.
    id: UUID | None = None
    session_id: str | None = None
    #: For a memory: whether to erase turns from which other memories were made as well.
    shared: bool = False
    #: For a retention: the time before which data is erased.
    before: datetime | None = None

    @property
    def names(self) -> Sequence[str]:
        """The given ids, of which the receipt keeps a keyed hash."""
        given = (self.subject_id, self.session_id, self.id and str(self.id), self.before and self.before.isoformat())
        return [name for name in given if name]


def turn_target(turn_id: UUID) -> Target:
    """Return a target for one turn, in the log or in the buffer, or one event."""
    return Target(kind="turn", id=turn_id)


def session_target(subject_id: str | None, session_id: str) -> Target:
    """Return a target for a session's turns and events; None: of the only subject with a session of this name."""
    return Target(kind="session", subject_id=subject_id, session_id=session_id)


def memory_target(memory_id: UUID, *, shared: bool = False) -> Target:
    """Return a target for the turns and events from which a memory was made.

    The memory, and all that was merged into it, was extracted from them. If other memories were made from one of them
    as well, it is erased only if `shared`.
    """
    return Target(kind="memory", id=memory_id, shared=shared)


def subject_target(subject_id: str) -> Target:
    """Return a target for everything about a subject."""
    return Target(kind="subject", subject_id=subject_id)


def retention_target(subject_id: str, before: datetime) -> Target:
    """Return a target for the turns, events, questions and corrections of a subject before a time."""
    return Target(kind="retention", subject_id=subject_id, before=before)
