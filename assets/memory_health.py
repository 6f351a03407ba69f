"""The dashboard: plots of a dozen figures with readable names, including the past, and tables of tenants.

The first run also reports the figures of past days, each at its own time, so that the plots are filled at once.
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

#: The readable name of each figure; the page's *Plots* tab has a plot for each.
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
#: Columns of the tables of tenants: the name in `measure`, and the heading. Narrow, so that they fit on a page.
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
#: The number of tenants in a table: those with the most memories.
_TENANTS = 100


#: A younger point is the run's own and not reported as past. Under a stopped clock even the latest point is older.
_PRESENT = timedelta(hours=1)


def named(figures: Mapping[str, int | float]) -> dict[str, int | float]:
    """Return the figures by their readable names."""
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

    The plots begin with the first turn. Past points have the time of the log, the latest point the time of this run.
    If a tenant's clock was stopped, its figures do not change from then on, and the line is flat.
    """
    by_day = figures_by_day(clients.store, as_of(context))
    if context.instance.get_latest_materialization_event(context.asset_key) is None:
        for at, figures in by_day:
            _report_past(context, at, named(figures))
    _, now = by_day[-1]
    metadata: dict[str, Any] = named(now)
    return dg.MaterializeResult(metadata=metadata | _tables(clients.store))


def _report_past(context: dg.AssetExecutionContext, at: datetime, figures: dict[str, int | float]) -> None:
    """Record the figures of a past day at its time; Dagster's own method would record them at the present time."""
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
