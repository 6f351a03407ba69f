"""Progress through the history: the months that hold turns, those read, those left, and the time that is left."""

from collections.abc import Sequence

import dagster as dg

from assets.partitions import BUCKETS, history, month_key
from reverie.errors import ReverieError
from reverie.evaluate.history import MonthOfBucket, log_activity, months_with_turns, seconds_per_turn
from reverie.settings import load_settings
from reverie.store.connect import database_errors
from reverie.store.database import Store
from reverie.store.server.address import database_url

#: Seconds between two checks of the log; a check takes a millisecond if nothing has changed.
_EVERY = 60
#: The number of months in the table, the latest ones.
_MONTHS = 60

_HISTORY = ("candidates", "vectors")


@dg.sensor(
    name="months_with_turns",
    minimum_interval_seconds=_EVERY,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Adds the months that hold turns as partitions and reports how much of the log is read.",
    asset_selection=["turns", *_HISTORY],
)
def watch_history(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Add the months that hold turns as partitions, report the progress, and mark the months that cycles have read."""
    try:
        with database_errors(), Store.open(database_url(load_settings()), size=1) as store:
            activity = log_activity(store)
            if activity == (context.cursor or ""):
                return dg.SkipReason("No turn was added or read since the last tick.")
            months, rate = months_with_turns(store, BUCKETS), seconds_per_turn(store)
    except ReverieError as error:
        return dg.SkipReason(str(error))
    known = set(context.instance.get_dynamic_partitions("history"))
    new = [key for key in map(_key, months) if key not in known]
    events: list[dg.AssetObservation | dg.AssetMaterialization] = [observation(months, rate)]
    for name in _HISTORY:
        reported = context.instance.get_materialized_partitions(dg.AssetKey(name))
        events.extend(_read(name, month) for month in months if _is_read(month) and _key(month) not in reported)
    return dg.SensorResult(
        cursor=activity,
        dynamic_partitions_requests=[history.build_add_request(new)] if new else [],
        asset_events=events,
    )


def observation(months: Sequence[MonthOfBucket], seconds_a_turn: float | None) -> dg.AssetObservation:
    """Return how much of the log is read, as an event of the asset `turns`. `months`: of any buckets, in order."""
    turns, read = sum(each.turns for each in months), sum(each.turns_read for each in months)
    left = turns - read
    metadata: dict[str, dg.MetadataValue | int | float | str] = {
        "dagster/row_count": turns,
        "Turns": turns,
        "Turns read": read,
        "Turns left": left,
        "Months with turns": len({each.month for each in months}),
        "Partitions left": sum(not _is_read(each) for each in months),
        "By month": dg.MetadataValue.md(_table(months)),
    }
    if seconds_a_turn:
        metadata["Turns per second"] = round(1 / seconds_a_turn, 1)
        metadata["Minutes left"] = round(left * seconds_a_turn / 60, 1)
    elif left:
        metadata["Time left"] = "Unknown until the first turns are read."
    return dg.AssetObservation(asset_key="turns", metadata=metadata)


def _table(months: Sequence[MonthOfBucket]) -> str:
    by_month: dict[str, list[MonthOfBucket]] = {}
    for each in months:
        by_month.setdefault(f"{each.month:%Y-%m}", []).append(each)
    rows = [
        f"| {month} | {sum(each.turns for each in parts):,} | {sum(each.turns_read for each in parts):,} | "
        f"{', '.join(f'{each.bucket:02d}' for each in parts if not _is_read(each)) or 'none'} |"
        for month, parts in list(by_month.items())[-_MONTHS:]
    ]
    return "\n".join(["| month | turns | read | buckets left |", "|---|---:|---:|---|", *rows])


def _read(name: str, month: MonthOfBucket) -> dg.AssetMaterialization:
    return dg.AssetMaterialization(
        asset_key=name,
        partition=_key(month),
        description="Read by cycles or workers, not by a backfill.",
        metadata={"turns": month.turns},
    )


def _key(month: MonthOfBucket) -> str:
    return month_key(month.month, month.bucket)


def _is_read(month: MonthOfBucket) -> bool:
    return month.turns_read >= month.turns
