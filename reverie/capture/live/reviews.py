"""Turns that a person should look at, such as those that sound like a crisis (spec A6, Contact 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from reverie.errors import NotFoundError
from reverie.model import require_aware
from reverie.store.queries import queries
from reverie.store.steps import Statement, Steps


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """A turn to look at."""

    turn_id: UUID
    subject_id: str
    session_id: str
    #: crisis: the words sound like one.
    reason: str
    flagged_at: datetime
    #: When a person had looked at it; None: nobody has.
    seen_at: datetime | None
    #: What was said; None once the turn is gone.
    text: str | None


def list_reviews(tenant_id: str, *, seen: bool, after: tuple[datetime, UUID] | None, limit: int) -> Steps[list[Review]]:
    """Return up to `limit` turns flagged after a time and turn, the longest waiting first; `seen`: also those done."""
    at, turn = after or (None, None)
    params = {"tenant": tenant_id, "seen": seen, "after": at, "after_turn": turn, "limit": limit}
    found: list[Review] = yield Statement(queries("reviews")["page_reviews"], params, row=Review, last=True)
    return found


def mark_seen(tenant_id: str, turn_id: UUID, *, seen_at: datetime) -> Steps[None]:
    """Note that a person has looked at a turn; twice changes nothing. Raises NotFoundError: it was never flagged."""
    params = {"tenant": tenant_id, "turn": turn_id, "seen_at": require_aware(seen_at, "seen_at")}
    rows = yield Statement(queries("reviews")["mark_seen"], params, last=True)
    if not rows:
        raise NotFoundError(f"No turn {turn_id} waits for review.")
