"""The dashboard: a dozen figures that are true, with a past of their own from the first run on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from reverie.evaluate.growth import figures_by_day
from reverie.evaluate.health import measure, row_count
from reverie.store.database import Store
from tests.orchestration.conftest import AS_OF, TENANTS


def test_today_is_what_is_counted_and_the_past_what_was(remembered: Store, conn: Any) -> None:
    figures = figures_by_day(remembered, AS_OF)
    at, now = figures[-1]
    assert at == AS_OF
    counted = [measure(remembered, tenant_id) for tenant_id in TENANTS]
    for name in ("subjects", "turns", "memories", "merged", "forgotten"):
        assert now[name] == sum(each[name] for each in counted), name
    assert now["memories_per_subject"] == round(now["memories"] / now["subjects"], 3)
    assert max(each["made_per_day"] for _, each in figures) > 1
    assert len(figures) == 44
    by_time = dict(figures)
    # until the tenth of January both tenants' four subjects had said three things each
    tenth = by_time[datetime(2026, 1, 10, tzinfo=UTC)]
    assert (tenth["turns"], tenth["subjects"]) == (24, 8)
    assert 0 < tenth["memories"] < now["memories"]
    turns = [each["turns"] for _, each in figures]
    assert turns == sorted(turns)


def test_costs_are_those_of_the_cost_ledger(remembered: Store, conn: Any) -> None:
    conn.execute(
        """insert into ops.calls
               (tenant_id, id, stage, kind, model, items, state, reserved_usd, cost_usd, priced, booked_at)
           values ('acme', gen_random_uuid(), 'recall', 'embedding', 'hosted', 1, 'reserved', 0.5, null, true, %(at)s),
                  ('acme', gen_random_uuid(), 'extract', 'completion', 'hosted', 1, 'done', 0.5, 0.25, true, %(at)s)""",
        {"at": AS_OF},
    )
    (*_, (_, before), (_, now)) = figures_by_day(remembered, AS_OF)
    assert (before["cost_usd"], now["cost_usd"]) == (0, 0.75)
    assert now["cost_usd"] == measure(remembered, "acme")["cost_usd"]


def test_of_no_tenant_there_is_one_point(store: Store) -> None:
    ((at, now),) = figures_by_day(store, AS_OF)
    assert at == AS_OF
    assert set(now.values()) == {0}


def test_plots_begin_with_the_past(remembered: Store, run_job: Callable[..., Any]) -> None:
    from dagster import AssetKey

    from assets.memory_health import NAMES, TABLES

    result = run_job("health")
    (made,) = result.asset_materializations_for_node("memory_health")
    assert set(made.metadata) == {*NAMES.values(), *TABLES}
    records = made.metadata["Tenants"].records
    assert {record.data["tenant"]: record.data["policy"] for record in records} == TENANTS
    assert all(record.data["memories"] for record in records)
    instance = run_job.instance
    past = instance.fetch_observations(AssetKey("memory_health"), limit=1000).records
    assert len(past) == 44
    times = sorted(record.timestamp for record in past)
    assert times[0] == datetime(2026, 1, 6, tzinfo=UTC).timestamp() or times[0] < AS_OF.timestamp()
    # the figures of the run stand at its logical time too: from there to its own time nothing has changed
    assert times[-1] == AS_OF.timestamp()
    last = {name: value.value for name, value in past[0].asset_observation.metadata.items()}
    assert last == {name: made.metadata[name].value for name in NAMES.values()}
    assert all(set(record.asset_observation.metadata) == set(NAMES.values()) for record in past)
    # once: later runs add their own point
    run_job("health")
    assert len(instance.fetch_observations(AssetKey("memory_health"), limit=1000).records) == 44


def test_every_asset_with_a_table_has_its_rows_counted(remembered: Store, conn: Any) -> None:
    from assets.memories import MADE

    for table in {"log.turns", *(made.table for made in MADE.values() if made.table)}:
        assert row_count(remembered, table) == conn.execute(f"select count(*) from {table}").fetchone()[0]  # noqa: S608
    with pytest.raises(ValueError, match=r"rows of ops.tenants are not counted"):
        row_count(remembered, "ops.tenants")
