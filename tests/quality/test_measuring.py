"""Measures are written once a time, at the time of the tenant."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg

from tests.quality.conftest import AS_OF, Check

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
