"""The marts: dbt's models as assets beside ours, its tests as their checks. Needs the extra `dbt`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from importlib.metadata import version
from queue import SimpleQueue
from typing import Any, TypeVar

import dagster as dg
from dagster_dbt import DagsterDbtTranslator, DagsterDbtTranslatorSettings, DbtCliResource, DbtProject, dbt_assets
from dagster_dbt.core import dbt_event_iterator
from packaging.version import Version, parse

from assets.dbt_project import (
    PROJECT,
    dbt_environment,
    dbt_program,
    environment,
    in_database,
    prepared_manifest,
    writable_target,
)
from assets.described import OWNERS, described
from assets.runs import FRESH, RETRIES

#: Tables written by an asset of another name, with that asset.
WRITERS = {
    "memory.extractions": "candidates",
    "memory.observations": "candidates",
    "memory.lineage": "memories",
    "memory.merges": "deduplicated_memories",
    "memory.conflicts": "structured_facts",
    # views; the last two are complete at the end of a cycle
    "log.subjects": "turns",
    "memory.lives": "memories",
    "memory.milestones": "memories",
}
#: Tables whose asset has their name.
NAMED = {"log.turns", "memory.memories", "memory.entities"}
#: Rules of dbt's generic tests, for the descriptions of checks.
RULES = {
    "accepted_values": "holds only the values that the column's description names",
    "not_null": "is never null",
    "relationships": "names an existing tenant",
    "share": "is from 0 to 1",
    "unique": "is unique",
}
_Event = TypeVar("_Event")

#: Without unit tests, which matter only when a model is changed.
BUILD = ("build", "--exclude-resource-type", "unit_test")


def source_key(table: str) -> dg.AssetKey:
    """Return the asset of a table such as `log.turns`: ours, or an external asset for a table that others write."""
    schema, name = table.split(".")
    if table in WRITERS:
        return dg.AssetKey(WRITERS[table])
    return dg.AssetKey(name if table in NAMED else [schema, name])


class Translator(DagsterDbtTranslator):
    """Names models and sources as assets."""

    def get_asset_key(self, dbt_resource_props: Mapping[str, Any]) -> dg.AssetKey:
        """Return `marts/<model>`, or the asset that writes a source."""
        if dbt_resource_props["resource_type"] == "source":
            return source_key(f"{dbt_resource_props['source_name']}.{dbt_resource_props['name']}")
        return dg.AssetKey(["marts", dbt_resource_props["name"]])

    def get_group_name(self, dbt_resource_props: Mapping[str, Any]) -> str:
        """Return the group; staging views have their own."""
        return "marts_staging" if "staging" in dbt_resource_props["fqn"] else "marts"

    def get_description(self, dbt_resource_props: Mapping[str, Any]) -> str:
        """Return dbt's description, without the SQL."""
        return str(dbt_resource_props["description"])

    def get_asset_check_spec(
        self, asset_spec: dg.AssetSpec, manifest: Mapping[str, Any], unique_id: str, project: DbtProject | None
    ) -> dg.AssetCheckSpec | None:
        """Describe the check of a test: by the test's own description, or by its rule."""
        spec = super().get_asset_check_spec(asset_spec, manifest, unique_id, project)
        test = self.get_resource_props(manifest, unique_id)
        rule = RULES.get((test.get("test_metadata") or {}).get("name", ""), "")
        return spec and spec._replace(description=test["description"] or f"{test.get('column_name')} {rule}.")

    def get_metadata(self, dbt_resource_props: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add a page of docs and the table's name, without the name of the database, which differs by deployment."""
        table = {"dagster/table_name": f"{dbt_resource_props['schema']}.{dbt_resource_props['name']}"}
        return {**super().get_metadata(dbt_resource_props), **table, **described(None, "marts.md")}

    def get_asset_spec(self, manifest: Mapping[str, Any], unique_id: str, project: DbtProject | None) -> dg.AssetSpec:
        """Add the freshness policy to models; sources are written elsewhere."""
        spec = super().get_asset_spec(manifest, unique_id, project)
        is_model = manifest["nodes"].get(unique_id, {}).get("resource_type") == "model"
        return spec.replace_attributes(freshness_policy=FRESH) if is_model else spec

    def get_owners(self, dbt_resource_props: Mapping[str, Any]) -> Sequence[str]:
        """Return our default owners."""
        return OWNERS


class Dbt(DbtCliResource):
    """dbt of this environment. Its version comes from the package, since `dbt --version` queries the package index."""

    @cached_property
    def _cli_version(self) -> Version:
        return parse(version("dbt-core"))


def _as_read(
    executor: ThreadPoolExecutor, iterable: Iterator[_Event], func: Callable[[_Event], _Event]
) -> Iterator[_Event]:
    """Yield the results of `func` in order while another thread reads `iterable`; block until each is ready.

    Raises what `iterable` raises, after yielding the earlier results.
    """
    results: SimpleQueue[Future[_Event] | None] = SimpleQueue()

    def submit_each() -> None:
        try:
            for each in iterable:
                results.put(executor.submit(func, each))
        finally:
            results.put(None)

    reading = executor.submit(submit_each)
    while (result := results.get()) is not None:
        yield result.result()
    reading.result()


# Dagster's own polls in a busy loop: each call takes a core from dbt for as long as it builds
dbt_event_iterator.imap = _as_read  # type: ignore[attr-defined]


def tables(manifest: Mapping[str, Any]) -> list[dg.AssetSpec]:
    """Return specs of the tables that models read and no asset of ours writes, described as in the schema."""
    read = {parent for parents in manifest["parent_map"].values() for parent in parents}
    sources = [each for unique_id, each in sorted(manifest["sources"].items()) if unique_id in read]
    names = {f"{each['source_name']}.{each['name']}": each for each in sources}
    return [
        dg.AssetSpec(
            source_key(name),
            group_name=each["source_name"],
            description=each["description"],
            kinds={"postgres"},
            owners=OWNERS,
            metadata=described(name, "marts.md"),
        )
        for name, each in names.items()
        if name not in WRITERS and name not in NAMED
    ]


_manifest = json.loads(prepared_manifest().read_bytes())


@dbt_assets(
    manifest=_manifest,
    name="build_marts",  # a job and an op cannot share a name
    # one asset may write several tables
    dagster_dbt_translator=Translator(DagsterDbtTranslatorSettings(enable_duplicate_source_asset_keys=True)),
    retry_policy=RETRIES,
)
def marts(context: dg.AssetExecutionContext, dbt: DbtCliResource) -> Iterator[Any]:
    """Build and test the models that the run selects, as reverie_analyst."""
    variables = dbt_environment()
    with environment(variables):
        invocation = dbt.cli([*BUILD], context=context, target_path=writable_target())
        invocation.manifest = in_database(invocation.manifest, variables["PGDATABASE"])
        yield from invocation.stream().fetch_row_counts().fetch_column_metadata()


marts_job = dg.define_asset_job(
    "marts",
    selection=dg.AssetSelection.assets(marts),
    description="Build the marts for data teams, and test them.",
    executor_def=dg.in_process_executor,  # `make demo MARTS=1` runs it in its own process
)


@dg.asset_sensor(
    asset_key=dg.AssetKey("memory_health"),
    job=marts_job,
    name="after_health",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Builds the marts whenever memory_health was materialized.",
)
def after_health(context: dg.SensorEvaluationContext, event: dg.EventLogEntry) -> dg.RunRequest | dg.SkipReason:
    """Request a run for each new measurement, even the very first: `make demo` measures but builds no marts."""
    built = context.instance.get_latest_materialization_event(dg.AssetKey(["marts", "tenants"]))
    if built is not None and built.timestamp > event.timestamp:
        return dg.SkipReason("The marts were built since.")
    return dg.RunRequest(run_key=event.run_id)


marts_defs = dg.Definitions(
    assets=[*tables(_manifest), marts],
    jobs=[marts_job],
    sensors=[after_health],
    resources={"dbt": Dbt(project_dir=str(PROJECT), profiles_dir=str(PROJECT), dbt_executable=dbt_program())},
)
