"""`make prefect` and `make worker`: a flow is started through the server's API and ends there."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reverie.store.connect import connect
from reverie.testing import DatabaseFactory
from tests.doors.conftest import Door, make_or_skip, opened

pytestmark = pytest.mark.xdist_group("prefect")
FLOWS = {
    "deliver-webhooks",
    "drain-due-sessions",
    "erase-subject",
    "import-history",
    "rebuild-beside",
    "redrive-dead-letters",
} | {
    "reembed-tenant",
    "replay-session",
}


@dataclass(frozen=True, kw_only=True)
class Prefect:
    """A server with a worker, and Reverie's database."""

    server: Door
    worker: Door
    url: str

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """What the server's API answers: to a POST with a body, otherwise to a GET."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.server.address}/api{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def logs(self, run: str) -> list[dict[str, Any]]:
        """What a run has logged, as the server has it so far."""
        logs: list[dict[str, Any]] = self.ask("/logs/filter", {"logs": {"flow_run_id": {"any_": [run]}}})
        return logs

    def imported(self, **parameters: str) -> tuple[str, dict[str, Any]]:
        """Run the flow that imports for a tenant to its end; return the run's id and its last state."""
        deployment = self.ask("/deployments/name/import-history/import")
        body = {"parameters": {"tenant": "acme"} | parameters}
        run = self.ask(f"/deployments/{deployment['id']}/create_flow_run", body)
        until = time.monotonic() + 180
        while (state := self.ask(f"/flow_runs/{run['id']}")["state"])["type"] not in ("COMPLETED", "FAILED", "CRASHED"):
            assert time.monotonic() < until, (state, self.worker.text()[-3000:])
            time.sleep(0.3)
        return run["id"], state


@pytest.fixture(scope="module")
def prefect(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prefect]:
    """Both processes, with every flow served."""
    home, make = tmp_path_factory.mktemp("home"), make_or_skip()
    with ExitStack() as stack:
        url = stack.enter_context(database_factory.migrated())
        storage = stack.enter_context(database_factory.empty()).partition("://")[2]
        given = {"DATABASE_URL": url, "REVERIE_HOME": str(home)}
        database = {"PREFECT_SERVER_DATABASE_CONNECTION_URL": f"postgresql+asyncpg://{storage}"}
        server = stack.enter_context(opened([make, "prefect"], home / "server", **given, **database))
        until = time.monotonic() + 120
        while not _is_healthy(server):
            assert server.process.poll() is None and time.monotonic() < until, server.text()[-3000:]
            time.sleep(0.2)
        api = {"PREFECT_PORT": str(server.port), "PREFECT_HOME": str(home / "prefect")}
        worker = stack.enter_context(opened([make, "worker"], home / "worker", **given, **api))
        opened_ = Prefect(server=server, worker=worker, url=url)
        while len(opened_.ask("/deployments/filter", {})) < len(FLOWS):
            assert worker.process.poll() is None and time.monotonic() < until + 60, worker.text()[-3000:]
            time.sleep(0.2)
        yield opened_


def _is_healthy(server: Door) -> bool:
    try:
        with urllib.request.urlopen(f"{server.address}/api/health", timeout=5):
            return True
    except OSError:
        return False


def test_a_flow_imports_and_remembers(prefect: Prefect, tmp_path: Path) -> None:
    said = ("I have a golden retriever named Bruno.", "I live in Lisbon.")
    records = [
        {
            "subject_id": "ana",
            "session_id": "s",
            "role": "user",
            "said_at": f"2026-01-05T09:0{minute}:00Z",
            "text": text,
        }
        for minute, text in enumerate(said)
    ]
    (tmp_path / "history.jsonl").write_text("\n".join(map(json.dumps, records)))
    served = {each["name"]: each["id"] for each in prefect.ask("/flows/filter", {})}
    assert set(served) == FLOWS
    run, state = prefect.imported(path=str(tmp_path / "history.jsonl"), as_of="2026-01-06T00:00:00Z")
    assert state["type"] == "COMPLETED", prefect.worker.text()[-4000:]
    tasks = prefect.ask("/task_runs/filter", {"flow_runs": {"id": {"any_": [run]}}})
    assert len(tasks) >= 2 and {each["state"]["type"] for each in tasks} == {"COMPLETED"}
    with connect(prefect.url) as conn:
        rows = conn.execute("select content from memory.memories where tenant_id = 'acme'").fetchall()
    assert any("Bruno" in content for (content,) in rows)


def test_a_users_mistake_is_one_sentence(prefect: Prefect, tmp_path: Path) -> None:
    missing, printed = tmp_path / "missing.jsonl", len(prefect.worker.text())
    run, state = prefect.imported(path=str(missing))
    assert (state["type"], state["message"]) == ("FAILED", f"There is no file {missing}.")
    tasks = prefect.ask("/task_runs/filter", {"flow_runs": {"id": {"any_": [run]}}})
    assert [(each["name"][:12], each["state"]["message"], each["run_count"]) for each in tasks] == [
        ("import_turns", state["message"], 1)
    ]
    until = time.monotonic() + 30  # logs are sent in batches; the last is written after the run has ended
    while not any("exited" in each["message"] for each in prefect.logs(run)):
        assert time.monotonic() < until
        time.sleep(0.2)
    told = "\n".join([prefect.worker.text()[printed:], *(each["message"] for each in prefect.logs(run))])
    assert state["message"] in told and "Traceback" not in told
