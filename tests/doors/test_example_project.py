"""`deployments/example_project`: another team's Dagster project with Reverie in it, as its pyproject.toml starts it."""

from __future__ import annotations

from pathlib import Path

from tests.doors.conftest import ROOT, run

PROJECT = ROOT / "deployments" / "example_project"


def test_dagster_loads_it(database_url: str, tmp_path: Path) -> None:
    assert "`dagster dev -m shop.definitions`" in (PROJECT / "pyproject.toml").read_text()
    printed = run(
        ["dagster", "definitions", "validate", "-m", "shop.definitions"],
        cwd=PROJECT,
        DAGSTER_HOME=str(tmp_path),
        DATABASE_URL=database_url,
        REVERIE_HOME=str(tmp_path),
        # `pip install -e` of the two projects
        PYTHONPATH=f"{PROJECT / 'src'}:{ROOT}",
    )
    assert "Validation successful for code location shop.definitions" in printed
