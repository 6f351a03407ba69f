"""The dashboard: a dozen figures named for people, whose plots begin with the past, and a table of tenants.

The first run reports the figures of the days before as well, each with its own time: nobody waits a week for a plot.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
from dagster._core.events import AssetObservationData, DagsterEvent, DagsterEventType
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID

from assets.described import OWNERS, described
from assets.runs import FRESH, RETRIES, as_of
from resources.clients import Clients
from reverie.evaluate.growth import figures_by_day
from reverie.evaluate.health import measure
from reverie.policy import policy_label
from reverie.store.database import Store

#: What people call each figure; the page's *Plots* tab has one plot each.
NAMES = {
    "subjects": "Subjects",
    "turns": "Turns",
    "memories": "Memories",
    "memories_per_subject": "Memories per subject",
    "memories_per_turn": "Memories per turn",
    "made_per_day": "New memories per day",
    "forgotten": "Forgotten",
    "forgotten_per_day": "Forgotten per day",
    "merged": "Repeats merged",
    "failed_runs": "Failed runs",
    "hours": "Hours of work",
    "cost_usd": "Cost of models (US dollars)",
}
#: Columns of the tables of tenants, as `measure` names them and as people read them. Narrow, so that a page shows them.
TABLES = {
    "Tenants": {
        "subjects": "subjects",
        "turns": "turns",
        "memories": "memories",
        "largest_subject": "largest subject",
        "forgotten": "forgotten",
        "candidates": "waiting",
        "dead_letters": "dead letters",
        "failed_runs": "failed runs",
    },
    "Memories by kind": {
        "facts": "facts",
        "preferences": "preferences",
        "instructions": "instructions",
        "episodes": "episodes",
        "patterns": "patterns",
        "summaries": "summaries",
    },
}
#: Tenants that the table shows: those with most memories.
_TENANTS = 100


#: The point of the run itself is the present; earlier ones, such as that of a clock that stands, are the past.
_PRESENT = timedelta(hours=1)


def named(figures: Mapping[str, int | float]) -> dict[str, int | float]:
    """Return figures by the names that people read."""
    return {NAMES[name]: number for name, number in figures.items()}


@dg.asset(
    deps=["housekeeping"],
    retry_policy=RETRIES,
    group_name="health",
    owners=OWNERS,
    kinds={"postgres"},
    freshness_policy=FRESH,
    metadata=described(None, "operating.md"),
)
def memory_health(context: dg.AssetExecutionContext, clients: Clients) -> dg.MaterializeResult[None]:
    """A dozen figures over all tenants, each with a plot, and tables of the tenants (ids and counts).

    The plots begin with the first turn. Past points stand at the time of the log, the latest at the time of this run:
    where the clock of a tenant was stopped, its figures do not change from then on and the line is flat.
    """
    by_day = figures_by_day(clients.store, as_of(context))
    if context.instance.get_latest_materialization_event(context.asset_key) is None:
        for at, figures in by_day:
            _report_past(context, at, named(figures))
    _, now = by_day[-1]
    metadata: dict[str, Any] = named(now)
    return dg.MaterializeResult(metadata=metadata | _tables(clients.store))


def _report_past(context: dg.AssetExecutionContext, at: datetime, figures: dict[str, int | float]) -> None:
    """Record figures of a former day at its time: what Dagster's own report of an event does, at the present time."""
    if at >= datetime.now(UTC) - _PRESENT:
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


def _tables(store: Store) -> dict[str, dg.TableMetadataValue]:
    measured = [(tenant_id, policy_label(policy), measure(store, tenant_id)) for tenant_id, policy in store.tenants()]
    measured.sort(key=lambda row: -row[2]["memories"])
    return {name: _table(measured[:_TENANTS], columns) for name, columns in TABLES.items()}


def _table(
    measured: Sequence[tuple[str, str, Mapping[str, int | float]]], columns: Mapping[str, str]
) -> dg.TableMetadataValue:
    records = [
        dg.TableRecord({"tenant": tenant_id, "policy": policy} | {columns[each]: counts[each] for each in columns})
        for tenant_id, policy, counts in measured
    ]
    named_columns = [dg.TableColumn(name, "string") for name in ("tenant", "policy")]
    counted = [dg.TableColumn(name, "int") for name in columns.values()]
    return dg.MetadataValue.table(records, schema=dg.TableSchema([*named_columns, *counted]))
