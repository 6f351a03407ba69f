"""Growth of memory: the figures of today and of earlier days, from the tables and the run ledger.

Past and present figures come from the same statement, so a plot of them has no break.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from math import ceil

from reverie.store.database import Store
from reverie.store.queries import queries

#: By name of a figure, its change on each day.
_Daily = dict[str, dict[date, float]]
#: Number of days over which daily figures are averaged.
_WEEK = 7


def figures_by_day(store: Store, as_of: datetime, *, points: int = 60) -> list[tuple[datetime, dict[str, int | float]]]:
    """Return the figures over all tenants at up to `points` evenly spaced times, from the first turn to `as_of`.

    `turns`, `subjects`, `memories`, `forgotten`, `merged`, `failed_runs`, `cost_usd` and `hours` (of work) are totals
    up to then; `memories_per_subject` and `memories_per_turn` are their ratios; `made_per_day` and `forgotten_per_day`
    are averages of the week before. The last time is `as_of`. Costs are those of requests to models, by the clock.
    Totals from the ledgers of runs and of costs lack rows that these have dropped.
    """
    daily: _Daily = defaultdict(lambda: defaultdict(float))
    for tenant_id, _ in store.tenants():
        with store.transaction(tenant_id) as conn:
            params = {"tenant": tenant_id, "as_of": as_of}
            for name, day, number in conn.execute(queries("growth")["daily"], params):
                daily[name][day] += number
    today = as_of.astimezone(UTC).date()
    first = min((*daily["turns"], today))
    step = max(ceil((today - first).days / max(points - 1, 1)), 1)
    days = [day for day in (today - timedelta(days=step * back) for back in range(points)) if day >= first]
    figures = [(_end(day), _figures(daily, day)) for day in sorted(days)[:-1]]
    return [*figures, (as_of, _figures(daily, today))]


def _end(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def _figures(daily: _Daily, day: date) -> dict[str, int | float]:
    def total(name: str, since: date = date.min) -> float:
        return sum(number for when, number in daily[name].items() if since < when <= day)

    week = day - timedelta(days=_WEEK)
    turns, subjects, memories = int(total("turns")), int(total("subjects")), int(total("memories"))
    return {
        "subjects": subjects,
        "turns": turns,
        "memories": memories,
        "memories_per_subject": round(memories / max(subjects, 1), 3),
        "memories_per_turn": round(memories / max(turns, 1), 4),
        "made_per_day": round(total("made", week) / _WEEK, 3),
        "forgotten": int(total("forgotten")),
        "forgotten_per_day": round(total("forgotten", week) / _WEEK, 3),
        "merged": int(total("merged")),
        "failed_runs": int(total("failed_runs")),
        "hours": round(total("seconds") / 3600, 4),
        "cost_usd": round(total("cost_usd"), 6),
    }
