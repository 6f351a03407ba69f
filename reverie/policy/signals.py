"""The `[signals]` heading: difficult periods, usual hours, silence and triggers."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator

from reverie.policy.live import MoodName
from reverie.policy.table import Count, Days, Share, Table

Hour = Annotated[int, Field(ge=0, le=23)]


class SignalsPolicy(Table):
    """Triggers and memories from moods, rhythms and silence; the numbers of Contact 4.2 itself are in `[mood]`."""

    #: Moods that count as negative: `negative_messages` in a row in a session are a difficult period (Contact 4.2).
    negative_moods: tuple[MoodName, ...] = ("sad", "anxious", "angry")
    #: Number of other messages in a row after which a difficult period is over.
    calm_messages: Count = 3
    #: Whether difficult periods and usual hours become memories.
    remember: bool = False
    #: Whether a message with a speaker's name, or a long one, is embedded again for its mood, because its stored vector
    #: includes the name or covers only a part.
    embed_again: bool = False
    #: Importance of the memories of difficult periods and usual hours.
    importance: Share = 0.7
    #: Minimum number of messages within `timing_days` to find usual hours.
    timing_messages: Count = 10
    #: Time zone of a subject whose messages give none.
    zone: str = "UTC"
    #: Local hour of a check-in on the morning after a hard day.
    check_in_hour: Hour = 9
    #: Hours for which a check-in is useful.
    check_in_hours: Count = 10
    #: Local hour at which quiet hours begin: no trigger towards a subject is due in them.
    quiet_from: Hour = 22
    #: Local hour at which quiet hours end; equal to `quiet_from`: there are none.
    quiet_until: Hour = 8
    #: Maximum number of triggers towards a subject that are due on one local day.
    a_day: Count = 2
    #: Days after crisis language for which other triggers are withheld, so that nobody is written to automatically.
    crisis_days: Days = 7.0
    #: Silence is a pause longer than this quantile of the subject's own pauses between active days, times
    #: `silence_slack`.
    silence_quantile: Share = 0.95
    #: Factor for the pause at `silence_quantile`.
    silence_slack: Annotated[float, Field(ge=1, le=100)] = 1.5
    #: Minimum number of earlier pauses to find silence.
    silence_pauses: Count = 6
    #: Days for which an alert, or the trigger of a difficult period, is useful.
    alert_days: Days = 14.0
    #: Share of bored messages from which the owner gets a trigger for a decline (Contact 4.2).
    bored_share: Share = 0.2
    #: Number of the latest days over which the strength of a tie is measured.
    tie_days: Count = 28

    @field_validator("zone")
    @classmethod
    def _known(cls, zone: str) -> str:
        if not is_zone(zone):
            raise ValueError(f"{zone!r} is not a time zone such as Europe/Lisbon")
        return zone


def is_zone(name: str) -> bool:
    """Return whether a name is a known time zone."""
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True
