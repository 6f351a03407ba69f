"""Promise 1: any stage run twice at one `as_of` changes nothing the second time; the same log, the same memory."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import import_file
from reverie.consolidate.stages import NAMES
from reverie.drive import cycle
from reverie.policy import Policy, load_policy, shipped_policies
from reverie.store.database import Store
from reverie.store.digest import Digest, digest
from reverie.store.runs import Report
from reverie.store.work import Work
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.world import consolidate, live, lively

Stage = Callable[..., Report]


def daily(name: str) -> Policy:
    """The lively policy with one cycle a day: each stage has a turn as well, and the suite less to wait for."""
    return lively(name, cycle={"hours": 24})


@pytest.mark.parametrize(
    ("name", "policy_of"), [("reverie", load_policy), *((name, daily) for name in shipped_policies())]
)
def test_a_stage_run_twice_is_a_stage_run_once(
    store: Store, history: Path, name: str, policy_of: Callable[[str], Policy], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = policy_of(name)
    live(store, "once", policy, history, compact.UNTIL)
    seen: set[str] = set()

    def twice(stage: Stage) -> Stage:
        def run(work: Work, **arguments: Any) -> Report:
            report = stage(work, **arguments)
            before = digest(work.store, "twice")
            stage(work, **arguments)
            assert digest(work.store, "twice") == before, f"{report.stage} at {work.as_of}"
            seen.add(report.stage)
            return report

        return run

    for stage in NAMES:
        monkeypatch.setattr(cycle, stage, twice(getattr(cycle, stage)))
    live(store, "twice", policy, history, compact.UNTIL)
    assert seen == set(NAMES)
    assert rows(digest(store, "twice")) == rows(digest(store, "once"))


def test_a_whole_run_repeated_changes_nothing(store: Store, history: Path) -> None:
    policy = compact.policy()
    live(store, compact.TENANT, policy, history, compact.UNTIL)
    before = digest(store, compact.TENANT)
    live(store, compact.TENANT, policy, history, compact.UNTIL)
    assert digest(store, compact.TENANT) == before


def test_a_dry_run_changes_nothing(store: Store, history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says what the run then does, for the stages whose work does not wait for another stage's."""
    said: list[dict[str, float]] = []

    def dry_first(stage: Stage) -> Stage:
        def run(work: Work, **arguments: Any) -> Report:
            before = digest(store, compact.TENANT)
            dry = stage(replace(work, dry_run=True), **arguments)
            assert digest(store, compact.TENANT) == before, f"{dry.stage} at {work.as_of}"
            wet = stage(work, **arguments)
            said.append(dry.counts)
            assert dry.counts == wet.counts, f"{dry.stage} at {work.as_of}"
            return wet

        return run

    for stage in NAMES:
        if stage != "embed":  # a dry run asks no model, so it cannot know the parts
            monkeypatch.setattr(cycle, stage, dry_first(getattr(cycle, stage)))
    live(store, compact.TENANT, compact.policy(), history, compact.UNTIL)
    assert any(counts.get("merged") for counts in said)


def test_ids_are_the_same_in_every_database(databases: Databases, history: Path) -> None:
    found = []
    for size in (1, 3):
        with databases() as url, Store.open(url, size=size) as store:
            live(store, compact.TENANT, compact.policy(), history, compact.UNTIL)
            found.append(digest(store, compact.TENANT))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", [1, 2])
def test_sessions_may_come_in_any_order(databases: Databases, history: Path, tmp_path: Path, seed: int) -> None:
    """A file a session, whichever comes first, and outcomes before the turns they are of (docs/importing.md)."""
    records = read(history)
    sessions = {(record["subject_id"], record["session_id"], record.get("type")) for record in records}
    order = random.Random(seed).sample(sorted(sessions, key=str), len(sessions))
    parts = []
    for number, key in enumerate(order):
        of_key = [r for r in records if (r["subject_id"], r["session_id"], r.get("type")) == key]
        parts.append(write(tmp_path / f"{number}.jsonl", of_key))
    expect_same(databases, write(tmp_path / "whole.jsonl", records), parts)


def test_turns_with_an_index_may_come_in_any_order(databases: Databases, history: Path, tmp_path: Path) -> None:
    records = read(history)
    places: dict[tuple[str, str], int] = {}
    for record in records:
        if record.get("type") != "outcome":
            session = (record["subject_id"], record["session_id"])
            record["turn_index"] = places[session] = places.get(session, -1) + 1
    shuffled = random.Random(3).sample(records, len(records))
    expect_same(databases, write(tmp_path / "whole.jsonl", records), [write(tmp_path / "shuffled.jsonl", shuffled)])


def expect_same(databases: Databases, whole: Path, parts: list[Path]) -> None:
    """The whole file and its parts give the same memory, ids included."""
    found = []
    for files in ([whole], parts):
        with databases() as url, Store.open(url, size=1) as store:
            for file in files:
                import_file(store, file, tenant_id=compact.TENANT, now=compact.UNTIL)
            consolidate(store, compact.TENANT, compact.policy(), compact.UNTIL)
            found.append(digest(store, compact.TENANT))
    assert found[0] == found[1]


def rows(found: Digest) -> dict[str, int]:
    """Rows by table."""
    return {table: each.rows for table, each in found.tables.items()}


def read(path: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file, without the broken one."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    """A JSONL file."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
