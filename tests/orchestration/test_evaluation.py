"""The asset of evaluation measures every tenant, and keeps its numbers."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import psycopg

from reverie.store.database import Store
from tests.orchestration.conftest import AS_OF

if TYPE_CHECKING:
    import dagster as dg


def test_every_tenant_is_measured_and_no_text_leaves(remembered: Store, run_job: Any, conn: psycopg.Connection) -> None:
    result = run_job("evaluate", None, tags={"as_of": AS_OF.isoformat()})
    (event,) = result.get_asset_materialization_events()
    shown = {name: value.value for name, value in event.materialization.metadata.items()}
    assert shown["tenants"] == 2 and shown["correction_rate"] == 0 and "`acme`" in shown["by_tenant"]
    assert "ramen" not in str(shown)
    rows = conn.execute("select tenant_id, as_of, driver from ops.evaluations order by tenant_id").fetchall()
    assert rows == [("acme", AS_OF, "dagster"), ("beta", AS_OF, "dagster")]


def test_it_is_off_until_somebody_turns_it_on(defs: dg.Definitions) -> None:
    import dagster as dg

    schedule = defs.resolve_schedule_def("every_week")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    with dg.build_schedule_context(scheduled_execution_time=AS_OF) as context:
        (request,) = schedule.evaluate_tick(context).run_requests
    assert datetime.fromisoformat(request.tags["as_of"]) == AS_OF
