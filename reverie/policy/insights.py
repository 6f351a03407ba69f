"""Numbers of insights: when the numbers of one topic have a trend, and when that is told again."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reverie.policy.table import Days, Share, Table


class InsightsPolicy(Table):
    """Trends of a subject's numbers and outcomes (Brain 4.1)."""

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
