"""Events of stage runs, in a file and by HTTP: job, run, tables with their rows; none of a dry run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.consolidate.stages import BY_NAME, stage_tables
from reverie.errors import StageError
from reverie.interruption import Interrupted
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.runs import Report, run
from reverie.store.work import Work
from reverie.telemetry import lineage
from reverie.telemetry.starting import start_lineage
from tests.telemetry.conftest import AS_OF, SECRETS, Receiver

URL = "postgresql://someone:hunter2@db.example:5433/memories"


def test_events_of_a_stage_in_a_file(
    run_stage: Callable[..., Report], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "events.jsonl"
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(path))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    start_lineage(URL, stage_tables())
    run_stage("extract", dry_run=True)
    assert not path.exists()
    report = run_stage("extract")
    start, complete = (json.loads(line) for line in path.read_text().splitlines())
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == complete["run"]["runId"] == str(report.run_id)
    assert (complete["job"]["namespace"], complete["job"]["name"]) == ("reverie", "extract")
    inputs, outputs = ({each["name"]: each for each in complete[side]} for side in ("inputs", "outputs"))
    assert set(inputs) == {f"memories.{table}" for table in BY_NAME["extract"].reads}
    assert set(outputs) == {f"memories.{table}" for table in BY_NAME["extract"].writes}
    assert {each["namespace"] for each in inputs.values()} == {"postgres://db.example:5433"}
    rows = {name: each["outputFacets"]["outputStatistics"]["rowCount"] for name, each in outputs.items()
            if "outputStatistics" in each.get("outputFacets", {})}  # fmt: skip
    assert rows == {"memories.memory.extractions": 2, "memories.memory.memories": report["candidates"]}
    facets = complete["run"]["facets"]
    assert facets["nominalTime"]["nominalStartTime"].startswith("2026-04-01T00:00:00")
    assert (facets["reverie"]["tenant"], facets["reverie"]["counts"]["turns"]) == ("acme", 2)
    assert not [secret for secret in (*SECRETS, "hunter2", "someone") if secret in path.read_text()]


@pytest.mark.parametrize("ours", [True, False])
def test_a_failed_stage_by_http(store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, ours: bool) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", receiver.url)
    start_lineage(URL, stage_tables())
    work = Work(store=store, scope=Scope(tenant_id="acme"), policy=load_policy("reverie"), as_of=AS_OF)
    with pytest.raises((StageError, ValueError)), run(work, "merge"):
        raise StageError("The stage was stopped.") if ours else ValueError("I love spicy ramen")
    start, fail = (json.loads(body) for body in receiver.at("/api/v1/lineage"))
    assert (start["eventType"], fail["eventType"]) == ("START", "FAIL")
    said = fail["run"]["facets"]["errorMessage"]["message"]
    assert said == ("The stage was stopped." if ours else "The stage failed.")
    assert fail["job"]["facets"]["documentation"]["description"] == BY_NAME["merge"].summary


def test_an_interrupted_stage_fails_by_http(store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a KeyboardInterrupt, which is no Exception; a receiver must not show the run as running for ever."""
    monkeypatch.setenv("OPENLINEAGE_URL", receiver.url)
    start_lineage(URL, stage_tables())
    work = Work(store=store, scope=Scope(tenant_id="acme"), policy=load_policy("reverie"), as_of=AS_OF)
    with pytest.raises(Interrupted), run(work, "merge"):
        raise Interrupted
    assert [json.loads(body)["eventType"] for body in receiver.at("/api/v1/lineage")] == ["START", "FAIL"]


def test_nobody_listens(
    run_stage: Callable[..., Report], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", "http://127.0.0.1:1")
    start_lineage(URL, stage_tables())
    assert run_stage("extract")["turns"] == 2
    warned = [record for record in caplog.records if record.name == "reverie.lineage"]
    assert len(warned) == 1 and "could not be sent" in warned[0].message


def test_every_count_of_rows_is_of_a_table_of_the_stage() -> None:
    tables: dict[str, Any] = stage_tables()
    assert {name for name, stage in tables.items() if not set(stage.counted) <= set(stage.writes)} == set()
    assert not lineage.emitting()
