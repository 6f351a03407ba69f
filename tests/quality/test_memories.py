"""Gates on memories fail on too many, on one importance for all, and on repeats."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg

from tests.quality.conftest import AS_OF, Check

Conn = psycopg.Connection[Any]
SINCE = AS_OF - timedelta(days=7)


def test_growth(healthy: Conn, check: Check) -> None:
    healthy.execute("delete from memory.memories where happened_at > %s", [SINCE])
    result = check("growth")["growth"]
    assert result.failures == (
        "Tenant acme: a turn of the last 7 days gave 0.00 memories; 0.50 in the 8 weeks before.",
    )


def test_growth_counts_what_is_forgotten_by_now(healthy: Conn, check: Check) -> None:
    """Otherwise memory would seem to grow faster each week."""
    healthy.execute(
        """with gone as (delete from memory.memories where happened_at <= %s returning *)
           insert into memory.tombstones
               (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at, run_id)
           select tenant_id, overlay(id::text placing left(hex, 8) || '-' || right(hex, 4) from 1 for 13)::uuid,
                  subject_id, kind, '', 0, 'faded', %s, run_id
           from (select *, lpad(to_hex((extract(epoch from happened_at) * 1000)::bigint), 12, '0') as hex
                 from gone) dated""",
        [SINCE, AS_OF],
    )
    result = check("growth")["growth"]
    assert (result.passed, result.compared) == (True, 1)


def test_importance(healthy: Conn, check: Check) -> None:
    healthy.execute("update memory.memories set importance = 0.9")
    result = check("importance")["importance"]
    assert result.failures[0].startswith("Tenant acme: 100 % of active memories have an importance of 0.8 to 1 now; 9")
    assert result.failures[0].endswith(" % in the 8 weeks before.")


def test_repeats(healthy: Conn, check: Check) -> None:
    healthy.execute(
        "update memory.memories m set content = first.content, content_hash = first.content_hash "
        "from (select distinct on (subject_id) subject_id, content, content_hash from memory.memories "
        "      order by subject_id, happened_at) first where first.subject_id = m.subject_id and happened_at > %s",
        [SINCE],
    )
    assert check("repeats")["repeats"].failures == (
        "Tenant acme: 100 % of the memories of the last 7 days repeat an earlier one word for word; "
        "0 % in the 8 weeks before.",
    )
