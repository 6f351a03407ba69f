"""Numbers of insights: when the numbers of a topic have a trend, and when somebody talks about it more or less."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reverie.policy.table import Days, Share, Table


class InsightsPolicy(Table):
    """Trends of a subject's numbers and outcomes (Brain 4.1), and of what it talks about."""

    #: Days with a number that a series needs before it is tested; 0: no series is.
    trend_numbers: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Share of subjects without any trend of which one may be told at a time (Benjamini-Hochberg over their series).
    trend_level: Share = 0.01
    #: p-value of its own test above which a trend that was told is none any more.
    trend_over: Share = 0.05
    #: Change from the beginning to the end of the trend, as a share of the larger, below which it is not told.
    trend_change: Share = 0.1
    #: Change of that share from which a trend is told again.
    trend_step: Annotated[float, Field(gt=0, le=1)] = 0.1
    #: Latest days of a series over which its trend is tested.
    trend_days: Days = 182.0
    #: Importance of what is told.
    importance: Share = 0.8
    #: Days on which a topic must have come up, lately or before, to be told; 0: none is.
    topic_days: Annotated[int, Field(ge=0, le=1000)] = 0
    #: The same for a word that nearly everybody uses in passing, such as "house".
    topic_everyday_days: Annotated[int, Field(ge=0, le=1000)] = 6
    #: The latest days, which are compared with those before.
    topic_window: Days = 56.0
    #: Days before these with which they are compared.
    topic_before: Days = 182.0
    #: Share of subjects without any change of which one may be told at a time (Benjamini-Hochberg over their topics).
    topic_level: Share = 0.05
    #: p-value of its own test above which a change that was told is none any more.
    topic_over: Share = 0.05
    #: How many times as often, or as rarely, as before a topic must come up to be told.
    topic_change: Annotated[float, Field(ge=1)] = 2.0
