"""Items that need a person's attention: conflicts, triggers that are due, and flagged messages.

The person who acts upon a trigger or reviews a message is recorded with the name and the id of the key.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args
from uuid import UUID

from starlette.responses import Response

from reverie.api.paging import decode_cursor, page
from reverie.capture.live.acknowledgements import TriggerAction, acknowledge_trigger
from reverie.capture.live.reviews import list_reviews, mark_seen
from reverie.errors import InputError
from reverie.inspector.reading import known_subjects
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.recall.conflicts import list_conflicts
from reverie.recall.signals.triggers import list_triggers

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
    known = await known_subjects(visit.caller.reader(), [each.subject_id for each in shown])
    return visit.render("reviews.html", reviews=shown, cursor=cursor, seen=seen, known=known)


async def see_review(visit: Visit) -> Response:
    """Record that somebody reviewed a flagged message; the first review stays."""
    seen_by = visit.visitor.actor
    await mark_seen(visit.caller.writer(), visit.uuid("turn"), seen_at=datetime.now(UTC), seen_by=seen_by)
    return visit.redirect("reviews", seen=visit.value("seen"), done="seen")


async def show_triggers(visit: Visit) -> Response:
    """List the triggers that are due, or all, of the tenant or of a subject, the earliest due first."""
    subject_id, every = visit.value("subject"), visit.value("all") == "yes"
    place = decode_cursor(visit.value("cursor"), datetime.fromisoformat, UUID)
    found = await list_triggers(
        visit.caller.primary_reader(),
        subject_id=subject_id,
        as_of=visit.at,
        every=every,
        after=(place[0], place[1]) if place else None,
        limit=_SHOWN + 1,
    )
    shown, cursor = page(found, _SHOWN, lambda each: (each.due_at.isoformat(), each.id))
    return visit.render("triggers.html", triggers=shown, cursor=cursor, every=every, subject=subject_id)


async def act_upon(visit: Visit) -> Response:
    """Record that a trigger was acted upon or dismissed, and show the list that it was on."""
    actions: tuple[TriggerAction, ...] = get_args(TriggerAction)
    action = next((each for each in actions if each == visit.value("action")), None)
    if action is None:
        raise InputError(f"A trigger is done or dismissed, not {visit.value('action')!r}.")
    actor = visit.visitor.actor
    await acknowledge_trigger(
        visit.caller.writer(), visit.uuid("trigger"), action=action, acted_at=visit.at, actor=actor
    )
    return visit.redirect("triggers", subject=visit.value("subject"), all=visit.value("all"), done=action)


PAGES = (
    InspectorPage("conflicts", show_conflicts),
    InspectorPage("triggers", show_triggers),
    InspectorPage("triggers", act_upon, method="POST", scope="write"),
    InspectorPage("reviews", show_reviews, scope="admin"),
    InspectorPage("reviews", see_review, method="POST", scope="admin"),
)
