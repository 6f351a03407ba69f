"""Everything Dagster loads; `deployments/workspace.yaml` names this module."""

import dagster as dg

# modules and not their definitions: Dagster refuses a module with a second `Definitions` at its top
from assets import consolidation
from assets.dbt_project import is_installed

defs = consolidation.consolidation_defs

if is_installed():
    from assets import marts

    defs = dg.Definitions.merge(defs, marts.marts_defs)
