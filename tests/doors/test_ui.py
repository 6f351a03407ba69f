"""`make ui`: Dagster, asked by GraphQL as its page asks it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from reverie.capture.history.importing import import_file
from reverie.store.clock import set_clock
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.testing import DatabaseFactory
from tests.conftest import SAMPLE_AT
from tests.doors.conftest import ROOT, Door, clean_environment, make_or_skip, opened, run

GRAPH = json.loads((ROOT / "tests/orchestration/graph.json").read_text())
REPOSITORY = {"repositoryLocationName": "reverie", "repositoryName": "__repository__"}
#: The buckets of the sample's subjects differ; this one has some.
SUBJECT = "mumbai-bakery"

#: A busy machine takes minutes to start Dagster's four processes, which import it one after the other.
pytestmark = [pytest.mark.xdist_group("ui"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def history(database_factory: DatabaseFactory) -> Iterator[str]:
    """A database with the sample history in the log, and nothing remembered."""
    with database_factory.migrated() as url:
        with Store.open(url, size=1) as store:
            import_file(store, ROOT / "examples" / "sample_history.jsonl", tenant_id="demo", now=SAMPLE_AT)
            with store.transaction("demo") as conn:
                set_clock(conn, "demo", SAMPLE_AT)
        yield url


@pytest.fixture(scope="module")
def ui(history: str, database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """`make ui`, ready."""
    home = tmp_path_factory.mktemp("home")
    with ExitStack() as stack:
        storage = stack.enter_context(database_factory.empty())
        variables = {"DATABASE_URL": history, "DAGSTER_DATABASE_URL": storage, "REVERIE_HOME": str(home)}
        door = stack.enter_context(opened([make_or_skip(), "ui"], home / "printed", **variables))
        door.wait_for("Dagster is ready on")
        yield door


def ask(door: Door, query: str, **variables: Any) -> Any:
    """What GraphQL answers; errors fail the test."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(f"{door.address}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as response:
        answer = json.load(response)
    assert "errors" not in answer, answer
    return answer["data"]


def test_the_code_location_is_loaded_and_shows_everything(ui: Door) -> None:
    answer = ask(
        ui,
        """query($repository: RepositorySelector!) {
          workspaceOrError { ... on Workspace { locationEntries {
            name loadStatus locationOrLoadError { __typename ... on PythonError { message } }
          } } }
          repositoryOrError(repositorySelector: $repository) { __typename ... on Repository {
            assetNodes { assetKey { path } groupName isPartitioned description
              assetChecksOrError { ... on AssetChecks { checks { name } } } }
            pipelines { name }
            schedules { name scheduleState { status } }
            sensors { name description }
          } }
        }""",
        repository=REPOSITORY,
    )
    (location,) = answer["workspaceOrError"]["locationEntries"]
    assert location["name"] == "reverie"
    assert location["locationOrLoadError"]["__typename"] == "RepositoryLocation", location
    repository = answer["repositoryOrError"]
    nodes = {"/".join(node["assetKey"]["path"]): node for node in repository["assetNodes"]}
    assert set(nodes) == set(GRAPH["assets"])
    assert {name for name, node in nodes.items() if node["isPartitioned"]} == {
        name for name, asset in GRAPH["assets"].items() if asset["partitions"]
    }
    checks = {each["name"] for node in nodes.values() for each in node["assetChecksOrError"].get("checks", ())}
    assert checks == set(GRAPH["checks"])
    assert {job["name"] for job in repository["pipelines"]} >= set(GRAPH["jobs"])
    assert {each["name"]: each["scheduleState"]["status"] for each in repository["schedules"]} == {
        name: schedule["status"] for name, schedule in GRAPH["schedules"].items()
    }
    assert {each["name"] for each in repository["sensors"]} == set(GRAPH["sensors"])


