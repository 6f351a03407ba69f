"""A signal ends a command that takes long within seconds, at a place from which the next run goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.consolidate.extract.stage import extract
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, WordEmbedder, database_name
from tests.conftest import Databases

pytestmark = pytest.mark.timeout(240)

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
#: Enough that their vectors take longer than a signal may.
TURNS = 400
#: A policy without a judge of ends, which would take most of the time.
POLICY = "contact"
RUN = ("run", "--as-of", "2026-03-05", "--jobs", "2", "--policy", POLICY)
#: Seconds on a machine that does other things as well; on a quiet one it takes 3 at most.
PATIENCE = 12


def write_history(path: Path) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number in range(TURNS):
            subject, said_at = f"s{number % 16}", START + timedelta(minutes=number)
            text = f"Yesterday I bought book {number} and I love reading it by the lake with friend {number * 7}."
            record = {"subject_id": subject, "session_id": f"{subject}-{number // 100}", "source_id": str(number)}
            record |= {"role": "user", "said_at": said_at.isoformat(), "text": text}
            file.write(json.dumps(record) + "\n")
    return path


def variables(url: str) -> dict[str, str]:
    return {"DATABASE_URL": url, "REVERIE_TENANT": "acme", "REVERIE_THREADS": "2"}


def start(url: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from reverie.cli import main; main()", *arguments],
        env=os.environ | variables(url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(url: str, *arguments: str) -> None:
    """Give a command that nobody interrupts, in this process."""
    done = CliRunner(env=variables(url)).invoke(reverie, arguments)
    assert done.exit_code == 0, done.output


def until(process: subprocess.Popen[str], is_so: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 120
    while not is_so():
        assert process.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.05)


def interrupt(process: subprocess.Popen[str], number: signal.Signals, times: int = 1) -> tuple[float, str]:
    """Send a signal; returns the seconds until the process had ended, and what it said."""
    began = time.monotonic()
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.2)
    _, errors = process.communicate(timeout=60)
    return time.monotonic() - began, errors


def embedding(url: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a run where every turn was read; it has just begun to embed."""
    read = "select sum(attempts) from ops.runs where stage = 'extract'"
    with psycopg.connect(url, autocommit=True) as conn:
        before = conn.execute(read).fetchone()
        process = start(url, *arguments)
        until(process, lambda: conn.execute(read).fetchone() != before)
    return process


@pytest.fixture(scope="module")
def imported(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Makes a copy of a database into which the history was imported and in which it was read, once for all tests."""
    history = write_history(tmp_path_factory.mktemp("signals") / "history.jsonl")
    with database_factory.migrated() as url:
        finish(url, "import", str(history))
        work: dict[str, Any] = {"scope": Scope(tenant_id="acme"), "policy": load_policy(POLICY)}
        with Store.open(url, size=1) as store:
            extract(Work(store=store, as_of=datetime(2026, 3, 5, tzinfo=UTC), embedder=WordEmbedder(), **work))
        yield partial(database_factory.copy, database_name(url))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_embeds_ends_soon_and_goes_on_later(number: signal.Signals, imported: Databases) -> None:
    with imported() as url, psycopg.connect(url, autocommit=True) as conn:
        process = embedding(url, *RUN)
        seconds, errors = interrupt(process, number)
        assert process.returncode == 130, errors
        assert seconds < PATIENCE
        assert ("Stopping at a clean point" in errors) == (number == signal.SIGINT)
        assert "run the command again to continue" in errors
        assert "Traceback" not in errors
        embedded = conn.execute("select count(*) from memory.vectors").fetchone()
        assert embedded is not None and embedded[0] < TURNS
        assert conn.execute("select count(*) from ops.runs where status = 'failed'").fetchone() == (0,)
        if number == signal.SIGTERM:
            return
        finish(url, *RUN)
        with Store.open(url) as store:
            interrupted = digest(store, "acme")
    with imported() as url, Store.open(url) as store:
        finish(url, *RUN)
        assert digest(store, "acme").tables == interrupted.tables


def test_a_second_signal_ends_at_once(imported: Databases) -> None:
    with imported() as url:
        process = embedding(url, "run", "--as-of", "2026-03-05", "--jobs", "1")
        seconds, errors = interrupt(process, signal.SIGINT, times=2)
    assert process.returncode == 130
    assert seconds < PATIENCE
    assert "Traceback" not in errors


def test_an_import_goes_on_where_it_was_interrupted(
    database_url: str, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    history = write_history(tmp_path / "history.jsonl")
    history.write_text(history.read_text(encoding="utf-8") * 90, encoding="utf-8")  # known turns count as work too
    process = start(database_url, "import", str(history))
    until(process, lambda: conn.execute("select count(*) from log.turns").fetchone() != (0,))
    seconds, errors = interrupt(process, signal.SIGINT)
    assert (process.returncode, seconds < PATIENCE) == (130, True), errors
    finish(database_url, "import", str(history))
    assert conn.execute("select count(*) from log.turns").fetchone() == (TURNS,)
