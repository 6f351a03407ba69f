"""Promise 2: kill -9 at any point, then retry: the same memory, digest for digest, as the clean run.

The whole pipeline; `test_every_statement.py` kills its stages at each statement.
"""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from reverie.store.connect import connect
from reverie.store.digest import TableDigest, digest_of
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.forks import FORKS
from tests.promises.killing import work

pytestmark = pytest.mark.timeout(240)

KILLS_A_STAGE = 3
#: `make kills` takes more.
KILLS_BY_THE_CLOCK = 40 if os.environ.get("REVERIE_KILL_EVERY") else 2


#: What each stage must have written for the promise to mean something.
WRITTEN = {
    "extract": ("turns", "candidates"),
    "embed": ("turns", "memories"),
    "signal": ("moods", "days"),
    "merge": ("merged",),
    "link": ("links", "entities"),
    "facts": ("structured", "replaced"),
    "synthesize": (),  # see test_profiles.py
    "score": ("recalled", "rewarded"),
    "decay": (),
    "compress": ("patterns", "replaced", "summaries", "ranges"),
    "prune": ("forgotten",),
    "log": ("turns", "outcomes", "recalls"),
    "ops": ("dead_letters",),
}

Counts = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Clean:
    """What an undisturbed run came to."""

    history: Path
    digest: dict[str, TableDigest]
    #: Rows written, by stage and count, summed over the ledger; and rows of the log.
    counts: Counts
    #: Each moment of the run: stage, kind, and whether that stage run did anything.
    moments: list[tuple[str, str, bool]]
    seconds: float
    #: Memories that somebody asks for later.
    asked_for: list[UUID]


@pytest.fixture(scope="module")
def clean(databases: Databases, history: Path, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    trace = tmp_path_factory.mktemp("clean") / "trace.json"
    with databases() as url, connect(url) as conn:
        assert run(url, history) == 0
        asked_for = [
            row[0]
            for row in conn.execute(
                """select memory_id from memory.lineage l join log.turns t on t.id = l.source_id
                   where relation = 'extracted' and text ~ 'shoes|texts to emails|Infosys' order by 1"""
            )
        ]
    with databases() as url, connect(url) as conn:
        ask(conn, asked_for)
        assert run(url, history, trace=trace) == 0
        moments = [(stage, kind, busy) for stage, kind, busy in json.loads(trace.read_text())]
        (seconds,) = conn.execute("select sum(seconds) from ops.runs").fetchone() or (0,)
        state = outcome(conn)
        check_that_much_happened(conn)
    return Clean(history, *state, moments, seconds, asked_for)


def run(
    url: str, history: Path, *, kill_at: int | None = None, trace: Path | None = None, kill_after: float = 0
) -> int:
    """Work in a process of its own; returns how it ended. `kill_after` kills it from outside after so many seconds."""
    process = FORKS.Process(target=work, args=(url, history, kill_at, trace))
    process.start()
    if kill_after:
        process.join(kill_after)
        process.kill()
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


def ask(conn: psycopg.Connection[Any], memories: list[UUID]) -> None:
    """Recalls that the log holds before the run: two weeks and eight weeks in."""
    for number, days in enumerate((14, 56)):
        conn.execute(
            """insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped)
               values (%s, %s, 'ana', %s + make_interval(days => %s), 'Who is Bruno?', 'p', %s, 0)""",
            [compact.TENANT, UUID(int=number + 1), compact.START, days, memories],
        )


def outcome(conn: psycopg.Connection[Any]) -> tuple[dict[str, TableDigest], Counts]:
    """The digest, table by table, and what the ledger says was written."""
    written = ("turns", "candidates", "memories", "merged", "links", "entities", "structured", "recalled", "rewarded")
    counts: Counts = Counter()
    for stage, report in conn.execute("select stage, report from ops.runs").fetchall():
        for name in (*written, "patterns", "replaced", "summaries", "ranges", "forgotten"):
            counts[stage, name] += report.get(name, 0)
    for table in ("turns", "outcomes", "recalls"):
        counts["log", table] = count(conn, f"log.{table}")
    counts["ops", "dead_letters"] = count(conn, "ops.dead_letters")
    return digest_of(conn, compact.TENANT).tables, dict(counts)


def count(conn: psycopg.Connection[Any], table: str) -> int:
    found = conn.execute(f"select count(*) from {table}").fetchone()  # type: ignore[arg-type]  # noqa: S608
    assert found is not None
    return int(found[0])


def check_that_much_happened(conn: psycopg.Connection[Any]) -> None:
    """A promise kept over nothing would be easy to keep."""
    _, counts = outcome(conn)
    idle = [key for key, number in counts.items() if not number and key[1] in WRITTEN[key[0]]]
    assert not idle, idle
    assert count(conn, "memory.memories") > 10
    assert count(conn, "memory.accesses") == 2


def chosen(clean: Clean, stage: str) -> list[int]:
    """Numbers of moments of a stage, 1-based: around a commit, and anywhere, where something is done if it ever is."""
    dice = random.Random(f"kill {stage}")
    of_stage = [(number, kind) for number, (name, kind, busy) in enumerate(clean.moments, 1) if name == stage and busy]
    of_stage = of_stage or [(n, kind) for n, (name, kind, _) in enumerate(clean.moments, 1) if name == stage]
    picked = [
        dice.choice([n for n, kind in of_stage if kind == wanted]) for wanted in ("before commit", "after commit")
    ]
    rest = [n for n, _ in of_stage if n not in picked]
    return sorted(picked + dice.sample(rest, KILLS_A_STAGE - len(picked)))


def test_killed_in_the_import_and_repeated(clean: Clean, databases: Databases) -> None:
    """Each retry is killed as well, but the last."""
    with databases() as url, connect(url) as conn:
        ask(conn, clean.asked_for)
        for moment in chosen(clean, "import"):
            assert run(url, clean.history, kill_at=moment) == -signal.SIGKILL
        assert run(url, clean.history) == 0
        assert outcome(conn) == (clean.digest, clean.counts)


def test_killed_from_outside_at_any_time(clean: Clean, databases: Databases) -> None:
    dice = random.Random("clock")
    killed = 0
    for _ in range(KILLS_BY_THE_CLOCK):
        with databases() as url, connect(url) as conn:
            ask(conn, clean.asked_for)
            killed += run(url, clean.history, kill_after=dice.uniform(0.05, clean.seconds)) == -signal.SIGKILL
            assert run(url, clean.history) == 0
            assert outcome(conn) == (clean.digest, clean.counts)
    assert killed


def test_killed_again_and_again(clean: Clean, databases: Databases) -> None:
    dice = random.Random("again")
    with databases() as url, connect(url) as conn:
        ask(conn, clean.asked_for)
        kills = 0
        while run(url, clean.history, kill_at=dice.randint(40, len(clean.moments) // 4)) != 0:
            kills += 1
            assert kills < 60
        assert kills >= 4
        assert outcome(conn) == (clean.digest, clean.counts)
