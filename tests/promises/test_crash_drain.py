"""Promise 2 for the queue: a worker killed anywhere in a drain, the lease runs out, another gives the same memory."""

from __future__ import annotations

import json
import os
import random
import signal
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.drain import LEASE, Drainer
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import TableDigest, digest_of
from reverie.store.queue import Waiting, enqueue
from reverie.testing import DatabaseFactory, database_name
from tests.promises import compact
from tests.promises.forks import FORKS
from tests.promises.killing import Moments
from tests.promises.world import WordEmbedder

pytestmark = pytest.mark.timeout(240)

#: `make kills` takes more.
KILLS = 20 if os.environ.get("REVERIE_KILL_EVERY") else 2


def work(url: str, clock: datetime, kill_at: int | None = None, trace: Path | None = None) -> None:
    """Drain, as of always the same time."""
    moments = Moments(kill_at=kill_at)
    with Store.open(url, size=1) as store:
        moments.watch()
        Drainer(store=store, embedder=WordEmbedder(), clock=lambda: clock, batch=1).drain(as_of=compact.UNTIL)
    if trace:
        trace.write_text(json.dumps(len(moments.kinds)))


def run(url: str, clock: datetime, **given: Any) -> int:
    """Work in a process of its own; returns how it ended."""
    process = FORKS.Process(target=work, args=(url, clock), kwargs=given)
    process.start()
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


@pytest.fixture
def prepared(database_url: str, history: Path) -> str:
    """The name of a database in which everything was said and waits: to copy."""
    with Store.open(database_url, size=1) as store:
        import_file(store, history, tenant_id=compact.TENANT, now=compact.UNTIL)
        with store.transaction(compact.TENANT) as conn:
            rows = conn.execute("select subject_id, session_id, count(*), max(said_at) from log.turns group by 1, 2")
            sessions = [Waiting(subject_id=a, session_id=b, turns=n, said_at=at, quiet=True) for a, b, n, at in rows]
            enqueue(conn, compact.TENANT, sessions, policy=load_policy("reverie"), at=compact.UNTIL)
    return database_name(database_url)


def outcome(conn: psycopg.Connection[Any]) -> tuple[dict[str, TableDigest], Any]:
    with conn.transaction():
        conn.execute("select set_config('reverie.tenant', %s, true)", [compact.TENANT])
        tables = digest_of(conn, compact.TENANT).tables
    return tables, conn.execute("select count(*) from ops.queue").fetchone()


def test_killed_anywhere_and_taken_over(prepared: str, database_factory: DatabaseFactory, tmp_path: Path) -> None:
    trace = tmp_path / "moments.json"
    with database_factory.copy(prepared) as url, connect(url) as conn:
        assert run(url, compact.UNTIL, trace=trace) == 0
        clean, moments = outcome(conn), json.loads(trace.read_text())
        assert clean[1] == (0,)
        assert clean[0]["memories"].rows > 10
    for moment in random.Random("drain").sample(range(1, moments), KILLS):
        with database_factory.copy(prepared) as url, connect(url) as conn:
            assert run(url, compact.UNTIL, kill_at=moment) == -signal.SIGKILL
            held = conn.execute("select count(*) from ops.queue where lease_id is not null").fetchone()
            assert run(url, compact.UNTIL) == 0
            # what the dead one held is still held
            assert conn.execute("select count(*) from ops.queue").fetchone() == held, moment
            assert run(url, compact.UNTIL + LEASE) == 0
            assert outcome(conn) == clean, moment
