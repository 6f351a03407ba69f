"""The dashboard: a dozen figures named for people, whose plots begin with the past, and a table of tenants.

The first run reports the figures of the days before as well, each with its own time: nobody waits a week for a plot.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from dagster._core.events import AssetObservationData, DagsterEvent, DagsterEventType
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID

from assets.described import OWNERS, described
from assets.runs import RETRIES, as_of
from resources.clients import Clients
from reverie.evaluate.growth import figures_by_day
from reverie.evaluate.health import measure
from reverie.store.database import Store

#: What people call each figure; the page's *Plots* tab has one plot each.
NAMES = {
    "subjects": "Subjects",
    "turns": "Turns",
    "memories": "Memories",
    "memories_per_subject": "Memories a subject",
    "memories_per_turn": "Memories a turn",
    "made_per_day": "New memories a day",
    "forgotten": "Forgotten",
    "forgotten_per_day": "Forgotten a day",
    "merged": "Repeats merged",
    "failed_runs": "Failed runs",
    "hours": "Hours of work",
    "cost_usd": "Cost of models (US dollars)",
}
#: Columns of the table of tenants, as `measure` names them.
_OF_TENANT = (
    "subjects",
    "turns",
    "memories",
    "facts",
    "preferences",
    "instructions",
    "episodes",
    "patterns",
    "summaries",
    "forgotten",
    "largest_subject",
    "candidates",
    "dead_letters",
    "failed_runs",
    "cost_usd",
)
#: Tenants that the table shows: those with most memories.
_TENANTS = 100


def named(figures: Mapping[str, int | float]) -> dict[str, int | float]:
    """Return figures by the names that people read."""
    return {NAMES[name]: number for name, number in figures.items()}


@dg.asset(
    deps=["tidied"],
    retry_policy=RETRIES,
    group_name="health",
    owners=OWNERS,
    kinds={"postgres"},
    metadata=described(None, "operating.md"),
)
def memory_health(context: dg.AssetExecutionContext, clients: Clients) -> dg.MaterializeResult[None]:
    """How memory is: a dozen figures over all tenants, each with a plot, and a table of tenants (ids and counts)."""
    *past, (_, now) = figures_by_day(clients.store, as_of(context))
    if context.instance.get_latest_materialization_event(context.asset_key) is None:
        for at, figures in past:
            _report_past(context, at, named(figures))
    metadata: dict[str, Any] = named(now)
    return dg.MaterializeResult(metadata=metadata | {"Tenants": _tenants(clients.store)})


def _report_past(context: dg.AssetExecutionContext, at: datetime, figures: dict[str, int | float]) -> None:
    """Record figures of a former day at its time: what Dagster's own report of an event does, at the present time."""
    if at >= datetime.now(UTC):
        return
    observation = dg.AssetObservation(
        asset_key=context.asset_key, description="From the tables and the run ledger.", metadata=figures
    )
    event = DagsterEvent(
        event_type_value=DagsterEventType.ASSET_OBSERVATION.value,
        event_specific_data=AssetObservationData(observation),
        job_name=RUNLESS_JOB_NAME,
    )
    context.instance.report_dagster_event(event, run_id=RUNLESS_RUN_ID, timestamp=at.timestamp())


def _tenants(store: Store) -> dg.TableMetadataValue:
    rows = [
        {"tenant": tenant_id, "policy": policy} | {name: measured[name] for name in _OF_TENANT}
        for tenant_id, policy in store.tenants()
        for measured in (measure(store, tenant_id),)
    ]
    rows.sort(key=lambda row: -float(row["memories"]))
    columns = [
        dg.TableColumn(name, "string" if name in ("tenant", "policy") else "int")
        for name in ("tenant", "policy", *_OF_TENANT)
    ]
    records = [dg.TableRecord(row) for row in rows[:_TENANTS]]
    return dg.MetadataValue.table(records, schema=dg.TableSchema(columns))
