"""Parts of a session that get one summary: a whole session, or a range of turns of a running one (Chat flow 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.model.ids import stable_id

#: Subject and session.
SessionKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """A turn as a summary reads it."""

    id: UUID
    said_at: datetime
    role: str | None
    speaker: str | None
    text: str


@dataclass(frozen=True, slots=True)
class SessionPart:
    """Turns of a session that get one summary: the whole session, or a range."""

    subject_id: str
    session_id: str
    #: In order; at least one.
    turns: Sequence[SessionTurn]
    #: Number of the first turn in its session, from 1.
    start: int = 1
    whole: bool = True

    @property
    def end(self) -> int:
        """Number of the last turn."""
        return self.start + len(self.turns) - 1

    @property
    def ends_at(self) -> datetime:
        """Event time of the latest turn."""
        return max(turn.said_at for turn in self.turns)

    @property
    def session(self) -> SessionKey:
        """Subject and session."""
        return self.subject_id, self.session_id

    @property
    def key(self) -> tuple[str, str, int]:
        """The identity of the part within a run."""
        return *self.session, self.start

    def summary_id(self, tenant_id: str) -> UUID:
        """Return the id of the part's summary."""
        name = [*self.session, *([] if self.whole else [str(self.start), str(self.end)])]
        return stable_id(self.ends_at, "summary", tenant_id, *name)


def ranges(
    session: SessionKey, turns: Sequence[SessionTurn], *, before: int, size: int, keep: int
) -> Iterator[SessionPart]:
    """Yield ranges of `size` turns that have no summary yet, in order; at least the last `keep` turns are left.

    `before` is the number of turns that have a summary.
    """
    for at in range(0, (len(turns) - keep) // size * size, size):
        yield SessionPart(*session, turns[at : at + size], start=before + at + 1, whole=False)
