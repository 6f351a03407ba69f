"""Gates on what users notice fail on recalls that find nothing, and on turns that wait."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg

from tests.quality.conftest import AS_OF, Check, live

Conn = psycopg.Connection[Any]


def test_empty_recalls(healthy: Conn, check: Check) -> None:
    since = AS_OF - timedelta(days=7)
    healthy.execute("update log.recalls set item_ids = '{}' where asked_at > %s", [since])
    assert check("empty_recalls")["empty_recalls"].failures == (
        "Tenant acme: 100 % of recalls found nothing in the last 7 days; 5 % in the 8 weeks before.",
    )
    # fewer than usual is no failure
    healthy.execute("update log.recalls set item_ids = array[id] where asked_at > %s", [since])
    healthy.execute("update log.recalls set item_ids = '{}' where asked_at <= %s", [since])
    assert check("empty_recalls")["empty_recalls"].passed


def test_lag(healthy: Conn, check: Check) -> None:
    healthy.execute("delete from memory.extractions x using log.turns t where t.id = x.turn_id and t.said_at > %s",
                    [AS_OF - timedelta(hours=10)])  # fmt: skip
    result = check("lag")["lag"]
    assert result.failures == ("Tenant acme: the oldest turn that waits has waited for 1.6 cycles; 0.0 cycles in the 8 weeks before.",)  # fmt: skip # noqa: E501
    assert result.observed[0].high == 1.0


def test_lag_without_history_has_the_limit_of_the_health_check(conn: Conn, check: Check) -> None:
    live(conn)
    for hours, passed in ((10, True), (14, False)):
        conn.execute("delete from memory.extractions x using log.turns t where t.id = x.turn_id and t.said_at > %s",
                     [AS_OF - timedelta(hours=hours)])  # fmt: skip
        assert check("lag")["lag"].passed is passed


def test_an_import_waits_by_the_wall_clock_even_if_the_tenants_clock_stands(healthy: Conn, check: Check) -> None:
    healthy.execute("update ops.tenants set clock_at = %s", [AS_OF])
    healthy.execute("delete from memory.extractions x using log.turns t where t.id = x.turn_id and t.said_at > %s",
                    [AS_OF - timedelta(hours=10)])  # fmt: skip
    now = AS_OF + timedelta(days=150)
    for hours, passed in ((4, True), (24, False)):
        healthy.execute("update log.turns set recorded_at = %s", [now - timedelta(hours=hours)])
        assert check("lag", at=now)["lag"].passed is passed
