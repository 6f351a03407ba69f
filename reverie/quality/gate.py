"""A gate, and one measure of it: plain data that does not need Great Expectations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString

from reverie.policy import Policy
from reverie.store.database import Store

#: Number of earlier weeks with which the last week is compared.
PAST_WEEKS = 8

#: (part, week, count, total): part is a code, week 0 is the last seven days, and count / total is the part's value.
Counted = tuple[str, int, float, int]
#: A function that reads the counts of a tenant, under its policy, at the time of the check: a stopped clock is ignored.
CountReader = Callable[[Store, str, Policy, datetime], Sequence[Counted]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One measure of a tenant, with its usual value."""

    tenant_id: str
    gate: str
    part: str
    value: float
    #: Number of things of which the value is a share or rate.
    size: int
    #: Median of earlier weeks, and how far the value may be from it; None: not enough history.
    usual: float | None
    margin: float | None
    #: Lowest and highest value of earlier weeks; None: there are none.
    lowest: float | None
    highest: float | None
    #: Number of earlier weeks with enough things to compare with.
    weeks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityGate:
    """A quality gate: a measure and its limits."""

    #: Name of the gate, of its suite and of its check in Dagster.
    name: str
    #: Sentence that is true if the gate passes.
    holds: str
    #: Failure of a part in words, with a slot for its value: `{} of turns were discarded as question`.
    clause: Callable[[str], str]
    unit: Literal["share", "rate", "cycles", "norm", "number"] = "share"
    #: Source of earlier weeks: the tables, or earlier measures; None: the limits are fixed.
    history: Literal["tables", "measures"] | None = "tables"
    #: Number compared with `low` and `high`: the value, or its distance from the usual value in margins.
    column: Literal["deviation", "value"] = "deviation"
    low: float | None = -1.0
    high: float | None = 1.0
    #: The least margin; a smaller change is not reported.
    least_margin: float = 0.05
    #: Minimum number of things in a week for its value to count.
    least_size: int = 20
    #: Margin around 0 if there is not enough history; None: there is no limit then.
    without_history: float | None = None
    #: Statement that counts parts by week, for `%(tenant)s` at `%(as_of)s`; None: `read` counts them.
    sql: LiteralString | None = None
    read: CountReader | None = None
    severity: Literal["warn", "error"] = "warn"
