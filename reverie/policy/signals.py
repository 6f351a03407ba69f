"""Numbers of what follows from a subject's signals: difficult periods, usual hours, silence, triggers."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator

from reverie.policy.live import MoodName
from reverie.policy.table import Count, Days, Share, Table

Hour = Annotated[int, Field(ge=0, le=23)]


class SignalsPolicy(Table):
    """What follows from moods, rhythms and silence; the numbers of Contact 4.2 itself stand in `[mood]`."""

    #: Moods of which `negative_messages` in a row, within a session, are a difficult period (Contact 4.2).
    negative_moods: tuple[MoodName, ...] = ("sad", "anxious", "angry")
    #: Other messages in a row after which a difficult period is over.
    calm_messages: Count = 3
    #: Whether difficult periods and usual hours become memories.
    remember: bool = False
    #: Whether a message with a speaker's name, or a long one, is embedded once more for its mood: its stored vector is
    #: not of its words alone.
    embed_again: bool = False
    #: Importance of these memories.
    importance: Share = 0.7
    #: Messages within `timing_days` below which no usual hours are told.
    timing_messages: Count = 10
    #: Time zone of subjects whose messages name none.
    zone: str = "UTC"
    #: Local hour of a check-in on the morning after a hard day, and hours until it is no longer of use.
    check_in_hour: Hour = 9
    check_in_hours: Count = 10
    #: Local hours between which nothing is due; equal: none.
    quiet_from: Hour = 22
    quiet_until: Hour = 8
    #: Triggers towards a subject that are due on one local day at most.
    a_day: Count = 2
    #: Days after words of a crisis during which no trigger leads to an automatic outreach.
    crisis_days: Days = 7.0
    #: Silence is longer than this quantile of the subject's own pauses between active days, times `silence_slack`.
    silence_quantile: Share = 0.95
    silence_slack: Annotated[float, Field(ge=1, le=100)] = 1.5
    #: Pauses that must be known before silence is told.
    silence_pauses: Count = 6
    #: Days after which an alert, or a difficult period's trigger, is no longer of use.
    alert_days: Days = 14.0
    #: Share of messages that are bored, from which a decline is told to the owner (Contact 4.2).
    bored_share: Share = 0.2
    #: Latest days over which the strength of a tie is measured.
    tie_days: Count = 28

    @field_validator("zone")
    @classmethod
    def _known(cls, zone: str) -> str:
        if not is_zone(zone):
            raise ValueError(f"{zone!r} is not a time zone such as Europe/Lisbon")
        return zone


def is_zone(name: str) -> bool:
    """Return whether a name is that of a time zone."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True
