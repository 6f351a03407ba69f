"""The `[publish]` heading: how much a generation may change, and how long the replaced memory is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from reverie.policy.table import Count, Days, Share, Table


class PublishPolicy(Table):
    """The gate of `reverie publish`, and the window in which it can be reverted."""

    #: Number of the tenant's latest logged questions that are asked of both memories; 0: none.
    questions: Annotated[int, Field(ge=0, le=100_000)] = 200
    #: Maximum share of these questions whose first answer may change.
    most_changed: Share = 0.25
    #: Minimum number of questions for this limit to apply.
    fewest: Count = 30
    #: Days for which the replaced memory is kept.
    kept_days: Days = 7.0

    @property
    def kept(self) -> timedelta:
        """The time for which the replaced memory is kept."""
        return timedelta(days=self.kept_days)
