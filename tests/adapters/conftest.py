"""A real `reverie serve` for the adapters of agent frameworks: `make test-adapters` installs those.

The server runs in the environment that `REVERIE_TEST_SERVER` names the Python of, if any: LangChain's adapter of MCP
needs another `mcp` than the server.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from tests.conftest import Databases

#: The Python of the server.
PYTHON = os.environ.get("REVERIE_TEST_SERVER", sys.executable)


#: What an adapter tells a model of the hit that `doubting` answers with.
DOUBTED = "Do you drink coffee? / Yes. (may be over; 2026-03-01: “I gave up coffee.”)"


def doubting() -> httpx.MockTransport:
    """A server whose only hit answers a question and may be over."""
    id = "00000000-0000-0000-0000-000000000001"
    nothing = ("importance", "model", "reranker", "turn_id", "session_id", "first_at", "until")
    fields: dict[str, Any] = dict.fromkeys(nothing) | {"id": id}
    near = {"id": id, "said_at": "2026-03-01T09:00:00Z"}
    hit = fields | {
        "item": "memory",
        "kind": "fact",
        "content": "Yes.",
        "happened_at": "2026-01-05T09:00:00Z",
        "score": 0.5,
        "tokens": 1,
        "compression_source": False,
        "times": 1,
        "before": [],
        "after": [],
        "fresh": False,
        "ranks": {},
        "doubt": near | {"content": "I gave up coffee."},
        "reply_to": near | {"content": "Do you drink coffee?"},
    }
    answer = fields | {
        "subject_id": "ana",
        "asked_at": "2026-04-01T09:00:00Z",
        "policy": "reverie",
        "policy_hash": "x",
        "hits": [hit],
        "unranked": 0,
        "total_tokens": 1,
        "token_budget": 1,
        "budget_used": 1,
        "notes": [],
    }
    return httpx.MockTransport(lambda request: httpx.Response(200, json=answer))


class Server(NamedTuple):
    """Where a server listens, and keys."""

    url: str
    #: Reads and writes.
    key: str
    #: Erases too.
    admin_key: str


def pytest_configure(config: pytest.Config) -> None:
    """Knows the mark that the frameworks' own tests have; they are run without the plugin that reads it."""
    config.addinivalue_line("markers", "asyncio: a test of a framework's own repository with an event loop")


@pytest.fixture(scope="module")
def server(databases: Databases) -> Iterator[Server]:
    """A server of a database of its own."""
    with databases() as database:
        env = os.environ | {
            "DATABASE_URL": database,
            "REVERIE_TENANT": "acme",
            "REVERIE_THREADS": "1",
            "REVERIE_EMBEDDING_MODEL": "none",
            "REVERIE_API_CONNECTIONS": "2",
        }
        command = [PYTHON, "-m", "reverie"]

        def add_key(name: str, *scopes: str) -> str:
            options = [part for scope in scopes for part in ("--scope", scope)]
            made = subprocess.run(
                [*command, "keys", "add", name, *options], env=env, capture_output=True, text=True, check=True
            )
            return made.stdout.strip()

        keys = add_key("app"), add_key("admin", "read", "write", "admin")
        with subprocess.Popen(
            [*command, "serve", "--port", "0", "--json"], env=env, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            try:
                said = json.loads("".join(process.stdout.readline() for _ in range(5)))
                yield Server(said["url"], *keys)
            finally:
                process.send_signal(signal.SIGINT)
