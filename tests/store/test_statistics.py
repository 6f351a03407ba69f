"""The planner: statistics of what grew, and look-ups by id that stay on their key in a table of any size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.store.test_queries import TEMPORARY, TYPES, prepared, queries, statements

#: Statements whose arguments have no type until they are bound, and those of the owner.
UNPLANNED = {("queue", "enqueue"), ("working_memory", "update_session"), ("rebuild", "empty"), ("emptying", "empty")}
#: Statements of the eraser and of the owner, whom the worker cannot plan for.
OTHERS = ("erase", "receipts", "scrub")


def insert_outcomes(conn: psycopg.Connection, number: int, tenant: str = "t") -> None:
    """Add rows to a table that `ops.analyze_tables` knows."""
    conn.execute(
        """insert into log.outcomes (tenant_id, id, subject_id, session_id, source_id, metric, value, positive,
                                     observed_at)
           select %s, gen_random_uuid(), 'ana', 's', n::text, 'm', 1, true, now() from generate_series(1, %s) n""",
        [tenant, number],
    )


def counted(conn: psycopg.Connection) -> int:
    """How many outcomes there are for all that the planner knows."""
    conn.execute("select ops.analyze_tables()")
    row = conn.execute("select reltuples::int from pg_class where oid = 'log.outcomes'::regclass").fetchone()
    assert row is not None
    return int(row[0])


def test_a_table_that_grew_by_a_tenth_is_analyzed_again(conn: psycopg.Connection) -> None:
    conn.execute("alter table log.outcomes set (autovacuum_enabled = false)")
    insert_outcomes(conn, 5_000)
    assert counted(conn) == 5_000
    insert_outcomes(conn, 250)
    assert counted(conn) == 5_000, "a twentieth is not worth a sample of every table"
    insert_outcomes(conn, 500)
    assert counted(conn) == 5_750


@pytest.fixture
def grown(conn: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """A tenant's memories, just vacuumed, as its worker: an index alone then answers what it holds."""
    conn.execute(
        """insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,
               importance, happened_at, accessed_at, decayed_at, origin, run_id, policy_hash)
           select 't', gen_random_uuid(), 's' || n % 200, 'episode', 'active', repeat('said ', 20), '', 0.5, 0.5, 0.5,
                  now(), now(), now(), 'rule', gen_random_uuid(), 'p'
           from generate_series(1, 10000) n"""
    )
    conn.execute("vacuum analyze")
    conn.execute("set role reverie_worker")
    with conn.transaction(force_rollback=True):
        for stem, name in TEMPORARY:
            conn.execute(queries(stem)[name])
        yield conn


def test_a_look_up_by_id_reads_no_index_that_a_subject_leads(grown: psycopg.Connection) -> None:
    """It would read all entries of the tenant for each id (docs/decisions/0081)."""
    found, planned = [], 0
    for stem, name, text in statements():
        if (stem, name) in UNPLANNED or stem in OTHERS:
            continue
        body = re.sub(r"^prepare query( \(.*?\))? as ", "", prepared(text, TYPES.get((stem, name), {})), flags=re.S)
        row = grown.execute(f"explain (generic_plan, format json) {body}").fetchone()  # type: ignore[arg-type]
        assert row is not None
        planned += 1
        found += [f"{stem}.{name}: {step}" for step in steps(row[0][0]["Plan"]) if leads_astray(step)]
    assert planned > 200
    assert found == []


def steps(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The index and the condition of each step that reads one."""
    if "Index Name" in plan:
        yield plan["Index Name"], plan.get("Index Cond", "")
    for part in plan.get("Plans", ()):
        yield from steps(part)


def leads_astray(step: tuple[str, str]) -> bool:
    """Whether a step looks for one memory in the index of its subject without naming the subject."""
    index, condition = step
    by_id = "subject_id" not in condition and re.search(r"\(id = (?!ANY)", condition)
    return index == "memories_by_subject" and bool(by_id)
