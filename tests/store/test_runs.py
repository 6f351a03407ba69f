"""The run ledger: which failures still wait for somebody."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reverie.errors import StageError
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import run
from reverie.store.work import Work

AT = datetime(2026, 5, 1, tzinfo=UTC)
POLICY = load_policy("reverie")
FEBRUARY = {"since": datetime(2026, 2, 1, tzinfo=UTC), "until": datetime(2026, 3, 1, tzinfo=UTC)}
YEAR = {"since": datetime(2026, 1, 1, tzinfo=UTC), "until": datetime(2027, 1, 1, tzinfo=UTC)}


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


def attempt(store: Store, *, fails: bool = False, stage: str = "merge", days: int = 0, **limits: Any) -> None:
    """A run that gets done, or does not."""
    at = AT + timedelta(days=days)
    work = Work(store=store, scope=Scope(tenant_id="t", **limits), policy=POLICY, as_of=at)
    if fails:
        with pytest.raises(StageError), run(work, stage):
            raise StageError
        return
    with run(work, stage) as current, work.transaction() as conn:
        current.record(conn)


def open_failures(store: Store) -> int:
    with store.transaction("t") as conn:
        found = conn.execute(queries("runs")["count_failures"], {"tenant": "t"}).fetchone()
    assert found
    return found[0]


@pytest.mark.parametrize(
    ("failed", "done", "left"),
    [
        ({}, {}, 0),
        ({}, {"days": 1}, 0),
        ({}, {"days": -1}, 1),
        ({}, {"stage": "score"}, 1),
        ({}, {"subjects": ("ana",)}, 1),
        ({}, {"shard_to": 512}, 1),
        ({}, FEBRUARY, 1),
        ({"subjects": ("ana", "ben")}, {}, 0),
        ({"subjects": ("ana", "ben")}, {"subjects": ("ben", "cyd", "ana")}, 0),
        ({"subjects": ("ana", "ben")}, {"subjects": ("ana",)}, 1),
        ({"shard_to": 256}, {"shard_to": 512}, 0),
        ({"shard_to": 512}, {"shard_to": 256}, 1),
        ({"shard_from": 256, "shard_to": 512}, {"shard_to": 512}, 0),
        ({"shard_from": 256, "shard_to": 512}, {"shard_to": 300}, 1),
        (FEBRUARY, {}, 0),
        (FEBRUARY, YEAR, 0),
        (YEAR, FEBRUARY, 1),
    ],
)
def test_a_failure_is_over_when_all_that_it_was_to_do_is_done(
    store: Store, failed: dict[str, Any], done: dict[str, Any], left: int
) -> None:
    attempt(store, fails=True, **failed)
    assert open_failures(store) == 1
    attempt(store, **{"days": 1} | done)
    assert open_failures(store) == left


def test_subject_by_subject_and_by_their_buckets(store: Store) -> None:
    attempt(store, fails=True, subjects=("ana", "ben"))
    with store.transaction("t") as conn:
        row = conn.execute("select ops.shard_of('t', 'ana'), ops.shard_of('t', 'ben')").fetchone()
    assert row
    ana, ben = row
    attempt(store, days=2, subjects=("ben",))
    attempt(store, days=2, shard_from=ben, shard_to=ben + 1)
    assert open_failures(store) == 1
    attempt(store, days=3, shard_from=ana, shard_to=ana + 1)
    assert open_failures(store) == 0


def test_what_fails_again_is_open_again(store: Store) -> None:
    attempt(store)
    attempt(store, fails=True)
    assert open_failures(store) == 1
    attempt(store)
    assert open_failures(store) == 0


def test_what_a_run_counted_is_settled_once(store: Store) -> None:
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=POLICY, as_of=AT)
    with run(work, "compress") as current:
        current.settle()
        with store.transaction("t") as conn:
            (first,) = conn.execute("select xmin::text from ops.runs").fetchone() or ("",)
        current.settle()  # nothing more was counted
        with store.transaction("t") as conn:
            assert conn.execute("select xmin::text from ops.runs").fetchone() == (first,)
        current.report.add("patterns", 2)
        current.settle()
    with store.transaction("t") as conn:
        assert conn.execute("select report, attempts from ops.runs").fetchall() == [({"patterns": 2}, 1)]
