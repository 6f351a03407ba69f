"""How runs of assets are told their time and repeated when they fail."""

import warnings
from datetime import UTC, datetime, timedelta

import dagster as dg

# multi_run is called beta; Dagster is pinned, and whoever starts us need not read of it
warnings.filterwarnings("ignore", message="Parameter `backfill_policy`", category=dg.BetaWarning)

#: Tag of a run with the logical time that its stages work at; a scheduled run has its tick's. Short, so that the table
#: of runs shows it whole.
AS_OF = "as_of"

#: Who drives the stages, for the run ledger.
DRIVER = "dagster"

#: A stage that is run again goes on where it stopped, so a retry costs little.
RETRIES = dg.RetryPolicy(max_retries=3, delay=5, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)

#: What a schedule makes four times a day is late after one tick and overdue after two. Dagster looks at the latest
#: materialization of any bucket; the check `bucket_lag` looks at each.
FRESH = dg.FreshnessPolicy.time_window(warn_window=timedelta(hours=7), fail_window=timedelta(hours=13))


def as_of_tag(at: datetime) -> str:
    """Return a logical time as the tag has it, such as `2026-03-01T06:00Z`."""
    utc = at.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="auto" if utc.second or utc.microsecond else "minutes") + "Z"


def is_asked(context: dg.AssetExecutionContext) -> bool:
    """Tell whether the run's logical time was asked for, by tag."""
    return AS_OF in context.run.tags


def as_of(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> datetime:
    """Return the logical time of a run: its tag, or, for a run started by hand, the time at which it was asked for.

    That time and not the present, so that a retry within the run works at the same time.
    """
    if tag := context.run.tags.get(AS_OF):
        at = datetime.fromisoformat(tag)
        if at.tzinfo is None:
            raise dg.Failure(
                f"The tag {AS_OF} needs a time with an offset, such as 2026-03-01T06:00Z.", allow_retries=False
            )
        return at
    record = context.instance.get_run_record_by_id(context.run.run_id)
    if record is None:
        raise dg.DagsterInvariantViolationError("The run has no record that says when it was asked for.")
    asked: datetime = record.create_timestamp
    return asked.astimezone(UTC)
