"""Import to finished memory, beside the bare embedder on the same texts; then again with every vector cached.

    python bench/pipeline.py [--data ../shared/data/retrieval] [--turns 6000] [--threads 2] [--profile]

Takes the LoCoMo turns if the data is present, else synthetic ones. One run has three parts:

- `embedder`: only `encode` of the texts that the pipeline embeds;
- `cold`: import, extract, embed and every cycle up to the end of the history, with nothing cached;
- `cached`: the same turns, `--copies` times as different subjects, are imported and consolidated. Then the rows of the
  schema `memory` are deleted and made again from the log, with `ops.embeddings` kept, so that no text goes to the model
  (a copy words some patterns differently from the first). The copies spread the fixed cost of a cycle.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path

import numpy as np

from bench.memory_of_import import write_log
from bench.processor import cpu_seconds
from bench.report import machine, print_table
from bench.retrieval import records_of
from reverie.capture.history.importing import import_file
from reverie.consolidate.stages import NAMES
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.parallel import buckets, in_parallel
from reverie.inference import Embedder, Vectors, load_embedder
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.runs import Report
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.work import Work

TENANT = "bench"


class Noise:
    """A fast embedder: a pseudo-random unit vector per text, always the same."""

    model = "noise"
    dimensions = 384
    price_per_token = 0.0

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return vectors by the hash of each text."""
        rows = [np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dimensions) for text in texts]
        vectors: Vectors = np.array(rows, np.float32).reshape(len(texts), self.dimensions)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())


@contextmanager
def server() -> Iterator[str]:
    """Start a server with a migrated database, as durable as in production; remove its files at the end."""
    with tempfile.TemporaryDirectory(prefix="reverie_bench_") as folder:
        Path(folder).chmod(0o711)  # the server may run as another user
        postgres = EmbeddedPostgres(Path(folder) / "postgres")
        url = postgres.start()
        try:
            migrate(url)
            yield url
        finally:
            postgres.stop()


def write_copies(path: Path, copies: int) -> Path:
    """Write the turns of a file again for other subjects, `copies` - 1 times."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    copied = path.with_name("copies.jsonl")
    with copied.open("w", encoding="utf-8") as file:
        for number in range(1, copies):
            for one in records:
                file.write(json.dumps(one | {"subject_id": f"{one['subject_id']}-{number}"}) + "\n")
    return copied


def write_turns(path: Path, data: Path, turns: int) -> str:
    """Write the log to import; return its description."""
    if not data.is_dir():
        write_log(path, turns)
        return "synthetic"
    with path.open("w", encoding="utf-8") as file:
        for one in islice(records_of(data, "locomo", []), turns):
            file.write(json.dumps(one) + "\n")
    return "LoCoMo"


def consolidate(
    store: Store, policy: Policy, embedder: Embedder, until: datetime, jobs: int
) -> tuple[dict[str, float], dict[str, int], int]:
    """Run every stage up to `until`, `jobs` buckets at once.

    Return seconds (of all jobs) and runs by stage, and the number of calls of the model.
    """
    seconds: dict[str, float] = defaultdict(float)
    runs: dict[str, int] = defaultdict(int)
    calls = 0

    def work(scope: Scope) -> Iterator[Report]:
        yield from ingest(Work(store=store, scope=scope, policy=policy, as_of=until, embedder=embedder))
        yield from catch_up(Work(store=store, scope=scope, policy=policy, as_of=until, embedder=embedder))

    for report in in_parallel(buckets(Scope(tenant_id=TENANT), jobs), work):
        seconds[report.stage] += report.seconds
        runs[report.stage] += 1
        calls += report.model_calls
    return seconds, runs, calls


def forget_all(url: str) -> None:
    """Delete derived data; the log and the call cache stay."""
    with connect(url) as conn:
        tables = conn.execute(
            "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'memory'"
        )
        names = ", ".join(row[0] for row in tables.fetchall())
        conn.execute(f"truncate {names}")
        conn.execute("delete from ops.runs")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split(":")[0])
    arguments.add_argument("--data", type=Path, default=Path("../shared/data/retrieval"))
    arguments.add_argument("--turns", type=int, default=6_000)
    arguments.add_argument("--copies", type=int, default=10)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--jobs", type=int, default=2, help="buckets worked at once, as `reverie run --jobs`")
    arguments.add_argument("--no-model", action="store_true", help="random vectors: only the rest is measured")
    arguments.add_argument("--profile", action="store_true", help="show where the cached run spends its client time")
    given = arguments.parse_args()
    policy = load_policy("reverie")
    embedder: Embedder = Noise() if given.no_model else load_embedder("minilm", threads=given.threads)
    with server() as url, tempfile.TemporaryDirectory() as folder, Store.open(url) as store:
        path = Path(folder) / "turns.jsonl"
        source = write_turns(path, given.data, given.turns)
        embedder.encode(["warm"])
        began = time.perf_counter()
        summary = import_file(store, path, tenant_id=TENANT)
        imported = time.perf_counter() - began
        assert summary.last is not None
        cold, *_ = consolidate(store, policy, embedder, summary.last, given.jobs)
        whole = time.perf_counter() - began
        with connect(url) as conn:
            of_turns = "select case when speaker is null then text else speaker || ': ' || text end from log.turns"
            texts = [row[0] for row in conn.execute(of_turns)]
            memories = [row[0] for row in conn.execute("select content from memory.memories")]
        began = time.perf_counter()
        embedder.encode(texts)
        bare_turns = time.perf_counter() - began
        began = time.perf_counter()
        embedder.encode(memories)
        bare = bare_turns + time.perf_counter() - began
        import_file(store, write_copies(path, given.copies), tenant_id=TENANT)
        forget_all(url)
        consolidate(store, policy, embedder, summary.last, given.jobs)
        forget_all(url)
        profile = cProfile.Profile() if given.profile else None
        if profile:
            profile.enable()
        began, cpu = time.perf_counter(), cpu_seconds(url)
        warm, runs, calls = consolidate(store, policy, embedder, summary.last, given.jobs)
        cached, cpu = time.perf_counter() - began, cpu_seconds(url) - cpu
        assert not calls, "some vector was not in the cache"
        if profile:
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(35)
    turns, many = summary.imported, summary.imported * given.copies
    print(f"{machine()}; {source}")
    print_table(
        f"Import to finished memory, {turns:,} turns",
        ("part", "seconds", "turns a second", "of the bare embedder"),
        [
            ("bare embedder, turns", f"{bare_turns:.1f}", f"{turns / bare_turns:,.0f}", ""),
            ("bare embedder, turns and memories", f"{bare:.1f}", f"{turns / bare:,.0f}", "1.00"),
            (
                "cold, with import",
                f"{whole:.1f}",
                f"{turns / whole:,.0f}",
                f"{bare / whole:.2f} ({bare_turns / whole:.2f} of turns alone)",
            ),
            (f"cached, {many:,} turns", f"{cached:.2f}", f"{many / cached:,.0f}", ""),
            ("cached, by CPU time", f"{cpu:.2f}", f"{many / cpu:,.0f}", ""),
        ],
    )
    print_table(
        "Seconds by stage",
        ("stage", "runs", "cold", "cached"),
        [("import", 1, f"{imported:.2f}", "")]
        + [(stage, runs[stage], f"{cold[stage]:.2f}", f"{warm[stage]:.2f}") for stage in NAMES],
    )


if __name__ == "__main__":
    main()
