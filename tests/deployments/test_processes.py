"""The engine's containers as processes of this machine: the compose file's own commands and settings, and its probe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.store.server.programs import free_port

Services = dict[str, dict[str, Any]]


def argv(service: dict[str, Any], port: int) -> list[str]:
    """The command of a service; the entry point of the image is `reverie`. Only the port is another."""
    return [sys.executable, "-m", "reverie", *(str(port) if each == "8080" else each for each in service["command"])]


def environment(service: dict[str, Any], url: str, home: Path) -> dict[str, str]:
    """What Compose sets, without what it fills in, and the database of the test."""
    given = {name: str(value) for name, value in service["environment"].items() if value and "${" not in str(value)}
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "PYTHONPYCACHEPREFIX") if name in os.environ}
    return kept | given | {"DATABASE_URL": url, "REVERIE_THREADS": "1", "REVERIE_HOME": str(home)}


@contextmanager
def running(command: list[str], variables: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A process that ends well when it is told to, as Docker tells it."""
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        # uvicorn ends by the signal that it was sent, after it has ended everything else
        assert process.wait(timeout=30) in (0, -signal.SIGTERM)
        assert process.stderr.read() == ""


def test_a_new_database_is_migrated_served_and_drained(
    services: Services, empty_database_url: str, tmp_path: Path
) -> None:
    port = free_port()

    def started(name: str) -> tuple[list[str], dict[str, str]]:
        return argv(services[name], port), environment(services[name], empty_database_url, tmp_path)

    command, variables = started("migrate")
    for _ in range(2):  # a job that is started again finds nothing to do
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    api_command, api_variables = started("api")
    api_variables |= {"REVERIE_INSPECTOR": "1", "FORWARDED_ALLOW_IPS": "127.0.0.0/8"}
    with running(api_command, api_variables) as api, running(*started("worker")) as worker:
        *_, probe = services["api"]["healthcheck"]["test"]
        healthy = [sys.executable, "-c", probe.replace("8080", str(port))]
        until = time.monotonic() + 60
        while subprocess.run(healthy, capture_output=True, check=False).returncode:
            assert time.monotonic() < until and api.poll() is None
            time.sleep(0.3)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            assert answer.status == 200
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/inspector/sign-in")
        asked.add_header("X-Forwarded-Proto", "https")
        with urllib.request.urlopen(asked, timeout=5) as answer:
            assert answer.status == 200 and "Secure" in answer.headers["Set-Cookie"]
        assert worker.poll() is None
    with psycopg.connect(empty_database_url) as conn:
        assert conn.execute("select count(*) from ops.migrations").fetchone() == (1,)


@pytest.mark.parametrize("name", ["api", "worker"])
def test_without_its_database_it_ends_with_a_sentence(services: Services, name: str, tmp_path: Path) -> None:
    variables = environment(services[name], "postgresql://nobody@127.0.0.1:1/none", tmp_path)
    done = subprocess.run(argv(services[name], 0), env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (4, "Error: No Postgres answers at 127.0.0.1:1.")
