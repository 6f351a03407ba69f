"""Numbers of life events: which sentences tell one, and what is offered of those to come."""

from __future__ import annotations

from pydantic import Field

from reverie.policy.signals import Hour
from reverie.policy.table import Count, Days, Share, Table

#: Of the signs of a sentence, by name (language/life_events/worth.py).
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


class LifeEventsPolicy(Table):
    """What counts as an event of somebody's life, and which ones a context and triggers name."""

    #: Whether events are read at all.
    read: bool = True
    #: Weights of the signs of a sentence (`bench/events.py --fit`), and of none of them.
    weights: dict[str, float] = Field(default_factory=lambda: dict(_WEIGHTS))
    bias: float = -1.59
    #: Probability from which a sentence that tells what happened is an event.
    told: Share = 0.55
    #: Likewise of one that tells what is planned and names its day; no such limit for what memory has as a plan.
    planned: Share = 0.2
    #: Days ahead of which a context names events, and how many at most; 0: none.
    ahead_days: Days = 14.0
    most: Count = 5
    #: Whether a trigger is due on the day before an event that is planned, and on the day after.
    trigger_before: bool = True
    trigger_after: bool = True
    #: Local hour at which they are due, and hours until they are of no use.
    hour: Hour = 17
    hours: Count = 5
    hour_after: Hour = 10
    hours_after: Count = 10