def test_a_buckets_run_reads_the_sample_and_tells_what_it_made(ui: Door, history: str) -> None:
    with connect(history) as conn:
        row = conn.execute("select distinct shard from log.turns where subject_id = %s", [SUBJECT]).fetchone()
        assert row is not None
        bucket = f"{row[0] * 4 // 1024:02d}"
    launched = ask(
        ui,
        """mutation($params: ExecutionParams!) { launchRun(executionParams: $params) {
          __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }""",
        params={
            "selector": REPOSITORY | {"jobName": "cycle"},
            "mode": "default",
            "executionMetadata": {"tags": [{"key": "dagster/partition", "value": bucket}]},
        },
    )["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run_id = launched["run"]["runId"]
    until = time.monotonic() + 240
    while (
        status := ask(ui, "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }", id=run_id)[
            "runOrError"
        ]["status"]
    ) not in ("SUCCESS", "FAILURE", "CANCELED"):
        assert time.monotonic() < until, status
        time.sleep(0.5)
    told = ask(
        ui,
        """query($id: ID!) { runOrError(runId: $id) { ... on Run { status
          stepStats { stepKey status }
          assetMaterializations { assetKey { path } partition
            metadataEntries { label ... on IntMetadataEntry { intValue } } } } } }""",
        id=run_id,
    )["runOrError"]
    assert told["status"] == "SUCCESS", ui.text()[-3000:]
    made = {"/".join(each["assetKey"]["path"]): each for each in told["assetMaterializations"]}
    assert set(made) == set(GRAPH["jobs"]["cycle"])
    assert {each["partition"] for each in made.values()} == {bucket}
    assert len(told["stepStats"]) >= len(made)
    assert {each["status"] for each in told["stepStats"]} == {"SUCCESS"}
    labels = {name: {each["label"] for each in event["metadataEntries"]} for name, event in made.items()}
    assert {"tenants", "seconds"} <= set.intersection(*labels.values()), labels
    with connect(history) as conn:
        row = conn.execute("select count(*) from memory.memories where subject_id = %s", [SUBJECT]).fetchone()
    assert row is not None
    assert row[0] > 10


def test_a_location_that_cannot_load_is_told_and_ends_it(
    history: str, database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    (tmp_path / "twice.py").write_text("import dagster as dg\n\ndefs = dg.Definitions()\nmore = dg.Definitions()\n")
    workspace = tmp_path / "workspace.yaml"
    workspace.write_text("load_from:\n  - python_file:\n      relative_path: twice.py\n      location_name: shop\n")
    with database_factory.empty() as storage:
        variables = {"DATABASE_URL": history, "DAGSTER_DATABASE_URL": storage, "REVERIE_HOME": str(tmp_path / "home")}
        with opened(
            [make_or_skip(), "ui"], tmp_path / "printed", DAGSTER_WORKSPACE=str(workspace), **variables
        ) as door:
            assert door.process.wait(300) == 2  # make's own code for a command that failed
            assert "ui] Error 1" in door.text()
    (told,) = [line for line in door.text().splitlines() if line.startswith("Error: ")]
    assert told.startswith("Error: Dagster could not load shop: ")
    assert "Cannot have more than one Definitions object defined at module scope" in told
    assert "Traceback" not in told


def test_a_port_in_use_is_one_sentence(ui: Door, history: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [make_or_skip(), "ui", f"PORT={ui.port}"],
        env=clean_environment(DATABASE_URL=history, REVERIE_HOME=str(tmp_path)),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    first, *_ = done.stderr.splitlines()
    assert first == f"Error: Port {ui.port} is in use: choose another, for example make ui PORT={ui.port + 1}."


def test_dagsters_own_command_accepts_the_workspace(tmp_path: Path, history: str) -> None:
    printed = run(
        ["dagster", "definitions", "validate", "-w", "deployments/workspace.yaml"],
        DAGSTER_HOME=str(tmp_path),
        DATABASE_URL=history,
        REVERIE_HOME=str(tmp_path),
    )
    assert "Validation successful for code location reverie" in printed
    assert urlsplit(history).path not in printed


def test_sigterm_stops_all_that_it_started(history: str, tmp_path: Path, database_factory: DatabaseFactory) -> None:
    """As a service manager stops it; Ctrl-C is how the tests above end theirs."""
    (tmp_path / "shop.py").write_text("import dagster as dg\n\ndefs = dg.Definitions()\n")
    workspace = tmp_path / "workspace.yaml"
    workspace.write_text(f"load_from:\n  - python_file: {{relative_path: {tmp_path}/shop.py, location_name: shop}}\n")
    with database_factory.empty() as storage:
        variables = {"DATABASE_URL": history, "DAGSTER_DATABASE_URL": storage, "REVERIE_HOME": str(tmp_path / "home")}
        command = [make_or_skip(), "ui"]
        with opened(
            command, tmp_path / "printed", stop_by=signal.SIGTERM, DAGSTER_WORKSPACE=str(workspace), **variables
        ) as door:
            door.wait_for("Dagster is ready on")
            assert len(psutil.Process(door.process.pid).children(recursive=True)) > 3
    assert "Traceback" not in door.text()
