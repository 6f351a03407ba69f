"""Reverie as a component of another Dagster project: five lines of `defs.yaml` (see deployments/example_project)."""

import warnings

import dagster as dg
from pydantic import Field

from assets.definitions import defs

# Dagster itself causes this warning when it maps the specs of checks
warnings.filterwarnings("ignore", message="Parameter `execution_type`", category=dg.BetaWarning)


class ReverieComponent(dg.Component, dg.Model, dg.Resolvable):
    """Memory for AI agents: assets, checks, jobs, schedules and sensors of Reverie.

    The environment selects the database, models and buckets (`reverie doctor` prints the settings in force).
    """

    owners: list[str] = Field(default_factory=list, description="Owners of the assets, such as team:support.")
    tags: dict[str, str] = Field(default_factory=dict, description="Tags of every asset.")
    group_prefix: str = Field(default="", description="Prefix of the group names, such as reverie_.")
    schedules: bool = Field(default=True, description="Whether to include the schedules and sensors.")

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return the definitions, with this project's owners, tags and group prefix."""
        parts = defs if self.schedules else dg.Definitions(**{name: getattr(defs, name) for name in _PARTS})
        # the executor is the project's; our jobs name their own
        without_executor = dg.Definitions(
            assets=parts.assets,
            asset_checks=parts.asset_checks,
            jobs=parts.jobs,
            schedules=parts.schedules,
            sensors=parts.sensors,
            resources=parts.resources,
        )
        return without_executor.map_asset_specs(func=self._in_this_project)

    def _in_this_project(self, spec: dg.AssetSpec) -> dg.AssetSpec:
        changed = spec.replace_attributes(
            owners=self.owners or spec.owners, group_name=f"{self.group_prefix}{spec.group_name}"
        )
        return changed.merge_attributes(tags=self.tags)


#: The parts of the definitions without schedules and sensors.
_PARTS = ("assets", "asset_checks", "jobs", "resources")
