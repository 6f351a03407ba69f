"""Promise 4: memory that is emptied and made again from the log is the memory of a history loaded at once.

That holds for histories that arrived late, in parts or in another order, which make another memory until then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.rebuild import empty_memory
from reverie.inference.judge.judge import TrainedJudge
from reverie.inference.reader.reader import TrainedReader
from reverie.model import Scope
from reverie.store.database import Store
from reverie.store.digest import Digest, digest
from reverie.store.work import Work
from reverie.testing import DatabaseFactory
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.compact import TENANT, UNTIL
from tests.promises.conftest import WorkedIn
from tests.promises.world import consolidate, live

POLICY = compact.policy()


@pytest.fixture
def lived(worked_in: WorkedIn, database_factory: DatabaseFactory) -> Iterator[Store]:
    """The whole history, loaded and worked in at once."""
    with database_factory.copy(worked_in(POLICY, UNTIL)) as url, Store.open(url, size=2) as store:
        yield store


@pytest.fixture
def whole(lived: Store) -> Digest:
    """The digest of its memory."""
    return digest(lived, TENANT)


def odd_and_even(lines: list[str]) -> tuple[list[str], list[str]]:
    """Every other line."""
    return lines[::2], lines[1::2]


def late_beginning(lines: list[str]) -> tuple[list[str], list[str]]:
    """What happened last comes first."""
    lines = sorted(lines, key=moment)
    return lines[len(lines) // 2 :], lines[: len(lines) // 2]


def moment(line: str) -> str:
    try:
        record: dict[str, Any] = json.loads(line)
    except ValueError:
        return ""
    return str(record.get("said_at") or record["observed_at"])


@pytest.mark.parametrize("split", [odd_and_even, late_beginning])
def test_a_history_in_parts_is_rebuilt_as_one(
    split: Any, whole: Digest, databases: Databases, history: Path, tmp_path: Path
) -> None:
    lines = history.read_text(encoding="utf-8").splitlines(keepends=True)
    with databases() as url, Store.open(url, size=2) as store:
        for number, part in enumerate(split(lines)):
            file = tmp_path / f"{number}.jsonl"
            file.write_text("".join(part), encoding="utf-8")
            live(store, TENANT, POLICY, file, UNTIL)
        assert digest(store, TENANT).tables != whole.tables  # why there is a rebuild
        rebuild(store, UNTIL)
        assert digest(store, TENANT).tables == whole.tables


def test_a_rebuild_cut_off_anywhere_is_finished_by_the_next_run(whole: Digest, lived: Store) -> None:
    for stop in (UNTIL - timedelta(days=100), UNTIL - timedelta(days=70)):  # as a process that dies on the way
        rebuild(lived, stop)
    assert digest(lived, TENANT).tables != whole.tables
    consolidate(lived, TENANT, POLICY, UNTIL)
    assert digest(lived, TENANT).tables == whole.tables


def test_a_rebuild_asks_no_model_of_our_own_again(whole: Digest, lived: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(_: object, items: list[object]) -> list[object]:
        assert not items, "a message or a pair that was kept"
        return []

    assert count(lived, "ops.answers") > 0
    monkeypatch.setattr(TrainedReader, "read", asked)
    monkeypatch.setattr(TrainedJudge, "chances", asked)
    rebuild(lived, UNTIL)
    assert digest(lived, TENANT).tables == whole.tables


def test_emptying_leaves_nothing_derived_and_all_of_the_log(lived: Store, history: Path) -> None:
    live(lived, "other", POLICY, history, UNTIL)
    kept, turns = digest(lived, "other"), count(lived, "log.turns")
    report = empty_memory(Work(store=lived, scope=Scope(tenant_id=TENANT), policy=POLICY, as_of=UNTIL))
    assert report["rows"] > report["memories"] > 0
    assert all(table.rows == 0 for table in digest(lived, TENANT).tables.values())
    assert digest(lived, "other") == kept
    assert count(lived, "log.turns") == turns
    assert count(lived, "ops.embeddings") > 0


def rebuild(store: Store, until: datetime) -> None:
    empty_memory(Work(store=store, scope=Scope(tenant_id=TENANT), policy=POLICY, as_of=until))
    consolidate(store, TENANT, POLICY, until)


def count(store: Store, table: str) -> int:
    with store.transaction(TENANT) as conn:
        row = conn.execute(f"select count(*) from {table}").fetchone()  # type: ignore[arg-type]  # noqa: S608
        assert row is not None
        return int(row[0])


def test_an_import_after_the_last_run_needs_no_rebuild(
    whole: Digest, databases: Databases, history: Path, tmp_path: Path
) -> None:
    """Parts in event order, each worked in to its own end, are what a live system does."""
    lines = sorted(history.read_text(encoding="utf-8").splitlines(keepends=True), key=moment)
    middle = datetime.fromisoformat(moment(lines[len(lines) // 2]))
    with databases() as url, Store.open(url, size=2) as store:
        early = [line for line in lines if moment(line) and datetime.fromisoformat(moment(line)) <= middle]
        for number, part in enumerate((early, [line for line in lines if line not in early])):
            file = tmp_path / f"{number}.jsonl"
            file.write_text("".join(part), encoding="utf-8")
            import_file(store, file, tenant_id=TENANT, now=UNTIL)
            consolidate(store, TENANT, POLICY, middle if number == 0 else UNTIL)
        assert digest(store, TENANT).tables == whole.tables
