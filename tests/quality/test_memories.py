"""Gates on memories fail on too many, on one importance for all, and on repeats."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg

from reverie.store.queries import queries
from tests.quality.conftest import AS_OF, Check

Conn = psycopg.Connection[Any]
SINCE = AS_OF - timedelta(days=7)


def test_growth(healthy: Conn, check: Check) -> None:
    healthy.execute("delete from memory.memories where happened_at > %s", [SINCE])
    result = check("growth")["growth"]
    assert result.failures == (
        "Tenant acme: a turn of the last 7 days gave 0.00 memories; 0.50 in the 8 weeks before.",
    )


#: Forgets all that was formed before; each leaves its tombstone, with its id dated, and its lineage.
_FORGET = """
with gone as (delete from memory.memories where happened_at <= %(since)s returning *),
dated as (
    select *, overlay(id::text placing left(hex, 8) || '-' || right(hex, 4) from 1 for 13)::uuid as dated_id
    from (select *, lpad(to_hex((extract(epoch from happened_at) * 1000)::bigint), 12, '0') as hex from gone) x
),
lineage as (
    insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
    select tenant_id, dated_id, 'extracted', 'turn', turn_id, happened_at, run_id from dated
)
insert into memory.tombstones
    (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at, run_id)
select tenant_id, dated_id, subject_id, kind, '', 0, 'faded', %(as_of)s, run_id from dated"""

#: Beside each tombstone: one of a repeat that was merged with it, and one of a memory that no turn gave.
_OTHERS = """
with other as (
    select t.*, overlay(t.memory_id::text placing x.suffix from 25 for 12)::uuid as other_id, x.relation
    from memory.tombstones t
    cross join (values ('000000000001', 'merged'), ('000000000002', 'event')) as x (suffix, relation)
),
repeats as (
    insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
    select o.tenant_id, o.other_id, 'extracted', l.source, l.source_id, l.as_of, l.run_id
    from other o join memory.lineage l on l.memory_id = o.memory_id where o.relation = 'merged'
    union all
    select tenant_id, memory_id, 'merged', 'memory', other_id, forgotten_at, run_id from other where relation = 'merged'
    union all
    select tenant_id, other_id, 'extracted', 'event', run_id, forgotten_at, run_id from other where relation = 'event'
)
insert into memory.tombstones
    (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at, run_id)
select tenant_id, other_id, subject_id, kind, '', 0, 'faded', forgotten_at, run_id from other"""


def test_growth_counts_what_is_forgotten_by_now(healthy: Conn, check: Check) -> None:
    """Otherwise memory would seem to grow faster each week."""
    healthy.execute(_FORGET, {"since": SINCE, "as_of": AS_OF})
    result = check("growth")["growth"]
    assert (result.passed, result.compared) == (True, 1)


def test_growth_counts_of_the_forgotten_only_what_counted_before(healthy: Conn, check: Check) -> None:
    """Otherwise memory would seem to grow slower once a repeat or a memory without a turn is forgotten."""
    healthy.execute(_FORGET, {"since": SINCE, "as_of": AS_OF})
    healthy.execute(_OTHERS)
    result = check("growth")["growth"]
    assert (result.passed, result.compared) == (True, 1)


def test_growth_looks_up_no_memory_forgotten_long_ago(healthy: Conn) -> None:
    """Tombstones accumulate: otherwise the check would take longer each week."""
    healthy.execute(_FORGET, {"since": SINCE, "as_of": AS_OF})
    params = {"tenant": "acme", "as_of": AS_OF + timedelta(days=50)}
    row = healthy.execute("explain (analyze, format json) " + queries("quality")["growth"], params).fetchone()
    assert row is not None
    (found,) = scanned(row[0][0]["Plan"], "tombstones")
    assert 40 < found < 60, "those of six days, of 480"


def scanned(step: dict[str, Any], table: str) -> list[float]:
    """The rows that each scan of a table gave."""
    own = [step["Actual Rows"] * step["Actual Loops"]] if step.get("Relation Name") == table else []
    return own + [rows for each in step.get("Plans", ()) for rows in scanned(each, table)]


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
