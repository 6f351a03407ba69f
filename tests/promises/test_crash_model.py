"""Promise 2 with a language model: compress killed between any two statements, then repeated: the same memory, and
nothing that was answered is asked again."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.consolidate.compress.stage import compress
from reverie.inference.completions import Completion, Limits
from reverie.inference.prompts import Messages
from reverie.inference.recorded import asked_items
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import TableDigest, digest_of
from reverie.store.work import Work
from tests.conftest import Databases
from tests.consolidate.test_compress import MARCH, MODEL, TENANT, say, suggest_posts, tell_of_bruno
from tests.models.scripted_server import reply_to
from tests.promises.forks import FORKS
from tests.promises.killing import Moments
from tests.promises.world import WordEmbedder

pytestmark = pytest.mark.timeout(240)

#: `make kills` takes more.
KILLS = 30 if os.environ.get("REVERIE_KILL_EVERY") else 4


class AllMoments(Moments):
    """Counts those of the threads that ask, too: one at a time, since the model is asked one thing at a time."""

    def pass_by(self, kind: str) -> None:
        """A moment has come; the pool's own threads open connections when they like."""
        if threading.current_thread().name.startswith("ThreadPoolExecutor"):
            self.come(kind)
        else:
            super().pass_by(kind)


class WellSpoken:
    """Answers well, and notes that it was asked."""

    key = "ours"
    limits = Limits(concurrency=1)

    def __init__(self, notes: Path) -> None:
        self._notes = notes

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        """One reply an item."""
        replies = [{"number": number} | reply_to(item) for number, item in asked_items(messages)]
        with self._notes.open("a") as notes:
            notes.write(f"{len(replies)}\n")
        text = json.dumps({"replies": replies})
        return Completion(text=text, truncated=False, tokens_in=1, tokens_out=1, cost_usd=0.0, seconds=0.0)

    def most_usd(self, messages: Messages, *, max_tokens: int) -> float:
        """Nothing."""
        return 0.0


def policy() -> Policy:
    """Every part of compress has something to do."""
    ours = load_policy("reverie")
    numbers = {"theme_similarity": 0.6, "contrast_ratio": 1.5, "session_threshold": 2, "running_turns": 20}
    return ours.model_copy(update={"compress": ours.compress.model_copy(update=numbers)})


def prepare(conn: psycopg.Connection[Any]) -> None:
    """Two themes of two subjects, two old sessions, and a running one of thirty turns."""
    tell_of_bruno(conn)
    suggest_posts(conn)
    for number in range(1, 4):
        at = MARCH + timedelta(days=30 + number)
        for turn in range(30 if number == 3 else 2):
            said = f"We looked at house number {turn} in the town of Kerpen today."
            say(conn, said, at + timedelta(minutes=turn), session=f"s{number}")


def work(url: str, notes: Path, kill_at: int | None = None, trace: Path | None = None) -> None:
    """Compress once, as of always the same time."""
    moments = AllMoments(kill_at=kill_at)
    with Store.open(url, size=2) as store:
        moments.watch()
        compress(
            Work(
                store=store,
                scope=Scope(tenant_id=TENANT),
                policy=policy(),
                as_of=MARCH + timedelta(days=40),
                embedder=WordEmbedder(MODEL),
                language_model=WellSpoken(notes),
            )
        )
    if trace:
        trace.write_text(str(len(moments.kinds)))


def run(url: str, notes: Path, **given: Any) -> int:
    """Work in a process of its own; returns how it ended."""
    process = FORKS.Process(target=work, args=(url, notes), kwargs=given)
    process.start()
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


def outcome(conn: psycopg.Connection[Any]) -> tuple[dict[str, TableDigest], list[tuple[Any, ...]]]:
    """The digest, and the new memories by their makers."""
    made = conn.execute(
        """select origin, model, turn_start, turn_end from memory.memories where kind in ('pattern', 'summary')
           order by happened_at, id"""
    ).fetchall()
    return digest_of(conn, TENANT).tables, made


def asked(notes: Path) -> int:
    return len(notes.read_text().splitlines()) if notes.exists() else 0


def test_killed_anywhere_and_repeated(databases: Databases, tmp_path: Path) -> None:
    trace, notes = tmp_path / "moments", tmp_path / "clean"
    with databases() as url, connect(url) as conn:
        prepare(conn)
        assert run(url, notes, trace=trace) == 0
        clean, requests, moments = outcome(conn), asked(notes), int(trace.read_text())
        assert {(origin.partition(":")[0], start, end) for origin, _, start, end in clean[1]} >= {
            ("theme", None, None), ("session", 1, 2), ("range", 1, 10), ("range", 11, 20),
        }  # fmt: skip
        assert {model for origin, model, _, _ in clean[1] if origin != "week"} == {"ours"}, "folds ask no model"
        assert run(url, notes) == 0
        assert (outcome(conn), asked(notes)) == (clean, requests), "repeated, nothing is asked"
    for moment in random.Random("model").sample(range(1, moments), KILLS):
        notes = tmp_path / f"killed {moment}"
        with databases() as url, connect(url) as conn:
            prepare(conn)
            assert run(url, notes, kill_at=moment) == -signal.SIGKILL
            assert run(url, notes) == 0
            assert outcome(conn) == clean, moment
            assert asked(notes) <= requests + 1, "only what was under way is asked again"
