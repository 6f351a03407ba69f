"""The `[life_events]` heading: which sentences tell an event, and which future events are named."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from reverie.policy.signals import Hour
from reverie.policy.table import Count, Days, Share, Table, known_name

#: Weights of the signs of a sentence, by name (language/life_events/worth.py).
_WEIGHTS = {
    "courtesy": -0.68,
    "family": 0.21,
    "far": -0.59,
    "feeling": -0.09,
    "goes_on": 0.55,
    "happened": 0.62,
    "intended": 0.24,
    "names": 0.22,
    "near": 0.61,
    "new": 0.16,
    "of_life": 0.74,
    "other": -0.76,
    "pointing": -0.31,
    "short": -0.33,
    "subject_left_out": 0.32,
    "usual": -0.24,
    "words": 0.62,
    "worth": 0.60,
}


#: A name in `_WEIGHTS`.
SignName = Annotated[str, AfterValidator(known_name(_WEIGHTS))]


class LifeEventsPolicy(Table):
    """The detection of life events in sentences, and the future events that contexts and triggers name."""

    #: Whether life events are found at all.
    read: bool = True
    #: Weights of the signs of a sentence (`bench/events.py --fit`).
    weights: dict[SignName, float] = Field(default_factory=lambda: dict(_WEIGHTS))
    #: Log odds of a sentence without any sign.
    bias: float = -1.59
    #: Probability from which a sentence about the past is an event.
    told: Share = 0.55
    #: Probability from which a sentence about a plan with its day is an event; plans in memory have no such limit.
    planned: Share = 0.2
    #: Days ahead for which a context names events; 0: none.
    ahead_days: Days = 14.0
    #: Maximum number of events that a context names.
    most: Count = 5
    #: Whether a trigger is due on the day before a planned event.
    trigger_before: bool = True
    #: Whether a trigger is due on the day after a planned event.
    trigger_after: bool = True
    #: Local hour at which the trigger before an event is due.
    hour: Hour = 17
    #: Hours for which the trigger before an event is useful.
    hours: Count = 5
    #: Local hour at which the trigger after an event is due.
    hour_after: Hour = 10
    #: Hours for which the trigger after an event is useful.
    hours_after: Count = 10
