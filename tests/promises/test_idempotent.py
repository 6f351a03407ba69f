"""Promise 1: any stage run twice at one `as_of` changes nothing the second time; the same log, the same memory."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
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
from reverie.testing import DatabaseFactory
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.conftest import WorkedIn
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


@pytest.fixture
def lived(worked_in: WorkedIn, database_factory: DatabaseFactory) -> Iterator[Store]:
    """The history, imported and worked in."""
    with database_factory.copy(worked_in(compact.policy(), compact.UNTIL)) as url, Store.open(url, size=2) as store:
        yield store


@pytest.fixture
def clean(lived: Store) -> Digest:
    """What the history, imported whole and in order with one connection, comes to."""
    return digest(lived, compact.TENANT)


def test_a_whole_run_repeated_changes_nothing(clean: Digest, lived: Store, history: Path) -> None:
    live(lived, compact.TENANT, compact.policy(), history, compact.UNTIL)
    assert digest(lived, compact.TENANT) == clean


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
    ours = compact.policy()
    # a week may be complete by a summary of the same run, which a dry run does not write
    monthly = ours.model_copy(update={"compress": ours.compress.model_copy(update={"fold_weeks": False})})
    live(store, compact.TENANT, monthly, history, compact.UNTIL)
    assert any(counts.get("merged") for counts in said)


def test_ids_are_the_same_in_every_database(clean: Digest, store: Store, history: Path) -> None:
    live(store, compact.TENANT, compact.policy(), history, compact.UNTIL)
    assert digest(store, compact.TENANT) == clean


@pytest.mark.parametrize("seed", [1, 2])
def test_sessions_may_come_in_any_order(
    clean: Digest, databases: Databases, history: Path, tmp_path: Path, seed: int
) -> None:
    """A file a session, whichever comes first, and outcomes before the turns they are of (docs/importing.md)."""
    records = read(history)
    sessions = {(record["subject_id"], record["session_id"], record.get("type")) for record in records}
    order = random.Random(seed).sample(sorted(sessions, key=str), len(sessions))
    parts = []
    for number, key in enumerate(order):
        of_key = [r for r in records if (r["subject_id"], r["session_id"], r.get("type")) == key]
        parts.append(write(tmp_path / f"{number}.jsonl", of_key))
    assert from_files(databases, parts) == clean


def test_turns_with_an_index_may_come_in_any_order(databases: Databases, history: Path, tmp_path: Path) -> None:
    records = read(history)
    places: dict[tuple[str, str], int] = {}
    for record in records:
        if record.get("type") != "outcome":
            session = (record["subject_id"], record["session_id"])
            record["turn_index"] = places[session] = places.get(session, -1) + 1
    in_order = from_files(databases, [write(tmp_path / "whole.jsonl", records)])
    shuffled = random.Random(3).sample(records, len(records))
    assert from_files(databases, [write(tmp_path / "shuffled.jsonl", shuffled)]) == in_order


def from_files(databases: Databases, files: list[Path]) -> Digest:
    """The memory that files give, imported one after another; ids included."""
    with databases() as url, Store.open(url, size=1) as store:
        for file in files:
            import_file(store, file, tenant_id=compact.TENANT, now=compact.UNTIL)
        consolidate(store, compact.TENANT, compact.policy(), compact.UNTIL)
        return digest(store, compact.TENANT)


def read(path: Path) -> list[dict[str, Any]]:
    """The records of a JSONL file, without the broken one."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    """A JSONL file."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
