"""Something that receives what is exported, and a small log whose stages tell of themselves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.consolidate.stages import BY_NAME
from reverie.inference import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.work import Work
from reverie.telemetry import lineage, spans

AS_OF = datetime(2026, 4, 1, tzinfo=UTC)
#: Ana said these, and nobody else may hear of it.
SAID = ("I love spicy ramen.", "My dog is called Bruno.")
SECRETS = ("ramen", "Bruno", "ana@example.org")


class Receiver:
    """The bodies of what was posted, by path."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.posted: list[tuple[str, bytes]] = []

    def at(self, path: str) -> list[bytes]:
        return [body for where, body in self.posted if where == path]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server on this machine that takes whatever is posted."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.posted.append((self.path, body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Receiver(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield found
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def off() -> Iterator[None]:
    """Whatever a test turns on is off again."""
    yield
    spans.record_to(None)
    lineage.emit_to(None)


@pytest.fixture
def store(database_url: str, tmp_path: Path) -> Iterator[Store]:
    """A log of two turns."""
    record = {"subject_id": "ana@example.org", "session_id": "s1", "role": "user"}
    lines = [
        json.dumps(record | {"said_at": f"2026-03-01T09:0{place}:00Z", "text": text}) for place, text in enumerate(SAID)
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines))
    with Store.open(database_url, size=2) as opened:
        import_file(opened, path, tenant_id="acme")
        yield opened


@pytest.fixture
def run_stage(store: Store) -> Callable[..., Report]:
    """Run a stage over the log."""
    embedder = load_embedder("minilm", threads=1)

    def run(name: str, *, dry_run: bool = False) -> Report:
        scope, policy = Scope(tenant_id="acme"), load_policy("reverie")
        return BY_NAME[name](
            Work(store=store, scope=scope, policy=policy, as_of=AS_OF, embedder=embedder, dry_run=dry_run)
        )

    return run
