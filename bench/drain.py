"""Sessions that become due at once, drained by one worker, beside the stages alone on the same turns.

python -m bench.drain [--sessions N] [--subjects N] [--tenants N] [--model]
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

from bench.pipeline import Noise, server
from bench.report import machine, print_table
from reverie.capture.append import insert_turns
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.drain import Drainer
from reverie.inference import Embedder, load_embedder
from reverie.model import Scope, Turn
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.queue import Waiting, enqueue
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work

NOW = datetime(2026, 5, 1, 12, 10, tzinfo=UTC)
SAID = NOW - timedelta(minutes=8)
TURNS = 4
POLICY = load_policy("reverie")
#: Sentences of the turns, some of which become memories.
SENTENCES = (
    "I love {0} more than anything.",
    "I live in {0} with my dog {1}.",
    "Yesterday I went to {0} with {1}.",
    "What do you think of {0}?",
    "I can't stand {0}.",
    "My sister {1} works at {0}.",
)
_NAMES = ("Lisbon", "Porto", "ramen", "Bruno", "Pune", "cilantro", "tennis", "Infosys", "jazz", "Delhi", "Ana", "Rosa")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split(":")[0])
    arguments.add_argument("--sessions", type=int, default=10_000)
    arguments.add_argument("--subjects", type=int, default=2_000)
    arguments.add_argument("--tenants", type=int, default=20)
    arguments.add_argument("--model", action="store_true", help="the real embedder; else random vectors")
    given = arguments.parse_args()
    embedder: Embedder = load_embedder("minilm", threads=2) if given.model else Noise()
    with server() as url, Store.open(url) as store:
        sessions = say(store, given.sessions, given.subjects, given.tenants)
        with connect(url) as conn:
            conn.execute("analyze")
        before, began = peak(), time.perf_counter()
        heard: list[float] = []
        drained = (
            Drainer(store=store, embedder=embedder, clock=lambda: NOW)
            .drain(on_batch=lambda _: heard.append(time.perf_counter()))
            .counts()
        )
        took, grown = time.perf_counter() - began, peak() - before
        assert drained["sessions"] == sessions, drained
        first, last = rate(heard, began, sessions, first=True), rate(heard, began, sessions, first=False)
        forget(url)
        began = time.perf_counter()
        for number in range(given.tenants):
            bare(store, f"tenant-{number}", embedder)
        floor = time.perf_counter() - began
    print(machine())
    print_table(
        f"{sessions:,} sessions of {TURNS} turns, {given.subjects:,} subjects, {given.tenants} tenants, due at once",
        ("", "seconds", "sessions a second", "of the stages alone"),
        [
            ("stages alone, a tenant at once", f"{floor:.1f}", f"{sessions / floor:,.0f}", "1.00"),
            ("drained by one worker", f"{took:.1f}", f"{sessions / took:,.0f}", f"{floor / took:.2f}"),
            ("its first tenth", "", f"{first:,.0f}", ""),
            ("its last tenth", "", f"{last:,.0f}", ""),
        ],
    )
    print(f"Batches: {drained['batches']:,}. Peak memory grew by {grown:.0f} MiB while it drained.")


def say(store: Store, sessions: int, subjects: int, tenants: int) -> int:
    """Write turns and queue their sessions; return the number of sessions."""
    dice = random.Random(7)
    by_tenant: dict[str, list[tuple[str, str]]] = {}
    for number in range(sessions):
        subject = number % subjects
        by_tenant.setdefault(f"tenant-{subject % tenants}", []).append((f"subject-{subject}", f"session-{number}"))
    for tenant_id, places in by_tenant.items():
        turns = [
            Turn(
                tenant_id=tenant_id,
                subject_id=subject,
                session_id=session,
                source_id=str(place),
                role="user",
                speaker=None,
                said_at=SAID + timedelta(seconds=place),
                text=dice.choice(SENTENCES).format(*dice.sample(_NAMES, 2)),
            )
            for subject, session in places
            for place in range(TURNS)
        ]
        waiting = [
            Waiting(subject_id=subject, session_id=session, turns=TURNS, said_at=SAID) for subject, session in places
        ]
        with store.transaction(tenant_id) as conn:
            ensure_tenant(conn, tenant_id, "reverie")
            insert_turns(conn, tenant_id, turns)
            enqueue(conn, tenant_id, waiting, policy=POLICY, at=SAID)
    return sessions


def bare(store: Store, tenant_id: str, embedder: Embedder) -> None:
    """Do the same work without a queue."""
    common: dict[str, Any] = {"scope": Scope(tenant_id=tenant_id), "policy": POLICY, "embedder": embedder}
    for _ in chain(ingest(Work(store=store, as_of=NOW, **common)), catch_up(Work(store=store, as_of=NOW, **common))):
        pass


def forget(url: str) -> None:
    """Delete derived data and the cache."""
    with connect(url) as conn:
        tables = conn.execute(
            "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'memory'"
        ).fetchall()
        names = ", ".join([*(row[0] for row in tables), "ops.runs", "ops.embeddings"])
        conn.execute(f"truncate {names}")


def rate(heard: list[float], began: float, sessions: int, *, first: bool) -> float:
    """Return sessions per second in the first or last tenth of the batches, assuming batches of equal size."""
    tenth = max(len(heard) // 10, 1)
    times = [began, *heard]
    took = times[tenth] - times[0] if first else times[-1] - times[-1 - tenth]
    return sessions * tenth / len(heard) / took


def peak() -> float:
    """Return the peak resident memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
