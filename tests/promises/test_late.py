"""Late history: in whatever order a history arrives, it can be made what event order would have given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.late import empty_late, late_subjects, remake_late
from reverie.model import Scope
from reverie.store.database import Store
from reverie.store.digest import Digest, digest
from reverie.store.work import Work
from reverie.testing import WordEmbedder
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.compact import TENANT, UNTIL
from tests.promises.test_rebuilt import late_beginning, moment, odd_and_even
from tests.promises.world import consolidate, live

POLICY = compact.policy()


@pytest.fixture(scope="module")
def whole(databases: Databases, history: Path) -> Digest:
    """The digest of the whole history's memory, loaded and worked in at once."""
    with databases() as url, Store.open(url, size=2) as store:
        live(store, TENANT, POLICY, history, UNTIL)
        assert late_subjects(work(store)) == []
        return digest(store, TENANT)


def work(store: Store) -> Work:
    scope = Scope(tenant_id=TENANT)
    return Work(store=store, scope=scope, policy=POLICY, as_of=UNTIL, embedder=WordEmbedder())


def load(store: Store, lines: list[str], folder: Path) -> None:
    (folder / "part.jsonl").write_text("".join(lines), encoding="utf-8")
    live(store, TENANT, POLICY, folder / "part.jsonl", UNTIL)


@pytest.mark.parametrize("split", [odd_and_even, late_beginning])
def test_a_history_in_any_order_is_as_in_event_order(
    split: Any, whole: Digest, databases: Databases, history: Path, tmp_path: Path
) -> None:
    with databases() as url, Store.open(url, size=2) as store:
        for part in split(history.read_text(encoding="utf-8").splitlines(keepends=True)):
            load(store, part, tmp_path)
        assert late_subjects(work(store)) == ["ana", "ben"]
        assert digest(store, TENANT).tables != whole.tables
        assert list(remake_late(work(store)))
        assert digest(store, TENANT).tables == whole.tables
        assert late_subjects(work(store)) == [] and list(remake_late(work(store))) == []


def test_one_late_turn_makes_its_subject_late_and_no_other(
    whole: Digest, databases: Databases, history: Path, tmp_path: Path
) -> None:
    lines = history.read_text(encoding="utf-8").splitlines(keepends=True)
    (late,) = (line for line in lines if "We met Bruno's trainer" in line)
    with databases() as url, Store.open(url, size=2) as store:
        load(store, [line for line in lines if line != late], tmp_path)
        load(store, [late], tmp_path)
        assert late_subjects(work(store)) == ["ana"]
        emptied = empty_late(work(store))
        assert emptied["subjects"] == 1 and emptied["rows"] > 0
        with store.transaction(TENANT) as conn:
            left = conn.execute("select distinct subject_id from memory.memories").fetchall()
        assert left == [("ben",)]
        consolidate(store, TENANT, POLICY, UNTIL)
        assert digest(store, TENANT).tables == whole.tables


def test_what_arrives_in_event_order_is_never_late(databases: Databases, history: Path, tmp_path: Path) -> None:
    lines = sorted(history.read_text(encoding="utf-8").splitlines(keepends=True), key=moment)
    times = [json.loads(line)["said_at"] for line in lines if '"said_at"' in line]
    middle = times[len(times) // 2]
    with databases() as url, Store.open(url, size=2) as store:
        from datetime import datetime

        for part, until in (
            ([line for line in lines if moment(line) <= middle], datetime.fromisoformat(middle)),
            ([line for line in lines if moment(line) > middle], UNTIL),
        ):
            (tmp_path / "part.jsonl").write_text("".join(part), encoding="utf-8")
            import_file(store, tmp_path / "part.jsonl", tenant_id=TENANT, now=UNTIL)
            consolidate(store, TENANT, POLICY, until)
        assert late_subjects(work(store)) == []
