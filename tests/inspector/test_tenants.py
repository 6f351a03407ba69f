"""The health of a tenant."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest

from reverie.model import stable_id
from reverie.store.connect import connect
from tests.inspector.conftest import UNTIL, Site

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_tenants_health(admin: httpx.Client) -> None:
    page = counted(admin)
    assert re.search(r"<dt>subjects</dt><dd>\d</dd>", page)
    assert "Needs attention" in page


def test_costs_are_those_of_the_costs_page_and_late_turns_need_attention(site: Site) -> None:
    said_at = datetime(2026, 3, 1, tzinfo=UTC)
    with connect(site.database) as conn:
        conn.execute("insert into ops.tenants (tenant_id, clock_at) values ('late', %s)", [UNTIL])
        conn.execute(
            """insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at,
                                      recorded_at, text, content_hash)
               values ('late', %s, 'ann', 's1', '1', 0, 'user', %s, %s, 'I live in Oslo.', '')""",
            [stable_id(said_at, "late", "ann", "1"), said_at, datetime.now(UTC) - timedelta(hours=24)],
        )
        for number, state, cost in ((1, "done", 0.25), (2, "reserved", None)):
            conn.execute(
                """insert into ops.calls
                       (tenant_id, id, stage, kind, model, items, state, reserved_usd, cost_usd, priced)
                   values ('late', %s, 'recall', 'embedding', 'hosted', 1, %s, 0.5, %s, true)""",
                [UUID(int=number), state, cost],
            )
    try:
        with site.signed_in("operator") as client:
            page = counted(client, tenant="late")
            assert "$0.7500 spent" in client.get("costs", params={"tenant": "late"}).text
    finally:
        with connect(site.database) as conn:
            for table in ("ops.calls", "log.turns", "ops.tenants"):
                conn.execute(f"delete from {table} where tenant_id = 'late'")  # noqa: S608
    assert "<dt>model costs</dt><dd>$0.7500</dd>" in page
    assert "<strong>24</strong> hours: the oldest turn has waited" in page


def counted(client: httpx.Client, **parameters: str) -> str:
    """The page of a tenant once it is counted."""
    page = client.get("tenant", params=parameters).text
    for _ in range(100):
        if "is being counted" not in page:
            break
        time.sleep(0.1)
        page = client.get("tenant", params=parameters).text
    return page
