"""Promise 2, statement by statement: a stage dies before and after its n-th, is repeated, and memory is the same.

Each stage at its busiest run on the sample history. The suite takes a spread of the moments; `make kills` takes all.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest

from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest_of
from tests.promises import every
from tests.promises.every import STAGES, TENANT, Severed, Snapshot, cloned
from tests.promises.forks import FORKS

pytestmark = pytest.mark.timeout(3600)

#: Moments of a stage that the suite takes; None: all.
SPREAD = None if os.environ.get("REVERIE_KILL_EVERY") else 3


@pytest.fixture(scope="module")
def snapshots(
    server_url: str, run_directory: Path, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Snapshot]]:
    with ExitStack() as opened:
        history = tmp_path_factory.mktemp("every") / "history.jsonl"
        yield every.busiest(server_url, run_directory.name, template, history, opened)


def chosen(snapshot: Snapshot, first: int) -> list[int]:
    """All moments of a run, 1-based, or a spread over it that always has the last commit's two."""
    moments = range(1, len(snapshot.moments) + 1)
    if SPREAD is None or len(moments) <= SPREAD:
        return list(moments)
    step = len(moments) // SPREAD
    return sorted({*moments[first % step :: step][:SPREAD]})


def work(url: str, snapshot: Snapshot, kill_at: int | None = None) -> int:
    """Run the stage in a process of its own; returns how it ended."""
    process = FORKS.Process(target=every.work, args=(url, snapshot.run, kill_at))
    process.start()
    process.join(120)
    assert process.exitcode is not None
    return process.exitcode


@pytest.mark.parametrize("stage", STAGES)
def test_the_process_dies(stage: str, snapshots: dict[str, Snapshot], server_url: str) -> None:
    snapshot = snapshots[stage]
    for moment in chosen(snapshot, 1):
        with cloned(server_url, snapshot) as url:
            assert work(url, snapshot, kill_at=moment) == -signal.SIGKILL
            with Store.open(url, size=1) as store, connect(url) as conn:
                snapshot.run.work(store)
                kind = snapshot.moments[moment - 1]
                assert digest_of(conn, TENANT).tables == snapshot.digest, f"moment {moment}: {kind}"


@pytest.mark.parametrize("stage", STAGES)
def test_the_backend_dies_and_the_process_lives_on(stage: str, snapshots: dict[str, Snapshot], server_url: str) -> None:
    snapshot = snapshots[stage]
    for moment in chosen(snapshot, 2):
        with cloned(server_url, snapshot) as url, Store.open(url, size=1) as store:
            severed = Severed(kill_at=moment, server_url=server_url, database=url.rpartition("/")[2])
            with severed.watched(), suppress(psycopg.OperationalError):
                snapshot.run.work(store)
            assert len(severed.kinds) >= moment
            snapshot.run.work(store)
            with connect(url) as conn:
                kind = snapshot.moments[moment - 1]
                assert digest_of(conn, TENANT).tables == snapshot.digest, f"moment {moment}: {kind}"
