"""A real `reverie serve` for the adapters of agent frameworks: `make test-adapters` installs those."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.conftest import Databases


class Server(NamedTuple):
    """Where a server listens, and a key that reads and writes."""

    url: str
    key: str


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
        command = [sys.executable, "-m", "reverie"]
        key = subprocess.run([*command, "keys", "add", "app"], env=env, capture_output=True, text=True, check=True)
        with subprocess.Popen(
            [*command, "serve", "--port", "0", "--json"], env=env, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            try:
                said = json.loads("".join(process.stdout.readline() for _ in range(5)))
                yield Server(said["url"], key.stdout.strip())
            finally:
                process.send_signal(signal.SIGINT)
