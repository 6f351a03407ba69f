"""Life events: past and future events of a subject, by day, as a list and as a calendar."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, AsOf, Cursor, Limit, Subject, now
from reverie.api.paging import decode_cursor, page
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.recall.signals.calendar import as_calendar
from reverie.recall.signals.life_events import FIRST, LAST, DatedEvent, EventWindow, list_life_events

router = routes_of("life_events")

#: Days beyond these have no calendar.
Day = Annotated[date, Query(ge=FIRST, le=LAST)]


class LifeEventPage(Answer):
    """A page of events, by day."""

    life_events: list[DatedEvent]
    next_cursor: str | None = Field(description="Pass this value to get the next page. Null on the last page.")


def read_window(
    since: Annotated[Day | None, Query(description="Only events on this day or later.")] = None,
    until: Annotated[Day | None, Query(description="Only events on this day or earlier.")] = None,
    upcoming: Annotated[bool, Query(description="Only events that are not over.")] = False,
    every: Annotated[bool, Query(description="Also events that were called off.")] = False,
) -> EventWindow:
    """Return the window from the query parameters."""
    return EventWindow(since=since, until=until, upcoming=upcoming, every=every)


@router.get(
    "/life_events",
    response_model=LifeEventPage,
    responses=documented(422),
    summary="List a subject's life events",
    name="list_life_events",
)
async def get_life_events(
    caller: Reader,
    subject_id: Subject,
    window: Annotated[EventWindow, Depends(read_window)],
    as_of: AsOf = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List past and future events of a subject by day, with how precisely and how surely the day is known.

    An event that comes every year is listed once, on its next day. A plan that was moved is listed on its latest day.
    """
    found = await list_life_events(caller.primary_reader(), subject_id=subject_id, as_of=as_of or now(), window=window)
    if (after := decode_cursor(cursor, date.fromisoformat, UUID)) is not None:
        found = [one for one in found if one.place > after]
    shown, following = page(found[: limit + 1], limit, lambda one: (one.first_on.isoformat(), one.id))
    return answer({"life_events": shown, "next_cursor": following})


@router.get(
    "/life_events/calendar",
    response_class=Response,
    responses=documented(422) | {200: {"content": {"text/calendar": {}}}},
    summary="Get a subject's life events as a calendar",
    name="get_calendar",
)
async def get_life_calendar(
    caller: Reader, subject_id: Subject, window: Annotated[EventWindow, Depends(read_window)], as_of: AsOf = None
) -> Response:
    """Get the events as an iCalendar file (RFC 5545). Events that come every year repeat. A plan that is moved keeps
    its UID, and one that was called off is marked as cancelled.
    """
    at = as_of or now()
    wanted = replace(window, every=True)  # a calendar that has a plan must learn that it was called off
    found = await list_life_events(caller.primary_reader(), subject_id=subject_id, as_of=at, window=wanted)
    content = as_calendar(found, name=subject_id, as_of=at)
    return Response(content, media_type="text/calendar; charset=utf-8")
