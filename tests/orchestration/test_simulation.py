"""The asset of a simulated year writes to no tenant, and its metadata has the figures of every policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.store.database import Store

if TYPE_CHECKING:
    import dagster as dg


def test_a_year_is_figures_and_no_text(remembered: Store, defs: dg.Definitions) -> None:
    import dagster as dg

    before = remembered.tenants()
    config = {"ops": {"simulated_year": {"config": {"policies": ["brain", "chat"], "people": 1, "weeks": 1}}}}
    with dg.DagsterInstance.ephemeral() as instance:
        result = defs.resolve_implicit_global_asset_job_def().execute_in_process(
            asset_selection=[dg.AssetKey("simulated_year")], run_config=config, instance=instance
        )
    (event,) = result.get_asset_materialization_events()
    shown = {name: value.value for name, value in event.materialization.metadata.items()}
    assert shown["memories_per_subject"] >= 0 and "| figure | brain | chat |" in shown["by_policy"]
    assert remembered.tenants() == before
