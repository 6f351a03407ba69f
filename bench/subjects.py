"""The cost of a cycle with as many new turns but ten times the subjects: `python bench/subjects.py`.

    python bench/subjects.py [--data ../shared/data/retrieval] [--subjects 200] [--times 10]

The first turns of each LoCoMo conversation, moved to the same time and copied to `--subjects` subjects, are
consolidated. A day later twenty subjects continue their conversations, and the cycles of that day are timed: wall time,
and processor time of this process and the server. Vectors are random, since a model's cost does not depend on other
subjects.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.pipeline import TENANT, Noise, consolidate, server
from bench.processor import cpu_seconds
from bench.report import print_table
from bench.retrieval import records_of
from reverie.capture.history.importing import import_file
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store

#: Turns of a conversation in the history, turns a day later, and the number of subjects that continue.
_HISTORY, _LATER, _ACTIVE = 60, 25, 20


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/retrieval"))
    parser.add_argument("--subjects", type=int, default=200)
    parser.add_argument("--times", type=int, default=10)
    given = parser.parse_args()
    rows = [_measured(given.data, given.subjects * times) for times in (1, given.times)]
    print_table(
        f"A day of {_ACTIVE * _LATER} turns by {_ACTIVE} subjects",
        ("subjects", "turns before", "memories before", "wall s", "CPU s"),
        [(f"{n:,}", f"{turns:,}", f"{kept:,}", f"{wall:.2f}", f"{cpu:.2f}") for n, turns, kept, wall, cpu in rows],
    )
    print(f"{given.times} times the subjects take {rows[1][4] / rows[0][4]:.2f} times the processor time.")


def _measured(data: Path, subjects: int) -> tuple[int, int, int, float, float]:
    history, later, end = _conversations(data)
    policy = load_policy("reverie")
    with server() as url, tempfile.TemporaryDirectory() as folder, Store.open(url) as store:
        path = Path(folder) / "turns.jsonl"
        turns = _import(store, path, history, subjects)
        consolidate(store, policy, Noise(), end, 1)
        # planner statistics as they are some time after a load
        with connect(url) as conn:
            conn.execute("vacuum analyze")
            (memories,) = conn.execute("select count(*) from memory.memories where state = 'active'").fetchone() or (0,)
        _import(store, path, later, _ACTIVE)
        began, cpu = time.perf_counter(), cpu_seconds(url)
        consolidate(store, policy, Noise(), end + timedelta(days=2), 1)
        return subjects, turns, memories, time.perf_counter() - began, cpu_seconds(url) - cpu


def _conversations(data: Path) -> tuple[list[list[dict[str, Any]]], list[list[dict[str, Any]]], datetime]:
    """Return the history of each conversation, its turns a day later, and the time at which all histories end."""
    by_subject: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in records_of(data, "locomo", []):
        by_subject[one["subject_id"]].append(one)
    cut = [(turns[:_HISTORY], turns[_HISTORY : _HISTORY + _LATER]) for turns in by_subject.values()]
    end = max(_said_at(turns[-1]) for turns, _ in cut)
    history = [_shifted(turns, end - _said_at(turns[-1])) for turns, _ in cut]
    day = end + timedelta(days=1)
    later = [
        [one | {"said_at": (day + timedelta(minutes=n)).isoformat()} for n, one in enumerate(turns)] for _, turns in cut
    ]
    return history, later, end


def _said_at(turn: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(turn["said_at"])


def _shifted(turns: list[dict[str, Any]], by: timedelta) -> list[dict[str, Any]]:
    return [one | {"said_at": (_said_at(one) + by).isoformat()} for one in turns]


def _import(store: Store, path: Path, conversations: list[list[dict[str, Any]]], subjects: int) -> int:
    """Import the conversations for this number of subjects, and return the number of turns."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(subjects):
            for one in conversations[number % len(conversations)]:
                file.write(json.dumps(one | {"subject_id": f"s{number}"}) + "\n")
    return import_file(store, path, tenant_id=TENANT).imported


if __name__ == "__main__":
    main()
