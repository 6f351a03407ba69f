"""A history extracted and embedded on Ray by one worker and by two, each with one thread, beside the same without Ray.

    python bench/on_ray.py [--turns 400] [--words 60] [--subjects 200]

Each run gets a separate database with the same log. The time is from the start of the first bucket to the last report,
without the start of Ray, which is printed beside it; every worker has loaded its model for an earlier bucket. The
digests must be equal. On a shared machine, CPU time is more reliable than the clock: with two workers, the total should
be that of one worker, and the busier worker's time half of it. "CPU s" includes this process, Ray's and the server's.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import psutil
from pydantic import SecretStr

from bench.embed import fixed_texts
from bench.processor import cpu_seconds
from bench.report import print_table
from reverie.capture.history.importing import import_file
from reverie.drive.cycle import ingest
from reverie.drive.on_ray import RayCluster, on_ray
from reverie.drive.parallel import buckets
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.runtime import open_bucket_work
from reverie.settings import Settings
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.testing import DatabaseFactory

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2026, 7, 1, tzinfo=UTC)
ALL = Scope(tenant_id="bench")
WARM = Scope(tenant_id="bench", subjects=("nobody",))
#: Buckets per worker: enough that the last ones end at about the same time.
SHARE = 4


@dataclass(frozen=True)
class Timing:
    """The times of one run in seconds, and its result."""

    name: str
    start: float
    wall: float
    cpu: float
    busiest: float
    load: float
    digest: str


def _silent(stage: str, number: int) -> None:
    """Ignore progress."""


def _workers() -> dict[int, float]:
    """Return the CPU seconds so far of each of Ray's workers below this process, by process id."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.cmdline()[:1] and "_Worker" in process.cmdline()[0]:
                found[process.pid] = sum(process.cpu_times()[:2])
    return found


def _spent(url: str) -> float:
    """Return the CPU seconds so far of this process, of Ray and its workers, and of the server."""
    total = cpu_seconds(url)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def history(turns: int, words: int, subjects: int) -> Iterator[bytes]:
    """Yield turns of about `words` words, all with different texts, so that no vector is cached."""
    texts = iter(fixed_texts(turns * max(1, words // 15)))
    for number in range(turns):
        text = " ".join(itertools.islice(texts, max(1, words // 15)))
        said_at = BEGIN + timedelta(minutes=number)
        subject = f"s{number % subjects}"
        yield orjson.dumps(
            {"subject_id": subject, "session_id": subject, "role": "user", "text": text, "said_at": said_at}
        )


def timed(url: str, workers: int, name: str) -> Timing:
    """Extract and embed the log of `url` with `workers` workers; 0: in a thread of this process, without Ray."""
    settings = Settings(database_url=SecretStr(url), threads=1)
    open_work = partial(open_bucket_work, settings, load_policy("reverie"), END, ingest)
    began = time.perf_counter()
    if workers:
        cluster = RayCluster(workers=workers)
        # each actor begins with an empty bucket, for which it loads the model: two reports each
        reports = on_ray([WARM] * workers + buckets(ALL, SHARE * workers), open_work, cluster, _silent)
        for _ in range(2 * workers):
            next(reports)
    else:
        work = open_work()
        list(work(WARM, _silent))
        reports = (report for part in buckets(ALL, SHARE) for report in work(part, _silent))
    cpu, each = _spent(url), _workers()
    at = time.perf_counter()
    for _ in range(2 * SHARE * max(1, workers)):
        next(reports)
    wall = time.perf_counter() - at
    spent = _spent(url) - cpu  # before the workers end
    busiest = max((seconds - each[pid] for pid, seconds in _workers().items() if pid in each), default=spent)
    list(reports)
    with Store.open(url) as store:
        return Timing(name, at - began, wall, spent, busiest, os.getloadavg()[0], digest(store, ALL.tenant_id).sha256)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--subjects", type=int, default=200)
    given = parser.parse_args()
    with TemporaryDirectory(prefix="reverie_bench_") as folder:
        Path(folder).chmod(0o711)
        path = Path(folder) / "history.jsonl"
        path.write_bytes(b"\n".join(history(given.turns, given.words, given.subjects)))
        postgres = EmbeddedPostgres(Path(folder) / "postgres")
        postgres.start()
        try:
            factory = DatabaseFactory(postgres.url("postgres"), prefix="bench_")
            timings = []
            for name, workers in (("without Ray", 0), ("one worker", 1), ("two workers", 2)):
                with factory.migrated() as url:
                    with Store.open(url) as store:
                        import_file(store, path, tenant_id=ALL.tenant_id, now=END)
                    timings.append(timed(url, workers, name))
        finally:
            postgres.stop()
    alone, one, two = timings
    assert alone.digest == one.digest == two.digest, "the digests differ"
    print_table(
        "Extract and embed", ("", "start s", "wall s", "turns/s", "CPU s", "of the busiest worker", "load"),
        [
            (each.name, f"{each.start:.1f}", f"{each.wall:.1f}", f"{given.turns / each.wall:.0f}",
             f"{each.cpu:.1f}", f"{each.busiest:.1f}", f"{each.load:.1f}")
            for each in timings
        ],
    )  # fmt: skip
    print(
        f"\nTwo workers are {one.wall / two.wall:.2f} times as fast as one by the clock, and "
        f"{one.busiest / two.busiest:.2f} times by the CPU time of the busier one. The three digests are equal."
    )


if __name__ == "__main__":
    main()
