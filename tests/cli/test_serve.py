"""`reverie keys` and `reverie serve`: a key that is made here opens the server that is started here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx

from tests.cli.conftest import Invoke

Ask = Callable[..., dict[str, Any]]


def test_a_key_is_made_listed_and_revoked(ask: Ask, invoke: Invoke) -> None:
    made = ask("keys", "add", "shop", "--scope", "read", "--days", "30")
    assert made["key"].startswith("reverie.")
    (listed,) = ask("keys", "list")["keys"]
    assert (listed["name"], listed["scopes"], listed["revoked_at"]) == ("shop", ["read"], None)
    assert listed["expires_at"] is not None
    assert made["key"] not in invoke("keys", "list").output
    revoked = ask("keys", "revoke", listed["id"][:8])["key"]
    assert revoked["revoked_at"] is not None
    assert "revoked 20" in invoke("keys", "list").stdout


def test_the_printed_command_revokes_a_key_of_another_tenant(invoke: Invoke) -> None:
    made = invoke("keys", "add", "shop", "--tenant", "globex")
    command = made.stderr.partition("To revoke it: reverie ")[2].split()
    assert command[-2:] == ["--tenant", "globex"]
    assert "shop" in invoke(*command).stdout


def test_a_key_reads_and_writes_unless_told_otherwise(ask: Ask, invoke: Invoke) -> None:
    result = invoke("keys", "add", "app")
    assert result.stdout.startswith("reverie.") and result.stdout.count("\n") == 1, "a script can take it as it is"
    assert ask("keys", "list")["keys"][0]["scopes"] == ["read", "write"]
    assert "active" in invoke("keys", "list").stdout


def test_a_key_that_is_none_is_said_so(invoke: Invoke) -> None:
    result = invoke("keys", "revoke", "abcdef123")
    assert (result.exit_code, result.stderr.strip()) == (6, "Error: Tenant acme has no key abcdef123.")
    assert invoke("keys", "list").stdout == "Tenant acme has no keys: reverie keys add NAME --tenant acme\n"


def test_a_server_starts_answers_and_ends_quietly(ask: Ask, database_url: str) -> None:
    key = ask("keys", "add", "app")["key"]
    environment = {"DATABASE_URL": database_url, "REVERIE_THREADS": "1", "REVERIE_API_CONNECTIONS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "reverie", "serve", "--port", "0", "--json"],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None and server.stderr is not None
        try:
            lines = [server.stdout.readline() for _ in range(5)]
            assert lines[-1] == "}\n", (lines, server.stderr.read() if server.poll() else "")
            said = json.loads("".join(lines))
            with httpx.Client(base_url=said["url"], headers={"Authorization": f"Bearer {key}"}) as client:
                assert client.get("/ready").json()["embedding_model"] == "minilm-l6-v2-int8"
                found = client.post("/v1/recalls", json={"subject_id": "ann", "question": "tea"}).json()
                assert found["notes"] == ["Nothing is remembered about ann."]
        finally:
            server.send_signal(signal.SIGINT)
        assert (server.wait(timeout=20), server.stderr.read()) == (0, "")


def test_the_access_log_holds_no_query(ask: Ask, database_url: str) -> None:
    key = ask("keys", "add", "app")["key"]
    environment = {"DATABASE_URL": database_url, "REVERIE_EMBEDDING_MODEL": "none", "REVERIE_API_CONNECTIONS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "reverie", "serve", "--port", "0", "--json", "--access-log"],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            url = next(line for line in server.stdout if '"url"' in line).split('"')[3]
            asked = httpx.get(
                f"{url}/v1/memories?subject_id=hunter2", headers={"Authorization": f"Bearer {key}"}, timeout=20
            )
            assert asked.status_code == 200
        finally:
            server.send_signal(signal.SIGINT)
        said = server.stdout.read()
    assert '"GET /v1/memories HTTP/1.1" 200' in said
    assert "hunter2" not in said


def test_a_database_that_is_away_is_one_sentence(invoke: Invoke) -> None:
    result = invoke("serve", env={"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"})
    assert (result.exit_code, result.stderr.strip()) == (4, "Error: No Postgres answers at 127.0.0.1:1.")
