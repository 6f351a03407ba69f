"""The logical time of a run of assets, its retries and its freshness."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import dagster as dg

from resources.connections import MISTAKES

# multi_run is in beta; Dagster is pinned, so the warning helps no user
warnings.filterwarnings("ignore", message="Parameter `backfill_policy`", category=dg.BetaWarning)

#: Tag of a run with the logical time of its stages; in a scheduled run that of its tick. Short, so that the table of
#: runs shows it in full.
AS_OF = "as_of"

#: The driver of the stages, for the run ledger.
DRIVER = "dagster"

#: A retry costs little, since a stage resumes where it stopped.
RETRIES = dg.RetryPolicy(max_retries=3, delay=5, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)


@contextmanager
def without_retries_of_mistakes() -> Iterator[None]:
    """Fail at once with the message of a user's mistake, which a retry would meet again."""
    try:
        yield
    except MISTAKES as error:
        raise dg.Failure(str(error), allow_retries=False) from None


#: Assets scheduled four times a day are late after one missed tick and overdue after two. Dagster considers the latest
#: materialization of any bucket; the check `bucket_lag` considers each bucket.
FRESH = dg.FreshnessPolicy.time_window(warn_window=timedelta(hours=7), fail_window=timedelta(hours=13))


def as_of_tag(at: datetime) -> str:
    """Return a logical time as the value of the tag, such as `2026-03-01T06:00Z`."""
    utc = at.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="auto" if utc.second or utc.microsecond else "minutes") + "Z"


def is_asked(context: dg.AssetExecutionContext) -> bool:
    """Return whether the run's logical time was requested, by its tag."""
    return AS_OF in context.run.tags


def as_of(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> datetime:
    """Return the logical time of a run: that of its tag, or, without one, the time at which the run was requested.

    It is not the present time, so that a retry within the run has the same time.
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
