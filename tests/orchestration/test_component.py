"""Another team's Dagster project with Reverie in it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    import dagster as dg

PROJECT = Path(__file__).resolve().parents[2] / "deployments" / "example_project"


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> dg.Definitions:
    """The example project, loaded as Dagster loads it."""
    from importlib import import_module

    monkeypatch.syspath_prepend(str(PROJECT / "src"))
    yield import_module("shop.definitions").defs()
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]


def test_five_lines_bring_everything(shop: dg.Definitions, defs: dg.Definitions) -> None:
    from dagster import AssetKey

    text = (PROJECT / "src" / "shop" / "defs" / "reverie" / "defs.yaml").read_text()
    assert len(text.splitlines()) == 5
    assert yaml.safe_load(text)["type"] == "assets.component.ReverieComponent"
    here, alone = shop.get_repository_def(), defs.get_repository_def()
    graph = here.asset_graph
    assert graph.get_all_asset_keys() == alone.asset_graph.get_all_asset_keys() | {AssetKey("customer_summary")}
    assert graph.asset_check_keys == alone.asset_graph.asset_check_keys
    assert {each.name for each in here.schedule_defs} == {each.name for each in alone.schedule_defs}
    assert {each.name for each in here.sensor_defs} == {each.name for each in alone.sensor_defs}
    memories = graph.get(AssetKey("memories"))
    assert memories.owners == ["team:shop"]
    assert memories.group_name == "reverie_memory"
    assert memories.tags["shop/cost_center"] == "support"
    assert memories.partitions_def is not None
    for job in ("cycle", "backfill_history", "health"):
        assert here.get_job(job).executor_def.name == "in_process"


def test_schedules_may_stay_behind() -> None:
    import dagster as dg

    from assets.component import ReverieComponent

    built = dg.build_defs_for_component(ReverieComponent(schedules=False))
    repository = built.get_repository_def()
    assert not repository.schedule_defs
    assert not repository.sensor_defs
    assert repository.has_job("cycle")
