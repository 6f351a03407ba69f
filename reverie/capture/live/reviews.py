"""Turns that a person should review, such as signs of a crisis (spec A6, Contact 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.errors import NotFoundError
from reverie.model import require_aware
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """A turn that awaits review."""

    turn_id: UUID
    subject_id: str
    session_id: str
    #: crisis: the words sound like one.
    reason: str
    flagged_at: datetime
    #: The time of the first review; None: nobody has reviewed it.
    seen_at: datetime | None
    #: The first reviewer; None: there is none, or no name was given.
    seen_by: str | None
    #: The text of the turn; None once the turn is gone.
    text: str | None


async def list_reviews(
    session: TenantSession, *, seen: bool, after: tuple[datetime, UUID] | None, limit: int
) -> list[Review]:
    """Return up to `limit` turns flagged after a time and turn, longest waiting first; `seen`: also reviewed ones."""
    at, turn = after or (None, None)
    params = {"tenant": session.tenant_id, "seen": seen, "after": at, "after_turn": turn, "limit": limit}
    return await session.run(Statement(queries("reviews")["page_reviews"], params, row=Review))


async def mark_seen(session: TenantSession, turn_id: UUID, *, seen_at: datetime, seen_by: str | None) -> None:
    """Record that a person has reviewed a turn; the first one stays. Raises NotFoundError: it was never flagged."""
    params = {
        "tenant": session.tenant_id,
        "turn": turn_id,
        "seen_at": require_aware(seen_at, "seen_at"),
        "seen_by": seen_by,
    }
    if not await session.run(Statement(queries("reviews")["mark_seen"], params)):
        raise NotFoundError(f"No turn {turn_id} waits for review.")
