"""What a person should look at: memories that cannot both hold, and messages that were flagged for review."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from starlette.responses import Response

from reverie.api.paging import decode_cursor, page
from reverie.capture.live.reviews import list_reviews
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.recall.conflicts import list_conflicts

_SHOWN = 50


async def show_conflicts(visit: Visit) -> Response:
    """List the conflicts of a tenant or of a subject, latest first."""
    subject_id = visit.value("subject")
    after = decode_cursor(visit.value("cursor"), datetime.fromisoformat, UUID, UUID)
    found = await list_conflicts(visit.caller.reader(), subject_id=subject_id, after=after, limit=_SHOWN + 1)
    shown, cursor = page(found, _SHOWN, lambda each: (each.since.isoformat(), each.memory_id, each.other_id))
    return visit.render("conflicts.html", conflicts=shown, cursor=cursor, subject=subject_id)


async def show_reviews(visit: Visit) -> Response:
    """List the flagged messages, the longest waiting first."""
    seen = visit.value("seen") == "yes"
    place = decode_cursor(visit.value("cursor"), datetime.fromisoformat, UUID)
    after = (place[0], place[1]) if place else None
    found = await list_reviews(visit.caller.writer(), seen=seen, after=after, limit=_SHOWN + 1)
    shown, cursor = page(found, _SHOWN, lambda each: (each.flagged_at.isoformat(), each.turn_id))
    return visit.render("reviews.html", reviews=shown, cursor=cursor, seen=seen)


PAGES = (
    InspectorPage("conflicts", show_conflicts),
    InspectorPage("reviews", show_reviews, scope="admin"),
)
