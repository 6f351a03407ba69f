"""Promise 2, where it is the database that dies: a stage does not wait for the disk, so its last work may be lost.

What is lost is an end of it, ledger rows and all; nothing of the log is; and the next run does it again.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest_of
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.work import Work
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.test_crash import count
from tests.promises.world import WordEmbedder, scope

#: After how many stage runs the server dies, each time since it last did.
LIVES = (8, 50)


@pytest.fixture
def server() -> Iterator[EmbeddedPostgres]:
    """A server as durable as a user's, but for the pace at which it writes what nobody waits for."""
    directory = Path(tempfile.mkdtemp(prefix="reverie_dying_"))
    directory.chmod(0o711)  # the server may run as another user
    postgres = EmbeddedPostgres(directory / "postgres")
    migrate(postgres.start())
    with connect(postgres.url()) as conn:
        conn.execute("alter system set wal_writer_delay = '10s'")
        conn.execute("alter system set wal_writer_flush_after = '1GB'")
        conn.execute("select pg_reload_conf()")
    yield postgres
    postgres.stop()
    shutil.rmtree(directory)


def run(url: str, history: Path, *, dies_after: int | None = None, postmaster: int = 0) -> None:
    """Import, ingest and catch up; after so many stage runs the server dies, as in a crash."""
    common = {"scope": scope(compact.TENANT), "policy": compact.policy(), "embedder": WordEmbedder()}
    done = 0
    with Store.open(url, size=1) as store:
        import_file(store, history, tenant_id=compact.TENANT, now=compact.UNTIL)
        for reports in (
            ingest(Work(store=store, as_of=compact.UNTIL, **common)),  # type: ignore[arg-type]
            catch_up(Work(store=store, as_of=compact.UNTIL, **common)),  # type: ignore[arg-type]
        ):
            for _ in reports:
                done += 1
                if done == dies_after:
                    die(postmaster)
                    return


def die(postmaster: int) -> None:
    """End the server without a checkpoint, and what it had not written with it."""
    process = psutil.Process(postmaster)
    os.kill(postmaster, signal.SIGQUIT)
    process.wait(30)


def test_what_a_dying_server_lost_is_done_again(server: EmbeddedPostgres, history: Path, databases: Databases) -> None:
    with databases() as url, connect(url) as conn:
        run(url, history)
        clean, turns = digest_of(conn, compact.TENANT).tables, count(conn, "log.turns")
    lost = False
    for life in LIVES:
        postmaster = server.status().pid
        assert postmaster
        with connect(server.url()) as conn:
            before = count(conn, "ops.runs")
        run(server.url(), history, dies_after=life, postmaster=postmaster)
        server.start()
        with connect(server.url()) as conn:
            assert count(conn, "log.turns") == turns  # what was acknowledged is there
            lost |= count(conn, "ops.runs") < before + life
    assert lost, "the server lost nothing, so that nothing was tried"
    run(server.url(), history)
    with connect(server.url()) as conn:
        assert digest_of(conn, compact.TENANT).tables == clean
