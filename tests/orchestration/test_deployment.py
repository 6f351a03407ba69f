"""What a deployment starts resolves: the workspace, the instance, the launcher."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import yaml

from deployments.ui import DATABASE, dagster_environment, storage_url
from reverie.errors import DatabaseError
from reverie.settings import load_settings
from reverie.store.connect import connect

ROOT = Path(__file__).resolve().parents[2]
DEPLOYMENTS = ROOT / "deployments"


def test_the_workspace_names_what_there_is() -> None:
    from dagster import Definitions

    (entry,) = yaml.safe_load((DEPLOYMENTS / "workspace.yaml").read_text())["load_from"]
    module = entry["python_module"]
    assert isinstance(import_module(module["module_name"]).defs, Definitions)
    assert (DEPLOYMENTS / module["working_directory"]).resolve() == ROOT
    assert module["location_name"] == "reverie"


@pytest.fixture
def dagster_url(server_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database for Dagster, of this test's own name, which the launcher is to make."""
    name = f"{urlsplit(database_url).path[1:]}_dagster"
    monkeypatch.setattr("deployments.ui.DATABASE", name)
    yield urlsplit(database_url)._replace(path=f"/{name}").geturl()
    with connect(server_url) as admin:
        admin.execute(f'drop database if exists "{name}" with (force)')


def test_the_instance_is_a_real_one(
    dagster_url: str, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagster import DagsterInstance
    from dagster._core.run_coordinator import QueuedRunCoordinator
    from dagster_postgres import PostgresEventLogStorage

    monkeypatch.setenv("REVERIE_HOME", str(tmp_path))
    monkeypatch.delenv("DAGSTER_DATABASE_URL", raising=False)
    environment = dagster_environment(load_settings(), database_url)
    assert environment == dagster_environment(load_settings(), database_url)  # the database is there now
    assert environment["DAGSTER_DATABASE_URL"] == storage_url(dagster_url)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with DagsterInstance.get() as instance:
        assert isinstance(instance.event_log_storage, PostgresEventLogStorage)
        assert instance.get_runs_count() == 0
        assert not instance.telemetry_enabled
        assert not instance.nux_enabled
        assert instance.run_monitoring_enabled
        assert instance.run_monitoring_settings["free_slots_after_run_end_seconds"] > 0
        assert (
            not instance.run_retries_enabled or not instance.get_settings("run_retries")["retry_on_asset_or_op_failure"]
        )
        assert isinstance(instance.run_coordinator, QueuedRunCoordinator)
        limits = instance.get_concurrency_config().run_queue_config.tag_concurrency_limits
        assert [limit["key"] for limit in limits] == ["dagster/partition"]
        assert Path(instance.root_directory) == tmp_path / "dagster"


def test_a_database_that_is_given_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_HOME", str(tmp_path))
    monkeypatch.setenv("DAGSTER_DATABASE_URL", "postgresql://me@host/mine")
    environment = dagster_environment(load_settings(), "postgresql://nowhere")
    assert environment["DAGSTER_DATABASE_URL"] == "postgresql+psycopg2://me@host/mine"
    assert DATABASE == "dagster"


def test_who_may_not_create_a_database_is_told_what_to_do(
    dagster_url: str, database_url: str, conn: psycopg.Connection
) -> None:
    from deployments.ui import create_database

    role = f"poor_{urlsplit(database_url).path[1:]}"
    conn.execute(f"create role \"{role}\" login password 'x'")
    try:
        parts = urlsplit(database_url)
        poor = parts._replace(netloc=f"{role}:x@{parts.hostname}:{parts.port}").geturl()
        with pytest.raises(DatabaseError, match="may not create the database .* DAGSTER_DATABASE_URL"):
            create_database(poor)
    finally:
        conn.execute(f'drop role "{role}"')


def test_a_users_error_is_one_sentence() -> None:
    environment = os.environ | {"DATABASE_URL": "mysql://x"}
    for command in (["deployments/ui.py"], ["-m", "deployments.ui"]):
        done = subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 3
        assert done.stderr.startswith("Error: DATABASE_URL cannot be used")
        assert done.stderr.count("\n") == 1
