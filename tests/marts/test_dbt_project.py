"""Dagster loads the marts from a manifest that is parsed when it must be, and without dbt loads everything else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reverie.errors import StageError


def test_a_manifest_is_parsed_once_and_again_when_a_model_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assets import dbt_project

    calls: list[list[str]] = []

    def parse(call: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(call)
        folder = Path(call[call.index("--target-path") + 1])
        (folder / "manifest.json").write_text("{}")
        return subprocess.CompletedProcess(call, 0, "", "")

    (tmp_path / "model.sql").write_text("select 1")
    monkeypatch.setattr(dbt_project, "PROJECT", tmp_path)
    monkeypatch.setattr(dbt_project, "TARGET", tmp_path / "target")
    monkeypatch.setattr(dbt_project.subprocess, "run", parse)
    first = dbt_project.prepared_manifest()
    assert dbt_project.prepared_manifest() == first and len(calls) == 1
    (tmp_path / "model.sql").write_text("select 2")
    second = dbt_project.prepared_manifest()
    assert second != first and len(calls) == 2
    assert [path.name for path in (tmp_path / "target").iterdir()] == [second.name]


def test_a_project_that_cannot_be_parsed_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assets import dbt_project

    (tmp_path / "dbt_project.yml").write_text("name: 1")
    monkeypatch.setattr(dbt_project, "PROJECT", tmp_path)
    monkeypatch.setattr(dbt_project, "TARGET", tmp_path / "target")
    failed = subprocess.CompletedProcess([], 2, "Parsing Error: x", "")
    monkeypatch.setattr(dbt_project.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(StageError, match=r"dbt cannot read its project: Parsing Error: x"):
        dbt_project.prepared_manifest()


def test_without_dbt_the_rest_is_loaded() -> None:
    script = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "dagster_dbt" else find(name, *more)
from assets.definitions import defs
jobs = sorted(job.name for job in defs.get_repository_def().get_all_jobs() if not job.name.startswith("__"))
assert jobs == ["backfill_history", "cycle", "drop_ended_generations", "evaluate", "generation", "health",
    "publish"], jobs
import sys
assert "dagster_dbt" not in sys.modules
"""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
