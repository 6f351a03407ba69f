"""import_history: imports a file or rows of another Postgres into the log and consolidates them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from pydantic import AwareDatetime

from resources.artifacts import Progress, show_stages, show_table
from resources.connections import connected, is_worth_a_retry
from resources.failures import checked, in_one_sentence
from resources.source import MANY_DEAD, counts_of, import_source
from reverie.capture.history.importing import FileOptions, import_file
from reverie.drive.advance import advance
from reverie.drive.tenants import policies
from reverie.errors import StageError
from reverie.model import Scope
from reverie.policy import policy_reference

DRIVER = "prefect"


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def import_turns(tenant: str, path: Path, fields: dict[str, Any]) -> tuple[dict[str, int], bool]:
    """Import a file of turns and outcomes, read with the options in `fields`. Invalid records become dead letters.

    Return the counts, and whether many records failed for one reason.
    """
    progress = Progress("imported", f"Bytes of {path.name} read.")
    with connected() as reverie:
        summary = import_file(
            reverie.worker,
            path,
            FileOptions(**fields),
            tenant_id=tenant,
            policy=policy_reference(reverie.settings.policy),
            on_progress=lambda read: progress.show(read, path.stat().st_size),
        )
    names = ("read", "imported", "repeated", "outcomes", "dead", "subjects", "sessions")
    found = {name: getattr(summary, name) for name in names}
    show_table("imported-file", f"What became of {path.name}.", [{"tenant": tenant, "file": path.name} | found])
    return found, summary.cure is not None


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def import_rows(tenant: str) -> tuple[dict[str, int], bool]:
    """Import new rows of the Postgres in REVERIE_SOURCE_URL. Invalid rows become dead letters.

    Return the counts, and whether many rows failed for one reason.
    """
    with connected() as reverie:
        name, summary = import_source(reverie, tenant)
    found = counts_of(summary)
    show_table("imported-source", f"What became of the rows of {name}.", [{"tenant": tenant, "source": name} | found])
    return found, summary.cure is not None


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def remember(tenant: str, as_of: datetime | None) -> dict[str, int | float]:
    """Consolidate everything in the log, cycle by cycle in event time."""
    with connected() as reverie:
        policy = policies(reverie.worker)(tenant)
        work = reverie.work(Scope(tenant_id=tenant), policy, as_of or datetime.now(UTC), driver=DRIVER)
        return show_stages("remembered", advance(work))


@flow(log_prints=True, flow_run_name="import for {tenant}")
@in_one_sentence
def import_history(
    tenant: str,
    path: Path | None = None,
    timezone: str | None = None,
    as_of: AwareDatetime | None = None,
    mapping: dict[str, str] | None = None,
    subject: str | None = None,
    format: str | None = None,
    time_format: str | None = None,
) -> dict[str, int | float]:
    """Import a file or export that this process can read, and consolidate it up to `as_of` (default: now).

    `timezone`, `mapping`, `subject`, `format` and `time_format` are the options `--timezone`, `--map`, ... of
    `reverie import`. Without a path, new rows of the Postgres in REVERIE_SOURCE_URL are imported. If more than a tenth
    of the rows became dead letters for one reason, the run fails at its end.
    """
    if path is None:
        _, is_faulty = checked(import_rows(tenant))
    else:
        fields = {"timezone": timezone, "mapping": mapping, "subject": subject, "format": format}
        fields["time_format"] = time_format
        _, is_faulty = checked(import_turns(tenant, path, fields))
    counts = checked(remember(tenant, as_of))
    if is_faulty:
        raise StageError(MANY_DEAD)
    return counts
