"""The Postgres that turns are imported from, as set by REVERIE_SOURCE_URL and the related variables."""

from __future__ import annotations

from collections.abc import Callable

from reverie.capture.history.database import import_table
from reverie.capture.history.importing import FieldOptions, ImportSummary
from reverie.errors import ReverieError, SettingsError, StageError
from reverie.policy import policy_reference
from reverie.runtime import Runtime
from reverie.settings import SourceSettings, load_source_settings
from reverie.store.source.reader import SourceQuery

#: The failure of an import in which many records failed for one reason. The advice of the import itself may contain
#: values of records, and an orchestrator would store it.
MANY_DEAD = (
    "More than a tenth of the rows became dead letters for one reason; the others are imported. "
    "`reverie dead-letters` shows the reasons."
)


def import_source(
    runtime: Runtime, tenant: str, on_progress: Callable[[int], None] | None = None
) -> tuple[str, ImportSummary]:
    """Import new rows of the source that the environment names; return its name and a summary of the import.

    Raises SettingsError if none is set, and StageError, with only the type, for an error that is not ours: its message
    may contain a text of a conversation, and an orchestrator stores messages.
    """
    settings = load_source_settings()
    source = source_of(settings)
    fields = FieldOptions(mapping=settings.mapping, timezone=settings.timezone, subject=settings.subject)
    policy = policy_reference(runtime.settings.policy)
    try:
        store = runtime.worker
        summary = import_table(store, source, fields, tenant_id=tenant, policy=policy, on_progress=on_progress)
    except ReverieError:
        raise
    except Exception as error:
        raise StageError(f"The import was interrupted by {type(error).__name__}.") from None
    return source.source, summary


def source_of(settings: SourceSettings) -> SourceQuery:
    """Return the query or table to read. Raises SettingsError: no URL, or not exactly one of query and table."""
    if settings.url is None:
        raise SettingsError("There is no source to import from: set REVERIE_SOURCE_URL.")
    if (settings.query is None) == (settings.table is None):
        raise SettingsError("Set either REVERIE_SOURCE_QUERY or REVERIE_SOURCE_TABLE.")
    return SourceQuery(
        url=settings.url.get_secret_value(),
        query=settings.query,
        table=settings.table,
        cursor=settings.cursor,
        key=settings.key,
        name=settings.name,
    )


def counts_of(summary: ImportSummary) -> dict[str, int]:
    """Return the summary as flat counts, with the dead letters also by reason."""
    names = ("read", "imported", "repeated", "outcomes", "dead", "resolved", "subjects", "sessions")
    dead = {f"dead_{reason}": number for reason, number in sorted(summary.dead_by_reason.items())}
    return {name: getattr(summary, name) for name in names} | dead
