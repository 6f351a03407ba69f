"""Promise 2 with a language model: killed anywhere while it reads turns, the retry pays for nothing twice."""

from __future__ import annotations

import signal
from itertools import count
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.consolidate.extract.stage import extract
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest_of
from reverie.store.work import Work
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.forks import FORKS
from tests.promises.killing import Moments
from tests.promises.notetaker import NoteTaker
from tests.promises.world import WordEmbedder, scope

pytestmark = pytest.mark.timeout(240)

#: From kill to kill so many moments more: a retry goes on where the one before stopped.
STEP = 7


def work(url: str, history: Path, kill_at: int | None) -> None:
    """Import, and read by rule and by model."""
    moments = Moments(kill_at=kill_at)
    with Store.open(url, size=1) as store:
        import_file(store, history, tenant_id=compact.TENANT, now=compact.UNTIL)
        moments.watch()
        extract(
            Work(
                store=store,
                scope=scope(compact.TENANT),
                policy=compact.policy(),
                as_of=compact.UNTIL,
                embedder=WordEmbedder(),
                language_model=NoteTaker(),
            )
        )


def run(url: str, history: Path, kill_at: int | None = None) -> int | None:
    process = FORKS.Process(target=work, args=(url, history, kill_at))
    process.start()
    process.join(60)
    return process.exitcode


def test_killed_again_and_again_it_pays_once(databases: Databases, history: Path) -> None:
    with databases() as url, connect(url) as conn:
        assert run(url, history) == 0
        clean = digest_of(conn, compact.TENANT)
        (items, noted) = conn.execute(
            "select (select sum(items) from ops.calls), (select count(*) from memory.memories where model = 'notes')"
        ).fetchone() or (0, 0)
        assert noted > 10
    with databases() as url, connect(url) as conn:
        for kills in count():
            code = run(url, history, kill_at=1 + STEP * kills)
            if code == 0:
                break
            assert code == -signal.SIGKILL
        assert kills > 5
        assert digest_of(conn, compact.TENANT) == clean
        asked = conn.execute("select count(*), sum(items) from ops.calls where state = 'done'").fetchone()
        kept = conn.execute("select count(distinct call_id), count(*) from ops.replies").fetchone()
        assert asked == kept and kept is not None and kept[1] == items
