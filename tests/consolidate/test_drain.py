"""drain: what went quiet becomes memory, once, whoever works on it and whatever goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.advance import clearing
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.drain import BATCH, LEASE, PAUSE, Drainer
from reverie.errors import InferenceError, StageError
from reverie.evaluate.health import measure
from reverie.inference import Vectors
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.queue import Waiting, claim, enqueue, requeue
from reverie.store.work import Work
from tests.promises.world import WordEmbedder

NOW = datetime(2026, 5, 1, 12, 3, tzinfo=UTC)
POLICY = load_policy("reverie")
EMBEDDER = WordEmbedder()

Conn = psycopg.Connection[Any]
Say = Callable[..., None]


@pytest.fixture
def say(store: Store, tmp_path: Path) -> Say:
    """Somebody says something: a turn in the log, its session in the queue."""

    def one(
        subject: str, session: str, text: str, *, tenant: str = "t", at: datetime = NOW - timedelta(minutes=6)
    ) -> None:
        record = {"subject_id": subject, "session_id": session, "role": "user", "said_at": at.isoformat(), "text": text}
        path = tmp_path / "one.jsonl"
        path.write_text(json.dumps(record) + "\n")
        import_file(store, path, tenant_id=tenant, now=NOW)
        with store.transaction(tenant) as conn:
            enqueue(conn, tenant, [Waiting(subject_id=subject, session_id=session, said_at=at)], policy=POLICY, at=at)

    return one


def work(store: Store, **given: Any) -> dict[str, int | float]:
    how = {name: given.pop(name) for name in ("as_of", "most", "stop", "on_batch") if name in given}
    return Drainer(store=store, **{"embedder": EMBEDDER, "clock": lambda: NOW} | given).drain(**how).counts()


def queued(conn: Conn) -> list[tuple[str, str]]:
    return conn.execute("select subject_id, session_id from ops.queue order by 1, 2").fetchall()


def remembered(conn: Conn) -> list[tuple[str, str]]:
    return conn.execute(
        "select subject_id, content from memory.memories where state = 'active' order by 1, 2"
    ).fetchall()


def test_what_is_due_becomes_memory_and_leaves(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I can't stand spicy ramen.")
    say("ana", "s2", "I live in Mumbai.", at=NOW - timedelta(minutes=1))
    say("ben", "s3", "I'm allergic to peanuts")
    found = work(store)
    assert (found["sessions"], found["subjects"], found["batches"], found["failed"]) == (2, 2, 1, 0)
    assert found["longest_wait_seconds"] == 60  # both fell due five minutes after six ago
    assert queued(conn) == [("ana", "s2")]
    # what was said up to now is worked in with the subject's turn; the session that still goes on leaves when it is due
    assert remembered(conn) == [
        ("ana", "Doesn't like spicy ramen"), ("ana", "Lives in Mumbai"), ("ben", "Is allergic to peanuts")
    ]  # fmt: skip
    assert work(store, clock=lambda: NOW + timedelta(minutes=5))["sessions"] == 1
    assert queued(conn) == []
    assert conn.execute("select distinct stage from ops.runs where status = 'failed'").fetchall() == []
    done = conn.execute("select report ->> 'sessions' from ops.runs where stage = 'drain' order by as_of").fetchall()
    assert done == [("2",), ("1",)]


def test_nothing_due_is_nothing_done(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I can't stand spicy ramen.", at=NOW)
    assert work(store)["batches"] == 0
    assert conn.execute("select count(*) from ops.runs").fetchone() == (0,)


def test_the_same_memory_as_the_cycle_makes(store: Store, say: Say, conn: Conn) -> None:
    for day in range(20, 0, -1):
        say("ana", f"s{day}", f"I visited museum number {day} yesterday.", at=NOW - timedelta(days=day))
    work(store)
    by_the_queue = digest(store, "t")
    forget(conn)
    common: dict[str, Any] = {"scope": Scope(tenant_id="t"), "policy": POLICY, "embedder": EMBEDDER}
    for _ in (*ingest(Work(store=store, as_of=NOW, **common)), *catch_up(Work(store=store, as_of=NOW, **common))):
        pass
    assert digest(store, "t") == by_the_queue
    assert conn.execute("select count(*) from memory.memories where kind in ('pattern', 'summary')").fetchone() != (0,)


VISIT = "I visited the {} museum with Dr. Lee, and my dog Rex barked at painting number {}."
PLACES = ("Viking", "Railway", "Maritime", "Poster", "Toy", "Chess", "Ski")


def test_a_running_session_is_compressed_when_it_is_worked_in(store: Store, say: Say, conn: Conn) -> None:
    """Chat flow 1: at turn 21 the first ten are told in a range, long before the cycle of 18:00."""
    chat = load_policy("chat")
    began = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
    later = began + timedelta(minutes=90)
    told = [(began + timedelta(minutes=n), VISIT.format(PLACES[n % 7], n)) for n in range(21)]
    # what the second half names may get an entity only after the first range was made
    told += [(later + timedelta(minutes=n), f"My cat Viking ate {n} fish.") for n in range(10)]
    for at, text in told[:21]:
        say("ana", "s1", text, at=at)
    conn.execute("update ops.tenants set policy = 'chat' where tenant_id = 't'")
    early = began + timedelta(hours=1)
    assert work(store, clock=lambda: early)["sessions"] == 1
    ranges = "select turn_start, turn_end, state from memory.memories where kind = 'summary' order by turn_start"
    assert conn.execute(ranges).fetchall() == [(1, 10, "active")]
    before = digest(store, "t")
    work(store, clock=lambda: early)
    assert digest(store, "t") == before
    for at, text in told[21:]:
        say("ana", "s1", text, at=at)
    late = later + timedelta(hours=1)
    assert work(store, clock=lambda: late)["sessions"] == 1
    assert conn.execute(ranges).fetchall() == [(1, 10, "active"), (11, 20, "active")]
    live = digest(store, "t")
    forget(conn)
    common: dict[str, Any] = {"scope": Scope(tenant_id="t"), "policy": chat, "embedder": EMBEDDER, "as_of": late}
    for _ in (*ingest(Work(store=store, **common)), *catch_up(Work(store=store, **common))):
        pass
    assert digest(store, "t") == live


def forget(conn: Conn) -> None:
    for (table,) in conn.execute(
        "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'memory'"
    ).fetchall():
        conn.execute(f"truncate {table}")
    conn.execute("truncate ops.runs")


class Busy(WordEmbedder):
    """While it works, something happens."""

    def __init__(self, happens: Callable[[], None]) -> None:
        self._happens = happens

    def encode(self, texts: Any) -> Vectors:
        happens, self._happens = self._happens, lambda: None
        happens()
        return super().encode(texts)


def test_a_session_that_gets_turns_meanwhile_stays(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I can't stand spicy ramen.")
    later = NOW + timedelta(seconds=1)
    found = work(store, embedder=Busy(lambda: say("ana", "s1", "I live in Mumbai.", at=later)))
    assert (found["sessions"], found["kept"]) == (0, 1)
    assert conn.execute("select turns, attempts, lease_id, first_at, due_at from ops.queue").fetchall() == [
        (1, 0, None, later, later + timedelta(minutes=5))
    ]
    assert work(store, clock=lambda: later + timedelta(minutes=5))["sessions"] == 1
    assert len(remembered(conn)) == 2


def test_a_turn_said_later_than_now_waits_until_then(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I can't stand spicy ramen.")
    ahead = NOW + timedelta(hours=2)
    with store.transaction("t") as worker:
        enqueue(
            worker, "t", [Waiting(subject_id="ana", session_id="s1", said_at=ahead, quiet=True)], policy=POLICY, at=NOW
        )
    assert work(store)["kept"] == 1
    assert conn.execute("select due_at from ops.queue").fetchall() == [(ahead,)]


def test_two_never_work_on_one_subject(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I can't stand spicy ramen.")
    say("ben", "s1", "I can't stand spicy ramen.")
    seen: list[dict[str, int | float]] = []

    def another() -> None:
        say("ana", "s9", "I live in Mumbai.")
        say("cyd", "s1", "I live in Bergen")
        seen.append(work(store))

    assert work(store, embedder=Busy(another))["sessions"] == 3  # and then ana's other session
    assert [(one["subjects"], one["sessions"]) for one in seen] == [(1, 1)]
    assert queued(conn) == []


def test_tenants_take_turns(store: Store, say: Say, conn: Conn) -> None:
    for tenant, subjects in (("big", 7), ("late", 1)):
        for number in range(subjects):
            say(f"{tenant}{number}", "s1", "I can't stand spicy ramen.", tenant=tenant)
    order: list[tuple[float, float]] = []
    drained = Drainer(store=store, embedder=EMBEDDER, clock=lambda: NOW, batch=2).drain(
        on_batch=lambda so_far: order.append(tuple(so_far.tenants[name]["sessions"] for name in ("big", "late")))
    )
    assert order == [(2, 0), (2, 1), (4, 1), (6, 1), (7, 1)]
    assert drained.counts()["sessions"] == 8
    assert BATCH > 7
    assert work(store, most=0)["batches"] == 0


class Broken(WordEmbedder):
    """Fails for what holds a word."""

    def __init__(self, word: str, error: Exception | None = None) -> None:
        self.word = word
        self._error = error or InferenceError("The model gave no answer.")

    def encode(self, texts: Any) -> Vectors:
        if any(self.word in text for text in texts):
            raise self._error
        return super().encode(texts)


def test_one_that_fails_is_tried_alone_and_becomes_a_dead_letter(store: Store, say: Say, conn: Conn) -> None:
    for subject in ("ana", "ben", "cyd"):
        say(subject, "s1", "I can't stand spicy ramen." if subject != "ben" else "I'm allergic to gourd")
    clock, broken = NOW, Broken("gourd")
    with pytest.raises(StageError, match=r"^All 3 sessions that were tried failed. t: The model gave no answer.$"):
        work(store, embedder=broken)
    assert conn.execute("select distinct attempts, error, due_at, lease_id from ops.queue").fetchall() == [
        (1, "The model gave no answer.", NOW + PAUSE, None)
    ]
    for attempt in range(2, POLICY.queue.attempts + 1):
        (clock,) = conn.execute("select min(due_at) from ops.queue").fetchone() or (clock,)
        if attempt == 2:
            found = work(store, embedder=broken, as_of=clock)
            assert (found["batches"], found["sessions"], found["failed"]) == (3, 2, 1)
        else:
            with pytest.raises(StageError):
                work(store, embedder=broken, as_of=clock)
    assert queued(conn) == []
    assert [subject for subject, _ in remembered(conn)] == ["ana", "cyd"]
    assert conn.execute(
        "select source, reason, detail, attempts, subject_id, session_id, payload from ops.dead_letters"
    ).fetchall() == [
        ("queue", "not_worked_in",
         "Session s1 of ben could not be consolidated in 5 attempts. The model gave no answer.", 5, "ben", "s1", None)
    ]  # fmt: skip
    assert clock - NOW == timedelta(minutes=1 + 4 + 16 + 64)
    # two are done by now, in runs of their own; the third's failures wait for a person
    assert measure(store, "t")["failed_runs"] == 2 * POLICY.queue.attempts

    with store.transaction("t") as worker:
        assert requeue(worker, "t", at=clock) == 1
    assert work(store, clock=lambda: clock)["sessions"] == 1
    assert len(remembered(conn)) == 3
    assert conn.execute("select count(*) from ops.dead_letters").fetchone() == (0,)
    assert measure(store, "t")["failed_runs"] == 0


def test_a_foreign_error_tells_nothing_that_was_said(
    store: Store, say: Say, conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    say("ana", "s1", "I can't stand spicy ramen.")

    def fail(*_: object, **__: object) -> None:
        raise ValueError("I can't stand spicy ramen.")

    monkeypatch.setattr("reverie.drive.drain.catch_up", fail)
    with pytest.raises(StageError, match="t: ValueError$") as caught:
        work(store)
    assert caught.value.__cause__ is None
    assert conn.execute("select error from ops.queue").fetchall() == [("ValueError",)]
    assert conn.execute("select distinct error from ops.runs where status = 'failed'").fetchall() == [("ValueError",)]


def test_one_tenant_that_fails_does_not_keep_the_others(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I'm allergic to gourd", tenant="a")
    say("ana", "s1", "I can't stand spicy ramen.", tenant="b")
    conn.execute("update ops.tenants set policy = 'nowhere.toml' where tenant_id = 'a'")
    found = work(store)
    assert (found["sessions"], found["failed"]) == (1, 1)
    conn.execute("update ops.queue set attempts = 50")
    with pytest.raises(StageError, match="a: There is no policy"):
        work(store, clock=lambda: NOW + timedelta(hours=1))
    assert queued(conn) == [("ana", "s1")]  # nobody's fault but the policy's: it uses up no attempt


def test_a_worker_that_died_is_followed_by_another(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I can't stand spicy ramen.")
    died_at = NOW - LEASE
    for attempt in range(POLICY.queue.attempts):
        at = died_at + attempt * LEASE
        with store.transaction("t") as worker:
            assert claim(worker, "t", as_of=NOW, at=at, until=at + LEASE, limit=9) is not None
            assert claim(worker, "t", as_of=NOW, at=at, until=at + LEASE, limit=9) is None
    assert work(store)["batches"] == 0
    found = work(store, clock=lambda: died_at + POLICY.queue.attempts * LEASE)
    assert (found["sessions"], found["dead"]) == (0, 1)
    assert conn.execute("select detail from ops.dead_letters").fetchall() == [
        ("Session s1 of ana could not be consolidated in 6 attempts. Its worker died each time.",)
    ]


def test_a_lease_is_renewed_by_who_works_and_lost_by_who_does_not(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I can't stand spicy ramen.")
    times: Iterator[datetime] = iter([NOW] * 4 + [NOW + LEASE * 0.7] * 99)
    assert Drainer(store=store, embedder=EMBEDDER, clock=lambda: next(times)).drain().counts()["sessions"] == 1

    say("ben", "s1", "I'm vegan")
    clock = [NOW]

    def sleep_too_long() -> None:
        clock[0] = NOW + 2 * LEASE
        assert work(store, clock=lambda: clock[0])["sessions"] == 1

    with pytest.raises(StageError, match="lease ran out"):
        Drainer(store=store, embedder=Busy(sleep_too_long), clock=lambda: clock[0]).drain(as_of=NOW)
    assert queued(conn) == []
    assert len(remembered(conn)) == 2


def test_the_periodic_tier_clears_the_queue(store: Store, say: Say, conn: Conn) -> None:
    say("ana", "s1", "I can't stand spicy ramen.")
    say("ben", "s1", "I live in Mumbai.")
    say("cyd", "s1", "I'm allergic to peanuts", at=NOW + timedelta(minutes=1))
    scope = Scope(tenant_id="t")

    def cycle(policy: Policy) -> Iterator[Any]:
        yield from ingest(Work(store=store, scope=scope, policy=policy, as_of=NOW, embedder=EMBEDDER))
        say("ben", "s1", "I have a dog.", at=NOW)
        yield from catch_up(Work(store=store, scope=scope, policy=policy, as_of=NOW, embedder=EMBEDDER))

    *_, told = clearing(Work(store=store, scope=scope, policy=POLICY, as_of=NOW), cycle(POLICY))
    assert (told.stage, told["sessions"]) == ("drain", 1)
    assert queued(conn) == [("ben", "s1"), ("cyd", "s1")]
