"""The graph as Dagster sees it is the one recorded in graph.json; REVERIE_RECORD_GRAPH=1 records it anew."""

from __future__ import annotations

import json
import os
import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    import dagster as dg

RECORDED = Path(__file__).with_name("graph.json")


@pytest.fixture
def graph(defs: dg.Definitions) -> dict[str, Any]:
    """What a person must know of the graph, and nothing that a new version of Dagster may word otherwise."""
    repository = defs.get_repository_def()
    nodes = [repository.asset_graph.get(key) for key in repository.asset_graph.get_all_asset_keys()]
    return {
        "assets": {
            node.key.to_user_string(): {
                "group": node.group_name,
                "deps": sorted(key.to_user_string() for key in node.parent_keys),
                "made_with": sorted(key.to_user_string() for key in node.execution_set_asset_keys - {node.key}),
                "partitions": _partitions(node.partitions_def),
                "months_a_run": node.backfill_policy.max_partitions_per_run if node.backfill_policy else None,
                "kinds": sorted(node.kinds),
                "table": node.metadata.get("dagster/table_name"),
                "owners": sorted(node.owners),
                "columns": len(node.metadata["dagster/column_schema"].columns)
                if "dagster/column_schema" in node.metadata
                else 0,
                "description": node.description,
            }
            for node in sorted(nodes, key=lambda node: node.key)
        },
        "checks": {
            key.name: {
                "asset": key.asset_key.to_user_string(),
                "description": repository.asset_graph.get(key).description,
            }
            for key in sorted(repository.asset_graph.asset_check_keys)
        },
        "jobs": {
            job.name: sorted(key.to_user_string() for key in job.asset_layer.executable_asset_keys)
            for job in sorted(repository.get_all_jobs(), key=lambda job: job.name)
            if not job.name.startswith("__")
        },
        "schedules": {
            schedule.name: {
                "job": schedule.job_name,
                "cron": schedule.cron_schedule,
                "timezone": schedule.execution_timezone,
                "status": schedule.default_status.value,
            }
            for schedule in repository.schedule_defs
        },
        "sensors": {
            sensor.name: {"every": sensor.minimum_interval_seconds, "status": sensor.default_status.value}
            for sensor in sorted(repository.sensor_defs, key=lambda sensor: sensor.name)
        },
    }


def _partitions(partitions: dg.PartitionsDefinition[Any] | None) -> str | dict[str, str] | None:
    from dagster import MultiPartitionsDefinition

    if isinstance(partitions, MultiPartitionsDefinition):
        return {each.name: type(each.partitions_def).__name__ for each in partitions.partitions_defs}
    return type(partitions).__name__ if partitions else None


def test_the_graph_is_the_recorded_one(graph: dict[str, Any]) -> None:
    if os.environ.get("REVERIE_RECORD_GRAPH"):
        RECORDED.write_text(json.dumps(graph, indent=2) + "\n")
    assert graph == json.loads(RECORDED.read_text())


def test_everything_is_described(graph: dict[str, Any]) -> None:
    assert all(each["description"] for each in (*graph["assets"].values(), *graph["checks"].values()))


def test_every_step_may_be_repeated_and_a_run_is_one_process(defs: dg.Definitions) -> None:
    for name in ("backfill_history", "cycle", "health", "marts"):
        job = defs.resolve_job_def(name)
        assert job.executor_def.name == "in_process"
        steps = [
            node.definition for node in job.nodes if not node.name.endswith(("lag", "embedded", "duplicates", "exact"))
        ]
        assert steps
        assert all(step.retry_policy.max_retries for step in steps)


def test_partition_keys_become_scopes() -> None:
    from assets.partitions import BUCKETS, buckets, in_bucket, in_month, month_key
    from reverie.model import SHARDS

    scopes = [in_bucket(key)("acme") for key in buckets.get_partition_keys()]
    assert [scope.shard_from for scope in scopes] == [SHARDS * number // BUCKETS for number in range(BUCKETS)]
    assert scopes[-1].shard_to == SHARDS
    scope = in_month(month_key(date(2026, 2, 1), 1))("acme")
    assert (scope.tenant_id, scope.shard_from) == ("acme", scopes[1].shard_from)
    assert (scope.since.isoformat(), scope.until.isoformat()) == (
        "2026-02-01T00:00:00+00:00",
        "2026-03-01T00:00:00+00:00",
    )
    assert in_month("2026-12/00")("acme").until.isoformat() == "2027-01-01T00:00:00+00:00"


def test_columns_are_those_of_the_database(defs: dg.Definitions, conn: psycopg.Connection[Any]) -> None:
    """Every column of a table, its type and comment; lineage names columns that there are."""
    graph = defs.get_repository_def().asset_graph
    columns: dict[dg.AssetKey, set[str]] = {}
    for key in graph.get_all_asset_keys():
        metadata = graph.get(key).metadata
        # the marts are dbt's, whose contracts hold their columns
        if (table := metadata.get("dagster/table_name")) is None or table.startswith("marts."):
            continue
        found = conn.execute(
            "select attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum), not attnotnull "
            "from pg_attribute where attrelid = %s::regclass and attnum > 0 and not attisdropped",
            [table],
        ).fetchall()
        shown = metadata["dagster/column_schema"].columns
        columns[key] = {column.name for column in shown}
        assert {(each.name, each.type, each.description, each.constraints.nullable) for each in shown} == set(found)
    assert len(columns) > 12
    for key in columns:
        lineage = graph.get(key).metadata.get("dagster/column_lineage")
        for name, deps in (lineage.deps_by_column if lineage else {}).items():
            assert name in columns[key], (key, name)
            assert all(dep.column_name in columns[dep.asset_key] for dep in deps), (key, name)


def test_documentation_is_there(defs: dg.Definitions) -> None:
    graph = defs.get_repository_def().asset_graph
    for key in graph.get_all_asset_keys():
        assert graph.get(key).owners
        page = graph.get(key).metadata["documentation"].value
        name = page.rpartition("This page is `")[2].partition("`")[0]
        assert page.splitlines()[0] == (RECORDED.parents[2] / name).read_text().splitlines()[0]
        # a link leads out of Dagster, or it is none
        assert set(re.findall(r"\]\((https?)?", page)) <= {"https"}, name


def test_what_a_schedule_makes_has_to_be_fresh(defs: dg.Definitions) -> None:
    graph = defs.get_repository_def().asset_graph
    fresh = {key.to_user_string() for key in graph.get_all_asset_keys() if graph.get(key).freshness_policy}
    cycle, marts = (
        {key.to_user_string() for key in defs.resolve_job_def(job).asset_layer.executable_asset_keys}
        for job in ("cycle", "marts")
    )
    assert fresh == cycle | marts | {"memory_health"}


def test_an_asset_has_the_name_of_what_its_stage_makes() -> None:
    from assets.memories import MADE
    from reverie.consolidate.stages import STAGES

    assert {stage.name: MADE[stage.name].asset.removeprefix("new_") for stage in STAGES} == {
        stage.name: stage.result for stage in STAGES
    }
