"""What a rebuild costs beside pg_restore of the same memory, and what a diff and a publish take.

    python -m bench.rebuild [--turns 2000] [--subjects 20] [--memories 100000]

Prints one JSON object. A made-up history is imported and worked in; then a generation is built beside it with every
vector cached, as the same database is restored by pg_restore of its own dump, one process each. The generation of
another policy is compared and published, and reverted. The diff of two synthetic memories of `--memories` rows each, a
hundredth of which differ, is timed as `reverie diff --questions 0` does it. Needs the extra `embedded`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.embed import fixed_texts
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
from reverie.store.work import Work
from reverie.testing import database

TENANT = "bench"
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
#: Turns of a subject a day.
DAILY = 10

#: Memories with a turn each; of one in a hundred the text is that of `%(text)s`.
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
    """A history that was imported and is memory."""
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
    """Return the seconds that pg_restore of the database takes, into another that is dropped."""
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


def measure_publish(live: LiveMemory) -> dict[str, Any]:
    """Publish a generation of another policy, and revert it."""
    plan, store = plan_by("brain", live), live.work.store
    generation = begin(live, plan)
    for _ in build(live, plan, generation):
        pass
    publisher = Publisher(clock=lambda: live.work.as_of, embedder_of=load_embedder, gated=False)
    done = publish(live, find_generation(store, TENANT, generation.number, "ready"), publisher)
    own = replace(live, work=replace(live.work, policy=plan.policy))
    back = revert(own, find_generation(store, TENANT, generation.number, "published"), publisher)
    drop_generation(live, generation)
    return {
        "publish_rows": done.rows,
        "publish_lock_s": round(done.lock_seconds, 3),
        "revert_rows": back.rows,
        "revert_lock_s": round(back.lock_seconds, 3),
    }


def plan_by(policy: str, live: LiveMemory) -> GenerationPlan:
    """Return the plan of a generation by a shipped policy."""
    return GenerationPlan(
        policy_name=policy, policy=load_policy(policy), embedder_name="minilm", embedder=live.work.embedder
    )


def measure_diff(memories: int) -> dict[str, Any]:
    """Compare two synthetic memories, a hundredth of which has other words."""
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
    given = parser.parse_args()
    found: dict[str, Any] = measure_diff(given.memories)
    with remembered(given.turns, given.subjects) as live:
        found |= {"turns": given.turns} | measure_rebuild(live) | measure_publish(live)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
