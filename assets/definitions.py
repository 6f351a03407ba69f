"""Everything that Dagster loads; `deployments/workspace.yaml` names this module."""

import dagster as dg

# import modules, not their definitions: Dagster refuses a module with two `Definitions` at its top
from assets import consolidation
from assets.dbt_project import is_installed

defs = consolidation.consolidation_defs

if is_installed():
    from assets import marts

    defs = dg.Definitions.merge(defs, marts.marts_defs)
