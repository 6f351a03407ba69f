"""Measures are written once a time, at the time of the tenant."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
from psycopg.types.json import Jsonb

from tests.cli.conftest import insert
from tests.quality.conftest import AS_OF, Check, live

Conn = psycopg.Connection[Any]


def test_a_second_check_at_the_same_time_replaces_the_first(healthy: Conn, check: Check) -> None:
    check("discards")
    rows = healthy.execute("select count(*) from ops.measures").fetchone()
    assert check("discards")["discards"].passed
    assert healthy.execute("select count(*) from ops.measures").fetchone() == rows


def test_a_tenant_whose_clock_stands_is_checked_at_its_time(healthy: Conn, check: Check) -> None:
    healthy.execute("update ops.tenants set clock_at = %s", [AS_OF])
    later = check("discards", "lag", at=AS_OF + timedelta(days=400))
    assert later["discards"].compared == 3
    assert later["lag"].passed


def test_a_check_of_the_past_measures_no_state_of_today(healthy: Conn, check: Check) -> None:
    tables, states, past = "discards", ("importance", "lag"), AS_OF - timedelta(days=3)
    check(*states, at=past)  # as of then
    measured = "select gate, part, value from ops.measures where as_of = %s and gate <> 'discards' order by 1, 2"
    before = healthy.execute(measured, [past]).fetchall()
    assert {gate for gate, *_ in before} == set(states)
    advance(healthy, AS_OF)
    healthy.execute("update memory.memories set importance = 0.9")
    found = check(tables, *states, at=past)
    assert found[tables].compared == 3
    for name in states:
        assert (found[name].passed, found[name].measures, found[name].note) == (True, 0, "memory has advanced since")
    assert healthy.execute(measured, [past]).fetchall() == before, "the states of then are kept"
    assert check("lag", at=AS_OF)["lag"].measures == 1


def test_tenants_whose_memory_advanced_are_counted(healthy: Conn, check: Check) -> None:
    live(healthy, "beta")
    advance(healthy, AS_OF)
    assert check("lag", at=AS_OF - timedelta(days=3))["lag"].note == "memory of 1 tenant has advanced since"
    assert check("discards", at=AS_OF - timedelta(days=3))["discards"].note == ""


def test_a_schedule_may_be_late_by_a_cycle_and_a_clock_may_stand(healthy: Conn, check: Check) -> None:
    advance(healthy, AS_OF)
    assert check("lag", at=AS_OF - timedelta(hours=6))["lag"].measures == 1
    healthy.execute("update ops.tenants set clock_at = %s", [AS_OF - timedelta(days=100)])
    assert check("lag", at=AS_OF)["lag"].measures == 1


def test_a_run_as_of_the_future_does_not_silence_a_gate(healthy: Conn, check: Check) -> None:
    advance(healthy, AS_OF + timedelta(days=40_000), finished_at=AS_OF)
    assert check("lag", at=AS_OF)["lag"].measures == 1


def advance(conn: Conn, at: datetime, *, finished_at: datetime | None = None) -> None:
    """Record a run at a logical time, which it took place at unless another time is named."""
    insert(
        conn, "ops.runs", run_id=uuid4(), stage="decay", as_of=at, scope=Jsonb({}), driver="cli", policy="reverie",
        policy_hash="", status="done", report=Jsonb({}), finished_at=finished_at or at,
    )  # fmt: skip
