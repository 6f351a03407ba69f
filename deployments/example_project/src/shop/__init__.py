"""A team's own Dagster project."""
