"""A real server, `reverie serve`'s app under uvicorn, that the tests of a module share."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from reverie.api.app import create_app
from reverie.api.keys import KeyScope, add_key
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.testing import DatabaseFactory
from reverie_client import Client
from tests.api.conftest import settings_for

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "python"


@dataclass
class LiveServer:
    """Where it listens, and keys for it."""

    url: str
    database_url: str
    made: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def key(self, tenant: str = "acme", scopes: Sequence[KeyScope] = ("read", "write")) -> str:
        """A key of a tenant, the same for the same scopes."""
        wanted = (tenant, tuple(scopes))
        if wanted not in self.made:
            with Store.open(self.database_url, size=1) as store:
                made = add_key(
                    store.session(tenant), name="test", scopes=scopes, policy="reverie", made_at=datetime.now(UTC)
                )
                self.made[wanted] = perform(made)[1]
        return self.made[wanted]

    def client(self, tenant: str = "acme") -> Client:
        """A client of a tenant."""
        return Client(self.url, self.key(tenant))

    def environment(self, **given: str) -> dict[str, str]:
        """Of a process of the client."""
        ours = {"REVERIE_URL": self.url, "REVERIE_API_KEY": self.key(), "REVERIE_SUBJECT": "ann"}
        path = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CLIENT)}
        return path | ours | given


@pytest.fixture(scope="module")
def live(database_factory: DatabaseFactory) -> Iterator[LiveServer]:
    """The server, on a database of the module's own."""
    with database_factory.migrated() as url, serving(url) as server:
        yield server


@contextmanager
def serving(url: str, **settings: Any) -> Iterator[LiveServer]:
    """A server on the database of a URL."""
    config = uvicorn.Config(create_app(settings_for(url, api_connections=2, **settings)), port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield LiveServer(f"http://127.0.0.1:{port}", url)
    finally:
        server.should_exit = True
        thread.join(20)
