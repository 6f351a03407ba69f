"""The marts as Dagster builds them: what each model's page says when it was built, and when that is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from reverie.store.database import Store
from tests.orchestration.conftest import AS_OF

if TYPE_CHECKING:
    import dagster as dg

_QUIET = {"telemetry": {"enabled": False}}


@pytest.fixture
def instance() -> Any:
    import dagster as dg

    with dg.DagsterInstance.ephemeral(settings=_QUIET) as instance:
        yield instance


def test_a_built_model_tells_its_rows_and_where_its_columns_come_from(
    remembered: Store, tmp_path: Path, conn: Any
) -> None:
    import dagster as dg

    from deployments.history import materialize_marts

    checks = materialize_marts(AS_OF, dg.DagsterInstance.local_temp(str(tmp_path), _QUIET))
    assert [name for name, passed in checks.items() if not passed] == []
    told = {}
    with dg.DagsterInstance.local_temp(str(tmp_path), _QUIET) as instance:
        for key in instance.all_asset_keys():
            if key.path[0] == "marts":
                event = instance.get_latest_materialization_event(key)
                told[key.path[-1]] = event.asset_materialization.metadata
    assert len(told) > 35
    assert all("dagster/column_schema" in metadata for metadata in told.values())
    tables = conn.execute("select tablename from pg_tables where schemaname = 'marts'").fetchall()
    for (table,) in tables:
        (rows,) = conn.execute(f"select count(*) from marts.{table}").fetchone()  # noqa: S608
        assert told[table]["dagster/row_count"].value == rows, table
    lineage = told["tenants"]["dagster/column_lineage"].lineage.deps_by_column
    assert lineage["memories"]
    # microbatches are compiled batch by batch, so that dbt has no one statement to read them from; and now and then
    # Python 3.11 fails to parse in two threads at once (python/cpython#106905), which costs one more model its lineage
    without = {name for name, metadata in told.items() if "dagster/column_lineage" not in metadata}
    assert without >= {"model_costs", "stage_runs"}
    assert len(without) <= 3


def test_what_dbt_does_is_waited_for_without_work() -> None:
    """Dagster's own loop takes a whole core from dbt."""
    import dagster as dg
    from dagster_dbt.core.dbt_event_iterator import DbtEventIterator

    from assets import marts

    assert marts.BUILD
    names = [f"check_{number}" for number in range(3)]

    def slowly() -> Iterator[dg.AssetCheckResult]:
        for name in names:
            time.sleep(0.3)
            yield dg.AssetCheckResult(passed=True, asset_key=["marts", "tenants"], check_name=name)
        raise ValueError("dbt failed")

    invocation: Any = SimpleNamespace(is_fusion=False, adapter=None, postprocessing_threadpool_num_threads=2)
    began, read = time.process_time(), []
    with pytest.raises(ValueError, match="dbt failed"):
        stream = DbtEventIterator(slowly(), invocation).fetch_row_counts().fetch_column_metadata()
        read.extend(each.check_name for each in stream)
    assert read == names
    assert time.process_time() - began < 0.3, "of 0.9 seconds"


def test_marts_follow_each_measurement_of_health_once(instance: dg.DagsterInstance, defs: dg.Definitions) -> None:
    import dagster as dg

    sensor = defs.get_repository_def().get_sensor_def("after_health")

    def tick(cursor: str | None) -> Any:
        with dg.build_sensor_context(
            instance=instance, cursor=cursor, repository_def=defs.get_repository_def()
        ) as context:
            return sensor.evaluate_tick(context)

    assert not tick(None).run_requests
    instance.report_runless_asset_event(dg.AssetMaterialization("memory_health"))
    first = tick(None)
    assert len(first.run_requests) == 1
    assert not tick(first.cursor).run_requests
    instance.report_runless_asset_event(dg.AssetMaterialization("memory_health"))
    instance.report_runless_asset_event(dg.AssetMaterialization(["marts", "tenants"]))
    # `make demo MARTS=1` has built them already
    assert not tick(first.cursor).run_requests
