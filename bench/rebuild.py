"""The time of a rebuild beside pg_restore of the same memory, and the times of a diff and a publish.

    python -m bench.rebuild [--turns 2000] [--subjects 20] [--memories 100000] [--clients 16]

Prints one JSON object. A synthetic history is imported and consolidated. Then a generation is built beside it with
every vector cached, and pg_restore restores a dump of the same database, one process each. A generation of another
policy is compared, published and reverted, while `--clients` connections ask `reverie serve` for recalls and contexts
and append turns, as fast as it answers. The diff of two synthetic memories of `--memories` rows each, a hundredth of
which differ, is timed as in `reverie diff --questions 0`. Needs the extra `embedded`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from bench.embed import fixed_texts
from bench.http_load import Connection, Request, closed_loop
from reverie.api.keys import add_key
from reverie.capture.history.importing import import_file
from reverie.drive.advance import advance
from reverie.generations.building import begin, build
from reverie.generations.catalog import GenerationPlan, LiveMemory, drop_generation, find_generation
from reverie.generations.memory_changes import memory_changes, read_frames
from reverie.generations.publishing import Publisher, publish, revert
from reverie.inference.loading import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.server.address import libpq_environment
from reverie.store.server.programs import programs
from reverie.store.session import perform
from reverie.store.work import Work
from reverie.testing import database

TENANT = "bench"
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
#: Turns per subject and day.
DAILY = 10
#: Seconds for which the clients ask before a publish begins.
SETTLE_SECONDS = 3

#: Memories with a turn each; one in a hundred has the text of `%(text)s`.
_MEMORIES = """
insert into memory.memories (tenant_id, id, happened_at, accessed_at, decayed_at, base, peak, importance, kind, state,
                             subject_id, content, content_hash, origin, run_id, policy_hash)
select 'bench', md5('m' || n)::uuid, now(), now(), now(), 0.5, 0.5, 0.5, 'fact', 'active', 's' || n %% 1000,
       'Memory ' || n,
       sha256(((case when n %% 100 = 0 then %(text)s else '' end) || n)::bytea), 'bench', md5('r')::uuid, 'x'
