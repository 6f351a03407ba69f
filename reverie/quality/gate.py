"""What a gate is, and one measure of it. Plain data: Great Expectations is not imported for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString

from reverie.policy import Policy
from reverie.store.database import Store

#: Weeks that last week is compared with.
PAST_WEEKS = 8

#: (part, week, count, total): the part is a code, week 0 the last seven days, the value of the part count / total.
Counted = tuple[str, int, float, int]
#: Reads the counts of a tenant, under its policy, at a time.
CountReader = Callable[[Store, str, Policy, datetime], Sequence[Counted]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One measure of a tenant, and what is usual for it."""

    tenant_id: str
    gate: str
    part: str
    value: float
    #: Of how many things the value is the share or rate.
    size: int
    #: Median of the weeks before, and how far from it the value may be; None: not enough history.
    usual: float | None
    margin: float | None
    #: Lowest and highest value of the weeks before; None: there are none.
    lowest: float | None
    highest: float | None
    #: How many weeks before had enough things to compare with.
    weeks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityGate:
    """What is watched, and within which limits."""

    #: Name of the gate, of its suite and of its check in Dagster.
    name: str
    #: One sentence: what holds if the gate passes.
    holds: str
    #: The failure of a part in words, with the place of its value: `{} of turns were discarded as question`.
    clause: Callable[[str], str]
    unit: Literal["share", "rate", "cycles", "norm", "number"] = "share"
    #: Where the weeks before are: in the tables, or in earlier measures; None: the limits are known.
    history: Literal["tables", "measures"] | None = "tables"
    #: What is compared with `low` and `high`: the value, or its distance from the usual value in margins.
    column: Literal["deviation", "value"] = "deviation"
    low: float | None = -1.0
    high: float | None = 1.0
    #: The least margin: a smaller change is no news.
    least_margin: float = 0.05
    #: The least number of things in a week; with fewer, its value says nothing.
    least_size: int = 20
    #: The margin around 0 where there is not enough history; None: then there is no limit.
    without_history: float | None = None
    #: Counts parts by week, for `%(tenant)s` at `%(as_of)s`; None: `read` does.
    sql: LiteralString | None = None
    read: CountReader | None = None
    severity: Literal["warn", "error"] = "warn"
