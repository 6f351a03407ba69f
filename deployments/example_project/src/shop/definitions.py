"""Everything under `defs/`, loaded by Dagster."""

from pathlib import Path

import dagster as dg


@dg.definitions
def defs() -> dg.Definitions:
    """Return the project's definitions."""
    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)
