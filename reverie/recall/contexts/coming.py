"""A subject's next events, with their days in words, for a model."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from reverie.language.life_events.days import days_in_words
from reverie.language.text import one_line
from reverie.recall.contexts.sections import Block, Line
from reverie.recall.profile import Profile
from reverie.recall.signals.life_events import DatedEvent

#: Worth among the lines of a profile: above facts of medium importance, so that lack of room does not drop events.
_WORTH = 1.6


def coming_up_block(profile: Profile, head: str) -> Block:
    """Return the next events of a profile under a heading: "- tomorrow, Friday 13 March 2026 at 15:00: Dentist".

    An event of another person begins with that name.
    """
    lines = [
        Line(text=_told(event, profile), label="event", worth=_WORTH - place / 100, made_of=(event.turn_id,))
        for place, event in enumerate(profile.upcoming)
    ]
    return Block(head=head, lines=lines)


def _told(event: DatedEvent, profile: Profile) -> str:
    assert profile.as_of is not None  # a profile with events has a time
    when = days_in_words(
        event.first_on,
        event.last_on,
        event.precision,
        profile.as_of.astimezone(ZoneInfo(event.zone)).date(),
        clock=event.clock,
        yearly=event.yearly,
    )
    return f"- {when}: {one_line(event.owned_title)}"
