"""The schema is what we think it is: recorded, commented, isolated by its keys, and frozen."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

SQL_DIRECTORY = Path(__file__).resolve().parents[2] / "sql"
RECORDED = SQL_DIRECTORY / "schema.txt"
FROZEN = SQL_DIRECTORY / "frozen.txt"
EVERY_TABLE = SQL_DIRECTORY / "every_table.sql"
REWRITE = "REVERIE_RECORD_SCHEMA"
#: Alembic's own: one row, the revision.
LEDGER = "ops.migrations"
#: Policies beside that of the tenant: what one role may read across tenants.
OF_ALL_TENANTS = {"ops.tenants": ("roster",), "ops.queue": ("backlog",), "ops.sessions": ("backlog",)}

Conn = psycopg.Connection[Any]


def test_migrations_give_the_recorded_schema(conn: Conn) -> None:
    found = "\n".join(describe(conn)) + "\n"
    if os.environ.get(REWRITE):
        RECORDED.write_text(found, encoding="utf-8")
    assert found == RECORDED.read_text(encoding="utf-8"), f"if the change is meant: {REWRITE}=1 pytest {__file__}"


def test_every_migration_is_run_by_a_revision() -> None:
    versions = SQL_DIRECTORY.parent / "reverie" / "store" / "alembic" / "versions"
    revisions = "".join(path.read_text(encoding="utf-8") for path in versions.glob("r*.py"))
    for path in (SQL_DIRECTORY / "migrations").glob("*.sql"):
        assert f'"{path.name}"' in revisions, path.name


def test_frozen_migrations_stay_as_they_were() -> None:
    frozen = frozen_files()
    assert {"0001_log.sql", "0002_memory.sql", "0003_ops.sql"} <= set(frozen)
    for name, digest in frozen.items():
        if name != EVERY_TABLE.name:
            assert sha256(SQL_DIRECTORY / "migrations" / name) == digest, f"{name} is frozen: write a new migration"


def test_what_holds_for_every_table_changes_with_a_migration_alone() -> None:
    """It runs only where a migration does: a change without one would never reach a database."""
    frozen = frozen_files()
    newest = max(path.name for path in (SQL_DIRECTORY / "migrations").glob("*.sql"))
    if newest in frozen:
        said = f"{EVERY_TABLE.name} is frozen with {newest}: write a new migration beside the change"
        assert sha256(EVERY_TABLE) == frozen[EVERY_TABLE.name], said


def test_what_holds_for_every_table_may_run_again(conn: Conn) -> None:
    before = list(describe(conn))
    conn.execute("set role reverie_owner")
    conn.execute(EVERY_TABLE.read_bytes())
    conn.execute("reset role")
    assert list(describe(conn)) == before


def test_a_new_table_is_isolated_and_granted_by_no_line_of_its_own(conn: Conn) -> None:
    conn.execute("set role reverie_owner")
    conn.execute("create table memory.later (tenant_id text not null, subject_id text not null, model text)")
    conn.execute("comment on column memory.later.model is 'Its own meaning.'")
    conn.execute("grant all on memory.later to reverie_reader")
    conn.execute(EVERY_TABLE.read_bytes())
    conn.execute("reset role")
    described = "\n".join(line for query in (_TABLE, _COLUMNS, _POLICIES, _GRANTS)
                          for (line,) in conn.execute(query, {"table": "memory.later"}))  # fmt: skip
    assert "row security forced" in described
    assert "tenant_id text not null statistics 0 -- Whose row it is" in described
    assert "model text -- Its own meaning." in described
    assert "policy tenant PERMISSIVE ALL to public using (tenant_id = " in described
    workers = "reverie_worker=DELETE,INSERT,SELECT,UPDATE"
    assert f"grants reverie_eraser=DELETE,SELECT reverie_reader=SELECT {workers}" in described


def test_everything_has_a_comment(conn: Conn) -> None:
    bare = conn.execute(
        """
        select c.oid::regclass::text || coalesce('.' || a.attname, '')
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        cross join lateral (select null as attname, 0 as attnum union all
                            select attname, attnum from pg_attribute
                            where attrelid = c.oid and attnum > 0 and not attisdropped) a
        where n.nspname in ('log', 'memory', 'ops') and c.relkind in ('r', 'p', 'v', 'm')
          and case a.attnum when 0 then obj_description(c.oid) else col_description(c.oid, a.attnum) end is null
          and c.oid::regclass::text <> %s
        union all
        select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname in ('log', 'memory', 'ops') and obj_description(p.oid) is null
        union all
        select nspname from pg_namespace where nspname in ('log', 'memory', 'ops') and obj_description(oid) is null
        """,
        [LEDGER],
    ).fetchall()
    assert not bare


def test_the_tenant_leads_every_key_and_index(conn: Conn) -> None:
    keys = conn.execute(
        """
        select i.indexrelid::regclass::text, i.indrelid::regclass::text, a.attname
        from pg_index i
        join pg_class c on c.oid = i.indrelid
        join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('log', 'memory', 'ops')
        left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        """
    ).fetchall()
    assert len(keys) > 20
    assert [index for index, table, first in keys if first != "tenant_id" and table != LEDGER] == []


def test_the_tenant_is_never_null_and_every_table_has_a_key(conn: Conn) -> None:
    loose = [
        table
        for table in tables(conn)
        if not conn.execute(
            """select exists (select from pg_index where indrelid = %(t)s::regclass and indisprimary)
                  and exists (select from pg_attribute
                              where attrelid = %(t)s::regclass and attname = 'tenant_id' and attnotnull)""",
            {"t": table},
        ).fetchone()[0]  # type: ignore[index]
    ]
    assert loose == []


def test_row_level_security_is_forced_everywhere(conn: Conn) -> None:
    for table in tables(conn):
        found = conn.execute(
            "select relrowsecurity, relforcerowsecurity from pg_class where oid = %s::regclass", [table]
        ).fetchone()
        assert found == (True, True), table
        policies = conn.execute(
            """select policyname, permissive, roles::text[], cmd, qual, with_check from pg_policies
               where schemaname || '.' || tablename = %s order by policyname desc""",
            [table],
        ).fetchall()
        counted = ("analyst",) if counts(conn, table) else ()
        assert [policy[0] for policy in policies] == ["tenant", *OF_ALL_TENANTS.get(table, ()), *counted], table
        name, permissive, roles, command, using, check = policies[0]
        assert (permissive, roles, command, check) == ("PERMISSIVE", ["public"], "ALL", None), name
        assert "tenant_id = ( SELECT current_setting('reverie.tenant'::text, true)" in using


def test_what_runs_as_its_owner_is_for_the_worker(conn: Conn) -> None:
    found = conn.execute(
        """select p.oid::regprocedure::text, has_function_privilege('reverie_worker', p.oid, 'EXECUTE'),
                  has_function_privilege('reverie_reader', p.oid, 'EXECUTE')
           from pg_proc p where prosecdef and pronamespace::regnamespace::text in ('log', 'memory', 'ops')"""
    ).fetchall()
    assert sorted(found) == [
        ("ops.analyze_tables()", True, False),
        ("ops.erasure_secret()", False, False),
        ("ops.flushable_tenants(timestamp with time zone)", True, False),
        ("ops.is_erased(text,text[])", True, False),
        ("ops.mark_of(text,text[])", True, False),
        ("ops.retire_contexts(timestamp with time zone,integer)", True, False),
        ("ops.retire_recalls(timestamp with time zone,integer)", True, False),
        ("ops.take_erasure_secret(bytea)", False, False),
        ("ops.waiting_tenants(timestamp with time zone,timestamp with time zone)", True, False),
    ]


def test_what_spans_tenants_is_read_by_those_alone_who_must(conn: Conn) -> None:
    found = conn.execute(
        "select policyname, roles::text[], cmd, qual from pg_policies where policyname <> 'tenant' order by 1"
    ).fetchall()
    assert [row for row in found if row[0] == "analyst"] == [
        ("analyst", ["reverie_analyst"], "SELECT", "true") for table in tables(conn) if counts(conn, table)
    ]
    assert [row for row in found if row[0] != "analyst"] == [
        ("backlog", ["reverie_owner"], "SELECT", "true"),
        ("backlog", ["reverie_owner"], "SELECT", "true"),
        ("roster", ["reverie_worker"], "SELECT", "true"),
    ]


def test_the_waiting_tenants_are_told_without_subject_or_session(conn: Conn) -> None:
    (result,) = conn.execute("select pg_get_function_result('ops.waiting_tenants'::regproc)").fetchone() or ("",)
    assert result == "TABLE(tenant_id text, sessions bigint, due_at timestamp with time zone)"


def test_only_the_owner_owns(conn: Conn) -> None:
    owners = conn.execute(
        """
        select distinct pg_get_userbyid(owner) from (
            select nspowner as owner from pg_namespace where nspname in ('log', 'memory', 'ops')
            union all select relowner from pg_class where relnamespace::regnamespace::text in ('log', 'memory', 'ops')
            union all select proowner from pg_proc where pronamespace::regnamespace::text in ('log', 'memory', 'ops')
        ) owners
        """
    ).fetchall()
    assert owners == [("reverie_owner",)]
    able = conn.execute(
        """select rolname from pg_roles
              where rolname = any (array['reverie_owner', 'reverie_worker', 'reverie_reader', 'reverie_analyst',
                                         'reverie_eraser'])
              and (rolsuper or rolbypassrls or rolcanlogin or rolcreaterole or rolcreatedb)"""
    ).fetchall()
    assert able == []


@pytest.mark.parametrize(
    ("role", "schema", "allowed"),
    [
        ("worker", "log", {"SELECT", "INSERT"}),
        ("worker", "memory", {"SELECT", "INSERT", "UPDATE", "DELETE"}),
        ("worker", "ops", {"SELECT", "INSERT", "UPDATE", "DELETE"}),
        ("reader", "log", {"SELECT"}),
        ("reader", "memory", {"SELECT"}),
        ("reader", "ops", set()),
        ("eraser", "log", {"SELECT", "DELETE"}),
        ("eraser", "memory", {"SELECT", "DELETE"}),
        ("eraser", "ops", {"SELECT", "DELETE"}),
    ],
)
def test_a_role_may_do_what_its_work_needs(conn: Conn, role: str, schema: str, allowed: set[str]) -> None:
    more = {
        ("reader", "log.recalls"): {"SELECT", "INSERT"},
        ("reader", "log.contexts"): {"SELECT", "INSERT"},
        ("reader", "ops.tenants"): {"SELECT"},
        ("reader", "ops.runs"): {"SELECT"},
        ("reader", "ops.connection_tools"): {"SELECT"},
        ("reader", "ops.pending_turns"): {"SELECT"},
        ("reader", "ops.queue"): {"SELECT"},
        ("reader", "ops.embeddings"): {"SELECT"},
        ("reader", "ops.consents"): {"SELECT"},
        ("worker", "ops.erasures"): {"SELECT"},
        ("worker", "ops.erased"): {"SELECT"},
        ("worker", "ops.erasure_keys"): {"INSERT"},
        ("eraser", "ops.erasures"): {"SELECT", "INSERT"},
        ("eraser", "ops.erased"): {"SELECT", "INSERT"},
        ("eraser", "ops.erasure_keys"): {"INSERT"},
        ("eraser", "ops.queue"): {"SELECT", "INSERT", "UPDATE", "DELETE"},
        ("eraser", "ops.outbox"): {"SELECT", "INSERT", "DELETE"},
        ("eraser", LEDGER): {"SELECT"},
        ("worker", LEDGER): {"SELECT"},
        ("reader", LEDGER): {"SELECT"},
    }
    for table in [*tables(conn), LEDGER]:
        if table.startswith(f"{schema}."):
            assert set(grants(conn, f"reverie_{role}", table)) == more.get((role, table), allowed), table


def frozen_files() -> dict[str, str]:
    """The files that are frozen, each with its sha256."""
    lines = [line.split() for line in FROZEN.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return {name: digest for digest, name in lines}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tables(conn: Conn) -> list[str]:
    """Every table of ours, by name with its schema."""
    rows = conn.execute(
        """select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname in ('log', 'memory', 'ops') and c.relkind in ('r', 'p') order by 1"""
    ).fetchall()
    return [row[0] for row in rows if row[0] != LEDGER]


def views(conn: Conn) -> list[str]:
    """All views of the schemas."""
    rows = conn.execute(
        """select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where n.nspname in ('log', 'memory', 'ops') and c.relkind = 'v' order by 1"""
    ).fetchall()
    return [row[0] for row in rows]


def grants(conn: Conn, role: str, table: str) -> list[str]:
    """What a role may do to a table, whichever way it was granted."""
    kinds = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
    return [
        kind
        for kind in kinds
        if conn.execute("select has_table_privilege(%s, %s, %s)", [role, table, kind]).fetchone()[0]  # type: ignore[index]
    ]


def counts(conn: Conn, table: str) -> bool:
    """Whether data teams may read some column of a table."""
    found = conn.execute("select has_any_column_privilege('reverie_analyst', %s, 'SELECT')", [table]).fetchone()
    return bool(found and found[0])


def describe(conn: Conn) -> Iterator[str]:
    """The schema as text, the same for every database with the same schema."""
    yield f"# The schema after all migrations; a record, not run. {REWRITE}=1 lets tests/store/test_schema.py write it."
    for (line,) in conn.execute(_SCHEMAS):
        yield line
    for table in [LEDGER, *tables(conn)]:
        yield ""
        for query in (_TABLE, _COLUMNS, _CONSTRAINTS, _INDEXES, _POLICIES, _GRANTS):
            for (line,) in conn.execute(query, {"table": table}):
                yield line
    for view in views(conn):
        yield ""
        for query in (_TABLE, _COLUMNS, _VIEW, _GRANTS):
            for (line,) in conn.execute(query, {"table": view}):
                yield line
    for (line,) in conn.execute(_FUNCTIONS):
        yield f"\n{line}"


_ACL = """(select string_agg(case grantee when 0 then 'public' else pg_get_userbyid(grantee) end || '=' || granted, ' '
                             order by case grantee when 0 then 'public' else pg_get_userbyid(grantee) end)
           from (select grantee, string_agg(privilege_type, ',' order by privilege_type) as granted
                 from aclexplode(coalesce({acl}, acldefault('{kind}', {owner})))
                 where grantee <> {owner} group by grantee) g)"""

_SCHEMAS = f"""
    select 'schema ' || nspname || ' owner ' || pg_get_userbyid(nspowner) || coalesce(' grants ' ||
           {_ACL.format(acl="nspacl", kind="n", owner="nspowner")}, '') || ' -- ' || obj_description(oid)
    from pg_namespace where nspname in ('log', 'marts', 'memory', 'ops') order by nspname"""  # noqa: S608

_TABLE = """
    select case relkind when 'v' then 'view ' else 'table ' end || %(table)s || ' owner ' || pg_get_userbyid(relowner)
           || coalesce(' with ' || array_to_string(reloptions, ','), '')
           || case when relrowsecurity then ' row security' else '' end
           || case when relforcerowsecurity then ' forced' else '' end
           || coalesce(' -- ' || obj_description(oid), '')
    from pg_class where oid = %(table)s::regclass"""

_COLUMNS = """
    select '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
           || case when a.attnotnull then ' not null' else '' end
           || case when a.attgenerated <> '' then ' generated ' || pg_get_expr(d.adbin, d.adrelid)
                   when d.oid is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end
           || case when coalesce(a.attstattarget, -1) >= 0 then ' statistics ' || a.attstattarget else '' end
           || coalesce((select ' grants ' || string_agg(pg_get_userbyid(grantee) || '=' || privilege_type, ' '
                                                         order by 1)
                        from aclexplode(a.attacl)), '')
           || coalesce(' -- ' || col_description(a.attrelid, a.attnum), '')
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = %(table)s::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum"""

_VIEW = """
    select '  as ' || regexp_replace(pg_get_viewdef(%(table)s::regclass), '[[:space:]]+', ' ', 'g')"""

_CONSTRAINTS = """
    select '  constraint ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
    where conrelid = %(table)s::regclass and contype <> 'n' order by conname"""

_INDEXES = """
    select '  ' || pg_get_indexdef(indexrelid)
    from pg_index where indrelid = %(table)s::regclass order by indexrelid::regclass::text"""

_POLICIES = """
    select '  policy ' || policyname || ' ' || permissive || ' ' || cmd || ' to ' || array_to_string(roles, ',')
           || coalesce(' using ' || qual, '') || coalesce(' check ' || with_check, '')
    from pg_policies where schemaname || '.' || tablename = %(table)s order by policyname"""

_GRANTS = f"""
    select '  grants ' || {_ACL.format(acl="relacl", kind="r", owner="relowner")}
    from pg_class where oid = %(table)s::regclass and relacl is not null"""  # noqa: S608

_FUNCTIONS = f"""
    select pg_get_functiondef(p.oid) || 'owner ' || pg_get_userbyid(proowner) || ' grants '
           || {_ACL.format(acl="proacl", kind="f", owner="proowner")} || ' -- ' || obj_description(p.oid)
    from pg_proc p where pronamespace::regnamespace::text in ('log', 'memory', 'ops') order by proname"""  # noqa: S608
