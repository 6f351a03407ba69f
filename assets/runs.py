"""How runs of assets are told their time and repeated when they fail."""

from datetime import UTC, datetime

import dagster as dg

#: Tag of a run with the logical time that its stages work at; a scheduled run has its tick's.
AS_OF = "reverie/as_of"

RETRIES = dg.RetryPolicy(max_retries=3, delay=5, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)


def as_of(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> datetime:
    """The logical time of a run: its tag, or, for a run started by hand, the time at which it was started.

    The start and not the present, so that a retry within the run works at the same time.
    """
    if tag := context.run.tags.get(AS_OF):
        return datetime.fromisoformat(tag)
    record = context.instance.get_run_record_by_id(context.run.run_id)
    return record.create_timestamp.astimezone(UTC) if record else datetime.now(UTC)
