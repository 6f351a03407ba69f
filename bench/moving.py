"""100,000 memories of mem0 imported, consolidated with cached vectors, and exported again.

    python bench/moving.py [--memories 100000] [--subjects 1000]

One run has three parts: `import` (a file of `get_all` to the log), `run` (extract to decay, with every vector cached:
2,000 texts, embedded before the clock starts) and `export` (the same memories in mem0's format again).
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.report import machine, print_table
from reverie.capture.history.importing import FileOptions, import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.moving import move_out
from reverie.inference import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.work import Work

TENANT = "bench"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
FORMS = (
    "Has a dog named {}", "Works at {}", "Lives in {}", "Is allergic to {}", "Plays {} on Sundays", "Prefers {} to tea",
    "Is reading a book about {}", "Sister is called {}", "Drives a {}", "Was born in {}", "Studied {} at university",
    "Collects old {}", "Cannot stand {}", "Is saving for a {}", "Speaks fluent {}", "Takes {} against migraine",
    "Supports the team of {}", "Wants to open a {}", "Grew up on {} street", "Is writing a thesis on {}",
)  # fmt: skip


def texts() -> list[str]:
    """Return 2,000 texts in mem0's wording, of 20 forms with 100 invented names each."""
    chance = random.Random(7)
    names = ["".join(chance.choices("abcdefghijklmnoprstuvwy", k=chance.randint(4, 9))).title() for _ in range(2_000)]
    return [FORMS[number % len(FORMS)].format(name) for number, name in enumerate(names)]


def write_memories(path: Path, memories: int, subjects: int) -> None:
    """Write a page of mem0's `get_all`."""
    words = texts()
    items = [
        {
            "id": f"00000000-0000-4000-8000-{number:012}",
            "memory": words[(number // subjects * 7 + number % subjects) % len(words)],
            "user_id": f"subject-{number % subjects}",
            "created_at": (BEGAN + timedelta(seconds=number)).isoformat(),
            "updated_at": None,
            "metadata": {"app": "bench"},
            "categories": ["hobbies"],
        }
        for number in range(memories)
    ]
    path.write_text(json.dumps({"results": items}), encoding="utf-8")


def work_of(store: Store, as_of: datetime) -> Work:
    """Return the work that the stages take."""
    return Work(
        store=store,
        scope=Scope(tenant_id=TENANT),
        policy=load_policy("reverie"),
        as_of=as_of,
        embedder=load_embedder("minilm", threads=2),
    )


def main() -> None:
    """Measure and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__.split(":")[0])
    arguments.add_argument("--memories", type=int, default=100_000)
    arguments.add_argument("--subjects", type=int, default=1_000)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="reverie_bench_") as folder:
        directory = Path(folder)
        directory.chmod(0o711)
        server = EmbeddedPostgres(directory / "postgres")
        url = server.start()
        try:
            migrate(url)
            rows = measure(url, directory, given.memories, given.subjects)
        finally:
            server.stop()
    print_table(machine(), ("part", "seconds", "memories a second"), rows)


def measure(url: str, directory: Path, memories: int, subjects: int) -> list[tuple[object, ...]]:
    """Return a row for each part."""
    took = {}
    with Store.open(url) as store:
        warm = directory / "warm.json"
        warm.write_text(json.dumps([_warm(number, text) for number, text in enumerate(texts())]), encoding="utf-8")
        import_file(store, warm, FileOptions(format="mem0"), tenant_id=TENANT)
        list(ingest(work_of(store, BEGAN)))
        write_memories(directory / "mem0.json", memories, subjects)
        began = time.perf_counter()
        found = import_file(store, directory / "mem0.json", FileOptions(format="mem0"), tenant_id=TENANT)
        took["import"] = time.perf_counter() - began
        assert found.statements == memories, found
        as_of = BEGAN + timedelta(seconds=memories, days=1)
        began = time.perf_counter()
        list(ingest(work_of(store, as_of)))
        list(catch_up(work_of(store, as_of)))
        took["run"] = time.perf_counter() - began
    began = time.perf_counter()
    move_out(url, TENANT, directory / "out", subject_id=None, format="mem0", at=as_of)
    took["export"] = time.perf_counter() - began
    return [(part, f"{seconds:.1f}", f"{memories / seconds:,.0f}") for part, seconds in took.items()]


def _warm(number: int, text: str) -> dict[str, object]:
    at = (BEGAN - timedelta(days=1)).isoformat()
    return {"id": f"warm-{number}", "memory": text, "user_id": f"warm-{number % 50}", "created_at": at}


if __name__ == "__main__":
    main()
