"""A database with what pages speak of, copied for each page: the sample's people, and a person called Ana."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.store.connect import connect
from reverie.testing import DatabaseFactory, database_name
from tests.docs.blocks import ROOT
from tests.docs.shell import Shell

#: Tenants of examples; each knows Ana.
TENANTS = ("demo", "default", "acme", "old-customer")
#: The people of the sample that pages name.
SAMPLE = ("arjun", "mumbai-bakery")
ANA = {
    ("chat-16", "2026-05-02T09:00:00Z"): ("I have a golden retriever named Bruno.", "I am allergic to peanuts."),
    ("chat-17", "2026-05-20T18:00:00Z"): ("I work for Lima Labs.", "Always answer in short sentences."),
    ("chat-18", "2026-06-11T18:00:00Z"): ("I love climbing in Sintra.", "I moved to Porto, I live in Porto now."),
}  # fmt: skip
STANDS_AT = "2026-06-30T09:00:00Z"
#: An id of the pages, which stands for one of Ana's.
EXAMPLE_ID = "019b8d6a-7f10-8c41"
#: Tables of another system, which the page on imports reads.
_CRM = """
    create table messages (id int primary key, customer_id text, ticket_id int, sender text, created_at timestamptz,
                           updated_at timestamptz, body text);
    insert into messages values (1, 'ann', 7, 'customer', '2026-03-01', '2026-03-01', 'I live in Bergen.');
    create table chats (id int, owner text, chat_id text, role text, sent_at timestamptz, body text, bot text);
    insert into chats values (1, 'ann', 'c1', 'user', '2026-03-01T09:00Z', 'I love chess.', 'care');
"""
_TURN = "select id from log.turns where (tenant_id, session_id, source_id) = ('default', 'chat-18', 't0')"
_MEMORIES = """
    select id from memory.memories where (tenant_id, state) = ('default', 'active') order by happened_at
"""
_TRIGGER = """
    insert into memory.triggers (tenant_id, id, subject_id, kind, audience, happened_at, due_at, until_at, why, run_id)
    values ('default', gen_random_uuid(), 'ana', 'check_in', 'caller', '2026-06-11', '2026-06-12', '2026-07-12', '{}',
            gen_random_uuid())
    returning id
"""


@pytest.fixture(scope="session")
def sample(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database to copy."""
    path = tmp_path_factory.mktemp("sample") / "history.jsonl"
    lines = (ROOT / "examples" / "sample_history.jsonl").read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if json.loads(line).get("subject_id") in SAMPLE))
    ana = path.with_name("ana.jsonl")
    ana.write_text("\n".join(map(json.dumps, _turns_of_ana())))
    with database_factory.migrated() as url:
        for tenant in TENANTS:
            if tenant == "demo":
                _invoke(url, "import", str(path), "--tenant", tenant)
            _invoke(url, "import", str(ana), "--tenant", tenant)
            _invoke(url, "clock", "--tenant", tenant, "--stop-at", STANDS_AT)
            if tenant != "old-customer":
                _invoke(url, "run", "--tenant", tenant)
        yield database_name(url)


@pytest.fixture
def shell(
    sample: str, database_factory: DatabaseFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shell]:
    """A shell in an empty folder, on a copy of the sample."""
    monkeypatch.chdir(tmp_path)
    with database_factory.copy(sample) as url, database_factory.empty() as other, receiving() as hook:
        with connect(other) as conn:
            conn.execute(_CRM)
        examples = {"https://example.org/hooks": hook, "postgresql://reader@crm.example:5432/crm": other}
        variables = {
            "DATABASE_URL": url,
            "NEW_DATABASE_URL": other,
            "HOME": str(tmp_path),
            "REVERIE_HOME": str(tmp_path),
            "REVERIE_THREADS": "1",
            "REVERIE_WEBHOOK_PRIVATE_HOSTS": "127.0.0.1",
        }
        monkeypatch.setenv("HOME", str(tmp_path))
        yield Shell(folder=tmp_path, variables=variables, substitutes=_substitutes(url) | examples)


@contextmanager
def receiving() -> Iterator[str]:
    """A server that accepts every message; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/hooks"
        server.shutdown()
        thread.join()


def _invoke(url: str, *arguments: str) -> None:
    done = CliRunner(env={"DATABASE_URL": url, "REVERIE_THREADS": "1"}).invoke(reverie, arguments)
    assert done.exit_code == 0, done.output


def _turns_of_ana() -> Iterator[dict[str, str]]:
    for (session, at), texts in ANA.items():
        for number, text in enumerate(texts):
            yield {
                "subject_id": "ana", "session_id": session, "source_id": f"t{number}", "role": "user", "speaker": "Ana",
                "said_at": at.replace(":00Z", f":{number:02d}Z"), "text": text,
            }  # fmt: skip


def _substitutes(url: str) -> dict[str, str]:
    """Real ids for those of the pages: of Ana's turns and memories in the default tenant, and of a trigger."""
    with connect(url) as conn:
        memories = conn.execute(_MEMORIES).fetchall()
        ((turn,), (trigger,)) = conn.execute(_TURN).fetchall() + conn.execute(_TRIGGER).fetchall()
    (memory,), (other,), *_ = memories
    return {
        "--ack ID": f"--ack {trigger}",
        f"--turn {EXAMPLE_ID}-9a2b-2c6a3f1d2e4f": f"--turn {turn}",
        f"--memory {EXAMPLE_ID}": f"--memory {str(other)[:23]}",
        EXAMPLE_ID: str(memory),
    }
