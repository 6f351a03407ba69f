"""A tenant whose clock was stopped keeps its memory, however late a schedule, a worker or a person comes by."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.drain import Drainer
from reverie.evaluate.health import lag_hours
from reverie.inference import Embedder, load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import log_recall, recall
from reverie.store.clock import read_clock, set_clock, tenant_time
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from reverie.store.work import Work
from tests.conftest import SAMPLE_AT

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample_history.jsonl"
#: Between two cycles, so that a recall of the stopped time waits for a cycle that does not come.
STOPPED = SAMPLE_AT
POLICY = load_policy("reverie")
TENANT = "demo"


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder("minilm", threads=1)


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return {"remembered": "sample"}


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture
def remembered(store: Store) -> Store:
    """The sample, remembered up to the time at which the clock stops."""
    return store


def tick(store: Store, at: datetime, embedder: Embedder) -> None:
    """What a cycle of the schedule does at a time, and then a worker."""
    scope = Scope(tenant_id=TENANT)
    for _ in ingest(Work(store=store, scope=scope, policy=POLICY, as_of=at, embedder=embedder)):
        pass
    for _ in catch_up(Work(store=store, scope=scope, policy=POLICY, as_of=at, embedder=embedder)):
        pass
    Drainer(store=store, embedder=embedder, clock=lambda: at).drain()


def test_the_sample_survives_the_night(remembered: Store, embedder: Embedder) -> None:
    store = remembered
    with store.transaction(TENANT) as conn:
        set_clock(conn, TENANT, STOPPED)
    tick(store, STOPPED, embedder)
    session = store.session(TENANT)
    asked = recall(
        session,
        RecallQuery(text="Does he still drink coffee?", subject_id="arjun", as_of=STOPPED),
        policy=POLICY,
        embedder=embedder,
    )
    perform(log_recall(session, perform(asked)))
    before = digest(store, TENANT)
    for later in (timedelta(hours=6), timedelta(days=1), timedelta(days=183)):
        tick(store, STOPPED + later, embedder)
        assert digest(store, TENANT) == before
    assert lag_hours(store, [Scope(tenant_id=TENANT)], STOPPED + timedelta(days=183)) == 0

    with store.transaction(TENANT) as conn:
        set_clock(conn, TENANT, None)
    tick(store, STOPPED + timedelta(days=183), embedder)
    assert digest(store, TENANT) != before  # this is what the clock kept away


def test_time_goes_up_to_where_the_clock_stands(store: Store) -> None:
    import_file(store, SAMPLE, tenant_id=TENANT, now=STOPPED)
    assert read_clock(store, TENANT) is None
    with store.transaction(TENANT) as conn:
        set_clock(conn, TENANT, STOPPED)
    day = timedelta(days=1)
    assert tenant_time(store, TENANT, STOPPED + day) == STOPPED
    assert tenant_time(store, TENANT, STOPPED - day) == STOPPED - day
    assert tenant_time(store, "other", STOPPED + day) == STOPPED + day
