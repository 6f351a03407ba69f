"""Tenants can be distributed: every join of tenant tables contains tenant_id, and each statement is of one tenant.

That tenant_id leads every key and index is in `test_schema.py`. Postgres' own plans answer for statements, made for a
superuser, whom row-level security does not bind: what a plan holds a table's tenant_id equal to stands in the statement
or follows from it. Bodies of functions that Postgres does not put in the place of their call are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from reverie.store.queries import queries
from tests.store.test_queries import TEMPORARY, TYPES, prepared, statements
from tests.store.test_schema import tables

#: Alembic's row of the revision.
WITHOUT_TENANT = {"ops.migrations"}

#: Statements that read rows of all tenants, and why.
OVER_TENANTS = {"tenants.list_tenants": "a worker asks which tenants there are, to serve them one after the other"}
#: They run in another database, or on the marts, or are made for any table with the tenant as a literal.
ELSEWHERE = {"source", "report", "copying"}


def test_every_foreign_key_joins_the_tenant(conn: psycopg.Connection) -> None:
    loose = conn.execute(
        """
        select c.conrelid::regclass::text, c.conname
        from pg_constraint c
        join pg_namespace n on n.oid = c.connamespace and n.nspname in ('log', 'memory', 'ops')
        where c.contype = 'f' and not exists (
            select from unnest(c.conkey, c.confkey) k (here, there)
            join pg_attribute h on h.attrelid = c.conrelid and h.attnum = k.here and h.attname = 'tenant_id'
            join pg_attribute t on t.attrelid = c.confrelid and t.attnum = k.there and t.attname = 'tenant_id')
        """
    ).fetchall()
    assert loose == []


def test_every_statement_names_the_tenant_of_each_table(conn: psycopg.Connection) -> None:
    loose, seen = {}, set[str]()
    with conn.transaction(force_rollback=True):
        for stem, name in TEMPORARY:
            conn.execute(queries(stem)[name])
        conn.execute("set plan_cache_mode = force_generic_plan")
        for stem, name, text in statements():
            if stem in ELSEWHERE:
                continue
            plan = plan_of(conn, prepared(text, TYPES.get((stem, name), {})))
            seen |= {str(node["Relation Name"]) for node in walk(plan) if "Relation Name" in node}
            if found := loose_tables(plan):
                loose[f"{stem}.{name}"] = found
    assert {"turns", "memories", "items", "terms", "queue"} <= seen
    assert {name: found for name, found in loose.items() if name not in OVER_TENANTS} == {}
    assert sorted(set(OVER_TENANTS) - set(loose)) == [], "no exception any more"


def test_all_tables_lie_beside_the_turns_of_their_tenant(conn: psycopg.Connection) -> None:
    rows = conn.execute("select of_table, statement from ops.distribution()").fetchall()
    assert [table for table, _ in rows if table not in WITHOUT_TENANT] == [table for table, _ in rows]
    assert sorted(table for table, _ in rows) == sorted(set(tables(conn)) - WITHOUT_TENANT)
    first, *others = [statement for _, statement in rows]
    assert first == "select create_distributed_table('log.turns', 'tenant_id', colocate_with => 'none')"
    assert all(each.endswith("'tenant_id', colocate_with => 'log.turns')") for each in others)


def test_without_citus_nothing_is_distributed(conn: psycopg.Connection) -> None:
    conn.execute("set role reverie_owner")
    assert conn.execute("select ops.distribute_tables()").fetchone() == (0,)


@pytest.mark.parametrize(
    ("statement", "loose"),
    [
        ("select m.id from memory.memories m where m.tenant_id = $1", []),
        ("select m.id from memory.memories m where m.subject_id = $1", ["memory.memories m"]),
        (
            "select 1 from memory.memories m join memory.lineage l on l.memory_id = m.id where m.tenant_id = $1",
            ["memory.lineage l"],
        ),
        (
            "select 1 from memory.memories m join memory.lineage l using (tenant_id) where m.id = l.memory_id",
            ["memory.lineage l", "memory.memories m"],
        ),
        ("select 1 from memory.memories m join memory.lineage l using (tenant_id) where l.tenant_id = $1", []),
    ],
)
def test_a_statement_that_leaves_it_out_is_found(conn: psycopg.Connection, statement: str, loose: list[str]) -> None:
    with conn.transaction(force_rollback=True):
        conn.execute("set local plan_cache_mode = force_generic_plan")
        assert loose_tables(plan_of(conn, f"prepare query as {statement}")) == loose


def plan_of(conn: psycopg.Connection, statement: str) -> dict[str, Any]:
    """The generic plan of a statement that is prepared as `query`."""
    conn.execute(statement)
    (number,) = conn.execute(
        "select cardinality(parameter_types) from pg_prepared_statements where name = 'query'"
    ).fetchone() or (0,)
    given = f"({', '.join(['null'] * number)})" if number else ""
    (plan,) = conn.execute(f"explain (format json, verbose, costs off) execute query {given}").fetchone() or ([],)
    conn.execute("deallocate query")
    found: dict[str, Any] = plan[0]["Plan"]
    return found


def loose_tables(plan: dict[str, Any]) -> list[str]:
    """Tables of a plan whose tenant_id is not held equal to a value, itself or by a join; each with its alias."""
    nodes = list(walk(plan))
    tables = {
        node["Alias"]: f"{node['Schema']}.{node['Relation Name']} {node['Alias']}"
        for node in nodes
        if node["Node Type"].endswith("Scan")
        and node.get("Schema") in ("log", "memory", "ops")
        and "Relation Name" in node
    }
    conditions = " ".join(
        str(value) for node in nodes for key, value in node.items() if key.endswith(("Cond", "Filter"))
    )
    equal = {(a.strip('"'), b.replace('"', "").removesuffix(".tenant_id")) for a, b in _EQUAL.findall(conditions)}
    equal |= {(b, a) for a, b in equal}
    fixed: set[str] = set()
    while more := {a for a, b in equal if a in tables.keys() - fixed and (b in fixed or b not in tables)}:
        fixed |= more
    loose = (table for alias, table in tables.items() if alias not in fixed)
    return sorted(table for table in loose if table.split()[0] not in WITHOUT_TENANT)


#: The tenant_id of an alias and what a plan holds it equal to: a parameter, a call, or a column.
_EQUAL = re.compile(r'("?\w+"?)\.tenant_id = (\(?[$"\w.]+)')


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan's nodes."""
    if node:
        yield node
        for child in node.get("Plans", ()):
            yield from walk(child)
