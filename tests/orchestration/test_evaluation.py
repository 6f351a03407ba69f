"""The asset of evaluation measures every tenant, and keeps its numbers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

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


def test_a_stopped_clock_gives_the_time(log: Store, run_job: Any, conn: psycopg.Connection) -> None:
    stopped = AS_OF - timedelta(days=60)
    conn.execute("update ops.tenants set clock_at = %s where tenant_id = 'acme'", [stopped])
    for weeks in (0, 1):
        run_job("evaluate", None, tags={"as_of": (AS_OF + timedelta(weeks=weeks)).isoformat()})
    rows = conn.execute("select as_of from ops.evaluations where tenant_id = 'acme'").fetchall()
    assert rows == [(stopped,)], "a week later it is the same evaluation"


def test_a_policy_that_cannot_be_read_stops_no_other_tenant(
    remembered: Store, run_job: Any, conn: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    monkeypatch.setattr(dg.RetryPolicy, "calculate_delay", lambda policy, attempt: 0)
    conn.execute("update ops.tenants set policy = 'moved.toml' where tenant_id = 'acme'")
    result = run_job("evaluate", None, tags={"as_of": AS_OF.isoformat()}, raise_on_error=False)
    assert not [event for event in result.all_events if event.is_step_up_for_retry], "the other is not evaluated again"
    (failure,) = [event.event_specific_data.error for event in result.all_events if event.is_step_failure]
    assert "1 of 2 tenants failed. acme: There is no policy 'moved.toml'" in str(failure)
    assert conn.execute("select tenant_id from ops.evaluations").fetchall() == [("beta",)]


def test_it_is_off_until_somebody_turns_it_on(defs: dg.Definitions) -> None:
    import dagster as dg

    schedule = defs.resolve_schedule_def("every_week")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    with dg.build_schedule_context(scheduled_execution_time=AS_OF) as context:
        (request,) = schedule.evaluate_tick(context).run_requests
    assert datetime.fromisoformat(request.tags["as_of"]) == AS_OF
