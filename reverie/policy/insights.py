"""The `[insights]` heading: when numbers of a topic have a trend, and when somebody talks about it more or less."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reverie.policy.table import Days, Share, Table


class InsightsPolicy(Table):
    """Trends of a subject's numbers and outcomes (Brain 4.1), and of the topics that it talks about."""

    #: Days with a number that a series needs before it is tested; 0: none is tested.
    trend_numbers: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Of subjects without a trend, accepted share with one reported at a time (Benjamini-Hochberg over their series).
    trend_level: Share = 0.01
    #: p-value of its own test above which a reported trend is over.
    trend_over: Share = 0.05
    #: Minimum change between the ends of a trend, as a share of the larger value, to be reported.
    trend_change: Share = 0.1
    #: Change of that share, or move of an end as a share of the larger one, from which a trend is reported again.
    trend_step: Annotated[float, Field(gt=0, le=1)] = 0.1
    #: Number of the latest days over which a series is tested.
    trend_days: Days = 182.0
    #: Importance of the memory of a trend or change.
    importance: Share = 0.8
    #: Days on which a topic must have come up, lately or before, to be reported; 0: none is reported.
    topic_days: Annotated[int, Field(ge=0, le=1000)] = 0
    #: The same for a word that nearly everybody uses in passing, such as "house".
    topic_everyday_days: Annotated[int, Field(ge=0, le=1000)] = 6
    #: Number of the latest days that are compared with those before.
    topic_window: Days = 56.0
    #: Number of days before these with which they are compared.
    topic_before: Days = 182.0
    #: Of subjects without a change, accepted share with one reported at a time (Benjamini-Hochberg over their topics).
    topic_level: Share = 0.05
    #: p-value of its own test above which a reported change is over.
    topic_over: Share = 0.05
    #: Factor by which a topic must come up more often, or more rarely, than before to be reported.
    topic_change: Annotated[float, Field(ge=1)] = 2.0
