"""Numbers of publishing: what a generation may change, and how long what it replaced is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from reverie.policy.table import Count, Days, Share, Table


class PublishPolicy(Table):
    """The gate of `reverie publish`, and the window in which it can be reverted."""

    #: Logged questions of the tenant that are asked of both memories, the latest; 0: none.
    questions: Annotated[int, Field(ge=0, le=100_000)] = 200
    #: Share of them whose first answer may change.
    most_changed: Share = 0.25
    #: Questions below which the share says nothing.
    fewest: Count = 30
    #: Days for which what was replaced is kept.
    kept_days: Days = 7.0

    @property
    def kept(self) -> timedelta:
        """How long what was replaced is kept."""
        return timedelta(days=self.kept_days)
