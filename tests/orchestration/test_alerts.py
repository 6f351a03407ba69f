"""What a webhook is told: names, ids and numbers of failed runs, failed checks and changes; no text of a user."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from reverie.errors import SettingsError
from reverie.store.database import Store


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a webhook on this machine has got."""
    import assets.definitions  # noqa: F401 - a sensor's status is decided on import, when no URL is set

    texts: list[str] = []

    class Webhook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers["Content-Type"] == "application/json"
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert set(body) == {"text"}
            texts.append(body["text"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    with HTTPServer(("127.0.0.1", 0), Webhook) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("REVERIE_ALERT_URL", f"http://127.0.0.1:{server.server_port}/hook")
        yield texts
        server.shutdown()
        thread.join()


def tick(sensor: Any, instance: Any, cursor: str | None = None) -> Any:
    import dagster as dg

    from assets.definitions import defs

    repository = defs.get_repository_def()
    with dg.build_sensor_context(instance=instance, cursor=cursor, repository_def=repository) as context:
        return sensor.evaluate_tick(context)


def test_failed_checks_are_told_once(
    remembered: Store, run_job: Callable[..., Any], conn: Any, told: list[str]
) -> None:
    from assets.alerts import failed_checks

    run_job("health")
    first = tick(failed_checks, run_job.instance)
    conn.execute("delete from memory.vectors where (item_id, tenant_id) in "
                 "(select id, tenant_id from log.turns where tenant_id = 'acme' limit 1)")  # fmt: skip
    conn.execute("update log.turns set recorded_at = recorded_at - interval '2 days'")  # longer than two cycles
    assert told == []
    run_job("health")
    second = tick(failed_checks, run_job.instance, first.cursor)
    assert told == ["Reverie: the check all_embedded of memory_health failed (error). Without a vector 1"]
    tick(failed_checks, run_job.instance, second.cursor)
    assert len(told) == 1


def test_changes_of_policies_and_models_are_told_once(
    log: Store, conn: Any, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    from assets.alerts import changes

    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        first = tick(changes, instance)
        assert tick(changes, instance, first.cursor).skip_message == "Changes since the last tick: 0."
        conn.execute("update ops.tenants set policy = 'contact' where tenant_id = 'acme'")
        monkeypatch.setenv("REVERIE_EMBEDDING_MODEL", "litellm/other")
        second = tick(changes, instance, first.cursor)
        tick(changes, instance, second.cursor)
    (text,) = told
    assert "the policy of acme was reverie (" in text
    assert "and is contact (" in text
    assert "the embedding model was minilm and is litellm/other" in text
    assert "beta" not in text


def test_failed_runs_are_told_without_their_messages(
    log: Store, run_job: Callable[..., Any], told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    from assets import memories
    from assets.alerts import failed_runs

    monkeypatch.setattr(dg.RetryPolicy, "calculate_delay", lambda policy, attempt: 0)

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("what she said")

    monkeypatch.setattr(memories, "take_step", fail)
    result = run_job("cycle", "01", raise_on_error=False)
    run_job.instance.add_run_tags(result.run_id, {"dagster/will_retry": "true"})
    failed_runs(failure_of(run_job.instance, result.run_id))
    assert told == [], "Dagster starts it again"
    run_job.instance.add_run_tags(result.run_id, {"dagster/will_retry": "false"})
    failed_runs(failure_of(run_job.instance, result.run_id))
    assert told == [f"Reverie: the run {result.run_id} of cycle, partition 01, failed in extract."]


def failure_of(instance: Any, run_id: str) -> Any:
    """What the sensor is given for a failed run."""
    import dagster as dg

    run = instance.get_run_by_id(run_id)
    (event,) = [log.dagster_event for log in instance.all_logs(run_id, of_type=dg.DagsterEventType.RUN_FAILURE)]
    return dg.build_run_status_sensor_context(
        sensor_name="alert_on_failed_runs", dagster_event=event, dagster_instance=instance, dagster_run=run
    ).for_run_failure()


def test_without_a_url_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import dagster as dg

    from assets.alerts import alert, changes, failed_checks

    monkeypatch.delenv("REVERIE_ALERT_URL", raising=False)
    assert alert("anything") is False
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        for sensor in (changes, failed_checks):
            assert tick(sensor, instance).skip_message == "REVERIE_ALERT_URL is not set."
    monkeypatch.setenv("REVERIE_ALERT_URL", "file:///etc/hostname")
    with pytest.raises(SettingsError, match="REVERIE_ALERT_URL cannot be used"):
        alert("anything")
