"""Late history: in whatever order a history arrives, it can be made what event order would have given."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.exported import import_export
from reverie.capture.history.importing import import_file
from reverie.capture.live.acknowledge import TurnBatch, TurnReaders, append_turns
from reverie.drive.advance import advance
from reverie.drive.exporting import export
from reverie.drive.flush import flush_due
from reverie.drive.late import empty_late, late_subjects, remake_late
from reverie.model import Scope
from reverie.store.database import Store
from reverie.store.digest import Digest, digest
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, WordEmbedder
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.compact import TENANT, UNTIL
from tests.promises.conftest import WorkedIn
from tests.promises.test_rebuilt import late_beginning, moment, odd_and_even
from tests.promises.world import consolidate, live

POLICY = compact.policy()
#: From midnight to a nightly run.
RUN = timedelta(minutes=5)


@pytest.fixture(scope="module")
def whole(worked_in: WorkedIn, database_factory: DatabaseFactory) -> Digest:
    """The digest of the whole history's memory, loaded and worked in at once."""
    with database_factory.copy(worked_in(POLICY, UNTIL)) as url, Store.open(url, size=2) as store:
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
        for part, until in (
            ([line for line in lines if moment(line) <= middle], datetime.fromisoformat(middle)),
            ([line for line in lines if moment(line) > middle], UNTIL),
        ):
            (tmp_path / "part.jsonl").write_text("".join(part), encoding="utf-8")
            import_file(store, tmp_path / "part.jsonl", tenant_id=TENANT, now=UNTIL)
            consolidate(store, TENANT, POLICY, until)
        assert late_subjects(work(store)) == []


def test_a_late_outcome_makes_its_subject_late(
    whole: Digest, databases: Databases, history: Path, tmp_path: Path
) -> None:
    lines = history.read_text(encoding="utf-8").splitlines(keepends=True)
    late = [line for line in lines if '"value": 340' in line]
    with databases() as url, Store.open(url, size=2) as store:
        load(store, [line for line in lines if line not in late], tmp_path)
        assert late_subjects(work(store)) == []
        load(store, late, tmp_path)
        assert late_subjects(work(store)) == ["ana"]
        assert list(remake_late(work(store)))
        assert digest(store, TENANT).tables == whole.tables
        load(store, late, tmp_path)  # known already
        assert late_subjects(work(store)) == []
        log = export(url, TENANT, tmp_path / "out", subject_id=None, at=UNTIL).files[0]
    with databases() as url, Store.open(url, size=2) as store:
        early = tmp_path / "early.jsonl"
        early.write_text(
            "".join(line for line in log.read_text().splitlines(keepends=True) if '"value":340' not in line)
        )
        import_export(store, early, tenant_id=TENANT)
        consolidate(store, TENANT, POLICY, UNTIL)
        import_export(store, log, tenant_id=TENANT)
        assert late_subjects(work(store)) == ["ana"]


def test_a_session_that_goes_on_across_a_cycle_is_not_late(databases: Databases, tmp_path: Path) -> None:
    night = datetime(2026, 3, 3, tzinfo=UTC)
    said = [
        (night - timedelta(hours=6), "I have a dog named Rex."),
        (night - timedelta(minutes=2), "My sister lives in Pune."),
        (night + timedelta(minutes=1), "I moved to Chennai."),
        (night + timedelta(minutes=9), "I prefer texts to emails."),
    ]
    with databases() as url, Store.open(url, size=2) as store:
        with store.transaction(TENANT) as conn:
            ensure_tenant(conn, TENANT, "reverie")
        for place, (at, text) in enumerate(said):
            if place == 3:  # a cycle begins while the session goes on: the turn of before it is not in the log yet
                assert "flush" in [each.stage for each in advance(replace(work(store), as_of=night + RUN))]
            turn = {"role": "user", "text": text, "said_at": at.isoformat(), "source_id": str(place)}
            batch = TurnBatch(records=[turn], subject_id="ana", session_id=f"s{place > 0:d}")
            readers = TurnReaders(count_tokens=len)
            perform(append_turns(store.session(TENANT), batch, policy=POLICY, as_of=at, readers=readers))
        end = replace(work(store), as_of=night + timedelta(days=2))
        list(flush_due(store, policy_of=lambda tenant: POLICY, as_of=end.as_of, count_tokens=len))
        list(advance(end))
        assert late_subjects(end) == []
        live_, log = digest(store, TENANT), export(url, TENANT, tmp_path / "out", subject_id=None, at=UNTIL).files[0]
    with databases() as url, Store.open(url, size=2) as store:
        import_export(store, log, tenant_id=TENANT)
        list(advance(replace(work(store), as_of=end.as_of)))
        assert digest(store, TENANT).tables == live_.tables
