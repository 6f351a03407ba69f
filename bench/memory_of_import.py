"""Peak memory and rate of importing a synthetic log: `python bench/memory_of_import.py [--turns 1000000]`.

Uses the database of DATABASE_URL, else an embedded Postgres in a temporary directory. Prints one JSON object: turns per
second of wall time and of this process's CPU time, and the peak resident memory of this process, in MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import run
from typing import Any

from reverie.capture.history.importing import import_file
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres

SESSION_TURNS = 20
SUBJECT_SESSIONS = 10
WORDS = 20_000


def write_log(path: Path, turns: int) -> None:
    """Write turns of 127 characters on average, like LoCoMo's; the same count gives the same turns."""
    chance = random.Random(7)
    vocabulary = ["".join(chance.choices("abcdefghijklmnoprstuvwy", k=chance.randint(2, 9))) for _ in range(WORDS)]
    began = datetime(2024, 1, 1, tzinfo=UTC)
    with path.open("w", encoding="utf-8") as file:
        for number in range(turns):
            session = number // SESSION_TURNS
            record = {
                "subject_id": f"subject-{session // SUBJECT_SESSIONS}",
                "session_id": f"session-{session}",
                "source_id": f"turn-{number}",
                "role": ("user", "assistant")[number % 2],
                "speaker": ("Ann", "Assistant")[number % 2],
                "said_at": (began + timedelta(seconds=30 * number)).isoformat(),
                "text": " ".join(chance.choices(vocabulary, k=chance.randint(8, 31))),
            }
            file.write(json.dumps(record) + "\n")


def measure(url: str, path: Path) -> dict[str, Any]:
    """Import the file in this process and return its figures."""
    with Store.open(url) as store:
        began, cpu = time.perf_counter(), time.process_time()
        summary = import_file(store, path, tenant_id="bench")
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {
        "turns": summary.imported,
        "turns_per_second": round(summary.read / wall),
        "turns_per_client_cpu_second": round(summary.read / cpu),
        "peak_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "file_mib": round(path.stat().st_size / 2**20, 1),
    }


def main() -> None:
    """Create a log and a database, and measure in a separate process."""
    arguments = argparse.ArgumentParser(description=__doc__.split(":")[0])
    arguments.add_argument("--turns", type=int, default=1_000_000)
    arguments.add_argument("--import", dest="path", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.path:
        print(json.dumps(measure(os.environ["DATABASE_URL"], given.path)))
        return
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reverie_bench_")))
        directory.chmod(0o711)
        url = os.environ.get("DATABASE_URL")
        if url is None:
            server = EmbeddedPostgres(directory / "postgres")
            url = server.start()
            stack.callback(server.stop)
        migrate(url)
        write_log(directory / "log.jsonl", given.turns)
        command = [sys.executable, __file__, "--import", str(directory / "log.jsonl")]
        run(command, env={**os.environ, "DATABASE_URL": url}, check=True)


if __name__ == "__main__":
    main()
