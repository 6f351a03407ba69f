"""The queue: when a session is due, who may take it, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.policy import load_policy
from reverie.store.connect import connect, tenant_transaction
from reverie.store.queue import Waiting, claim, enqueue, finish

POLICY = load_policy("reverie")
START = datetime(2026, 5, 1, 9, tzinfo=UTC)
QUIET = timedelta(minutes=5)
MAX_WAIT = timedelta(minutes=30)

Conn = psycopg.Connection[Any]


@pytest.fixture
def worker(database_url: str) -> Iterator[Conn]:
    """A session in the worker's role."""
    with connect(database_url, role="worker") as session:
        yield session


def arrive(conn: Conn, session: str, at: datetime, *, quiet: bool = False, tenant: str = "acme") -> None:
    with tenant_transaction(conn, tenant):
        enqueue(
            conn,
            tenant,
            [Waiting(subject_id="ana", session_id=session, said_at=at, quiet=quiet)],
            policy=POLICY,
            at=at,
        )


def due(conn: Conn, session: str) -> tuple[datetime, int]:
    with tenant_transaction(conn, "acme"):
        row = conn.execute("select due_at, turns from ops.queue where session_id = %s", [session]).fetchone()
    assert row is not None
    return row


MINUTES = st.lists(st.floats(0, 120, width=32), min_size=1, max_size=8)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MINUTES)
def test_due_when_quiet_and_at_most_half_an_hour_after_the_first_turn(worker: Conn, minutes: list[float]) -> None:
    """In whatever order the turns are heard of."""
    session, times = uuid4().hex, [START + timedelta(minutes=each) for each in minutes]
    for at in times:
        arrive(worker, session, at)
    assert due(worker, session) == (min(min(times) + MAX_WAIT, max(times) + QUIET), len(times))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MINUTES, st.data())
def test_a_session_known_to_be_quiet_is_due_at_once_until_it_speaks_again(
    worker: Conn, minutes: list[float], data: st.DataObject
) -> None:
    session, times = uuid4().hex, sorted(START + timedelta(minutes=each) for each in minutes)
    expected = None
    for at in times:
        quiet = data.draw(st.booleans())
        arrive(worker, session, at, quiet=quiet)
        capped = min(times[0] + MAX_WAIT, at if quiet else at + QUIET)
        expected = min(expected or capped, at) if quiet else max(expected or capped, capped)
        assert due(worker, session)[0] == min(expected, times[0] + MAX_WAIT)


@pytest.mark.parametrize("clock", [timedelta(minutes=1), timedelta(minutes=-1), timedelta(hours=1)])
def test_an_event_that_comes_while_a_worker_holds_the_session_keeps_it_in_the_queue(
    worker: Conn, clock: timedelta
) -> None:
    """By whatever clock it comes: the worker may have read the events before."""
    event = Waiting(subject_id="ana", session_id="s", turns=0, said_at=START - timedelta(days=1))
    now = START + QUIET

    def observe(at: datetime) -> None:
        with tenant_transaction(worker, "acme"):
            enqueue(worker, "acme", [event], policy=POLICY, at=at)

    def work(at: datetime, *, then: Any = lambda: None) -> tuple[int, int]:
        times = {"as_of": at, "at": at, "until": at + timedelta(minutes=10)}
        with tenant_transaction(worker, "acme"):
            lease = claim(worker, "acme", **times, limit=10)
        assert lease is not None
        then()
        with tenant_transaction(worker, "acme"):
            return finish(worker, lease, as_of=at)

    observe(START)
    assert work(now, then=lambda: observe(now + clock)) == (0, 1)
    assert due(worker, "s")[1] == 1
    assert work(now + timedelta(hours=2)) == (1, 0)