from generate_series(1, %(number)s) n
"""
_LINEAGE = """
insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
select 'bench', md5('m' || n)::uuid, 'extracted', 'turn', md5('t' || n)::uuid, now(), md5('r')::uuid
from generate_series(1, %(number)s) n
"""


def timed(call: Callable[[], Any]) -> float:
    """Return the seconds that a call takes."""
    began = time.perf_counter()
    call()
    return round(time.perf_counter() - began, 2)


@contextmanager
def remembered(turns: int, subjects: int) -> Iterator[LiveMemory]:
    """Import and consolidate a history; yield its live memory."""
    until = START + timedelta(days=turns // subjects // DAILY + 30)
    with database() as url, Store.open(url, size=4) as store, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number, text in enumerate(fixed_texts(turns)):
                place = number // subjects
                at = START + timedelta(days=place // DAILY, minutes=place % DAILY)
                subject = f"s{number % subjects}"
                record = {"subject_id": subject, "session_id": f"{subject}-{at:%j}", "source_id": str(number)}
                record |= {"role": "user", "said_at": at.isoformat(), "text": f"I {text}"}
                file.write(json.dumps(record) + "\n")
        import_file(store, path, tenant_id=TENANT, now=until)
        work = Work(
            store=store,
            scope=Scope(tenant_id=TENANT),
            policy=load_policy("reverie"),
            as_of=until,
            embedder=load_embedder("minilm"),
        )
        for _ in advance(work):
            pass
        yield LiveMemory(work=work, url=url)


def measure_rebuild(live: LiveMemory) -> dict[str, Any]:
    """Build the same memory beside the live one, with every vector cached, and restore a dump of it."""
    plan = plan_by("reverie", live)
    generation = begin(live, plan)
    built = timed(lambda: sum(1 for _ in build(live, plan, generation)))
    drop_generation(live, generation)
    restored = restore(live.url)
    return {"build_s": built, "restore_s": restored, "ratio": round(built / restored, 2)}


def restore(url: str) -> float:
    """Return the seconds of pg_restore of the database into another one, which is dropped."""
    environment = os.environ | libpq_environment(url, "none")
    environment.pop("PGOPTIONS")
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "dump"
        subprocess.run([programs() / "pg_dump", "-Fc", "-f", dump], env=environment, check=True)
        target = f"{environment['PGDATABASE']}_restored"
        with connect(url) as admin:
            admin.execute(f'create database "{target}"')
            try:
                return timed(
                    lambda: subprocess.run([programs() / "pg_restore", "-d", target, dump], env=environment, check=True)
                )
            finally:
                admin.execute(f'drop database "{target}" with (force)')


@contextmanager
def under_load(live: LiveMemory, subjects: int, clients: int) -> Iterator[dict[str, Any]]:
    """Let clients ask `reverie serve` during a `with` block; the figures are complete after it."""
    made = add_key(
        live.work.store.session(TENANT), name="bench", scopes=["read", "write"], policy="reverie", made_at=START
    )
    environment = os.environ | {"DATABASE_URL": live.url, "REVERIE_API_RATE": "1000000/second"}
    command = [sys.executable, "-m", "reverie", "serve", "--port", "0", "--json"]
    key, found, over = perform(made)[1], dict[str, Any](), Event()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = json.loads("".join(server.stdout.readline() for _ in range(5)))["url"]
        port = int(url.rsplit(":", 1)[1])
        asking = Thread(target=lambda: found.update(asyncio.run(ask_on(port, key, subjects, clients, over))))
        asking.start()
        try:
            time.sleep(SETTLE_SECONDS)
            yield found
        finally:
            over.set()
            asking.join()
            server.terminate()


async def ask_on(port: int, key: str, subjects: int, clients: int, over: Event) -> dict[str, Any]:
    """Ask until `over` is set; return the number of requests and of failures, and milliseconds."""
    connections, numbers = [Connection(port, key) for _ in range(clients)], count()
    times, statuses = list[float](), Counter[int]()

    def make() -> Request:
        number = next(numbers)
        subject, question = f"s{number % subjects}", f"What about {number % 97}?"
        if number % 3 == 0:
            turn = {"role": "user", "text": f"I like the number {number}.", "source_id": str(number)}
            body = {"subject_id": subject, "session_id": f"load-{number % 50}", "turns": [turn]}
            return "POST", "/v1/turns", json.dumps(body).encode()
        path = "/v1/recalls" if number % 3 == 1 else "/v1/contexts"
        return "POST", path, json.dumps({"subject_id": subject, "question": question}).encode()

    while not over.is_set():
        some, answered = await closed_loop(connections, make, 0.5)
        times += some
        statuses.update(answered)
    return {
        "requests": len(times),
        "requests_failed": sum(number for status, number in statuses.items() if status != 200),
        "request_p50_ms": round(float(np.median(times)), 1),
        "request_p95_ms": round(float(np.percentile(times, 95)), 1),
        "request_max_ms": round(max(times), 1),
    }


def measure_publish(live: LiveMemory, subjects: int, clients: int) -> dict[str, Any]:
    """Publish a generation of another policy, and revert it, under load."""
    plan, store = plan_by("brain", live), live.work.store
    generation = begin(live, plan)
    for _ in build(live, plan, generation):
        pass
    publisher = Publisher(clock=lambda: live.work.as_of, embedder_of=load_embedder, gated=False)
    with under_load(live, subjects, clients) as load:
        done = publish(live, find_generation(store, TENANT, generation.number, "ready"), publisher)
        own = replace(live, work=replace(live.work, policy=plan.policy))
        back = revert(own, find_generation(store, TENANT, generation.number, "published"), publisher)
    drop_generation(live, generation)
    return load | {
        "publish_attempts": done.attempts,
        "publish_rows": done.rows,
        "publish_lock_s": round(done.lock_seconds, 3),
        "revert_rows": back.rows,
        "revert_lock_s": round(back.lock_seconds, 3),
    }


def plan_by(policy: str, live: LiveMemory) -> GenerationPlan:
    """Return the plan of a generation with a shipped policy."""
    return GenerationPlan(
        policy_name=policy, policy=load_policy(policy), embedder_name="minilm", embedder=live.work.embedder
    )


def measure_diff(memories: int) -> dict[str, Any]:
    """Compare two synthetic memories, a hundredth of which have other words."""
    with database() as one, database() as other:
        for url, text in ((one, "a"), (other, "b")):
            with connect(url) as conn:
                for statement in (_MEMORIES, _LINEAGE):
                    conn.execute(statement, {"number": memories, "text": text})
                conn.execute("analyze")
        with Store.open(one) as first, Store.open(other) as second:
            began = time.perf_counter()
            changes = memory_changes(read_frames(first, TENANT), read_frames(second, TENANT))
            taken = time.perf_counter() - began
    assert changes.counts()["memories_reworded"] == memories // 100
    return {"memories": memories, "diff_s": round(taken, 2)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--subjects", type=int, default=20)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=16)
    given = parser.parse_args()
    found: dict[str, Any] = measure_diff(given.memories)
    with remembered(given.turns, given.subjects) as live:
        found |= {"turns": given.turns} | measure_rebuild(live)
        found |= measure_publish(live, given.subjects, given.clients)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
