"""Data teams read every tenant's rows and no content: each column is granted to them or withheld, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.sql import SQL, Identifier

from reverie.store.connect import connect

Conn = psycopg.Connection[Any]

#: Columns that data teams may not read. Words, and names that people and callers give:
CONTENT = {
    "log.acknowledgements": {"actor"},
    "log.contexts": {"request_id", "sections"},
    "log.corrections": {"content", "actor"},
    "log.events": {"source_id", "connection_id", "key", "content", "metadata"},
    "log.outcomes": {"source_id"},
    "log.recalls": {"question"},
    "log.turns": {"source_id", "speaker", "text", "tool_calls", "metadata"},
    "memory.entities": {"slug", "label", "terms"},
    "memory.items": {"speaker"},
    "memory.life_events": {"title", "speaker", "who"},
    "memory.memories": {"content", "mentions", "stated", "who", "topic", "object"},
    "memory.profiles": {"narrative"},
    "memory.replacements": {"content"},
    "memory.scaffold": {"connection_id", "path", "value"},
    "memory.signals": {"counterpart"},
    "memory.structured_facts": {"speaker", "key", "value", "topic", "object"},
    "memory.subjects": {"speakers"},
    "memory.terms": {"tenant_id", "subject_id", "term", "first_id", "item_ids", "tfs", "dls"},
    "ops.answers": {"tenant_id", "turn_id", "asked", "model", "shown", "answer"},
    "ops.api_keys": {"tenant_id", "id", "name", "digest", "scopes", "made_at", "expires_at", "revoked_at"},
    "ops.connection_tools": {"tenant_id", "subject_id", "connection_id", "tools", "read_at", "expires_at"},
    "ops.dead_letters": {"source", "detail", "payload"},
    "ops.outbox": {"payload"},
    "ops.pending_turns": {"source_id", "speaker", "text", "tool_calls", "metadata", "mood", "candidates"},
    "ops.consents": {"subject_id", "actor"},
    "ops.erasures": {"actor"},
    "ops.generations": {"database"},
    "ops.queue": {"error"},
    "ops.replies": {"reply"},
    "ops.reviews": {"seen_by"},
    "ops.runs": {"scope", "error"},
    "ops.subscriptions": {"url", "secret"},
    "ops.sources": {"name", "cursor_column", "place", "mapping"},
    "ops.store_items": {"namespace", "key", "value"},
    "ops.sessions": {"mood", "preferences", "confirmations", "tool_results", "stated"},
}
#: Vectors and hashes of words, and ids that are made of words: somebody who guesses could compare.
GUESSABLE = {
    "log.events": {"content_hash"},
    "log.turns": {"content_hash"},
    "memory.entities": {"id"},
    "memory.links": {"entity_id"},
    "memory.memories": {"content_hash"},
    "memory.scaffold": {"id", "replaced_by", "sources"},
    "memory.tombstones": {"content_hash"},
    "memory.vectors": {"vec"},
    "ops.dead_letters": {"id"},
    "ops.embeddings": {"content_hash", "vec"},
    "ops.erased": {"tenant_id", "mark", "erasure_id"},
    "ops.erasure_keys": {"tenant_id", "inner_key", "outer_key"},
    "ops.erasures": {"id", "target", "previous", "hash"},
    "ops.pending_turns": {"content_hash"},
    "ops.replies": {"input_hash"},
    "ops.state_versions": {"hash"},
}
#: Whose mood or crisis it was: these are for counting alone.
WHOSE = {
    "log.acknowledgements": {"subject_id"},
    "log.moods": {"turn_id", "subject_id", "session_id"},
    "memory.life_events": {"first_on", "last_on", "clock", "zone", "forget_at", "turn_id", "memory_id", "by_id"},
    "memory.measurements": {"source_id", "subject_id", "speaker", "metric", "value", "topics"},
    "memory.moods": {"turn_id", "subject_id", "session_id", "crisis", "own"},
    "memory.topics": {"turn_id", "subject_id", "words", "named"},
    "memory.periods": {"tenant_id", "subject_id", "opened_at", "closed_at", "turn_id", "negatives", "mood", "run_id"},
    "memory.signals": {
        "happy",
        "sad",
        "anxious",
        "excited",
        "neutral",
        "angry",
        "frustrated",
        "flirty",
        "bored",
        "grateful",
    }
    | {"high_energy", "low_energy", "crises", "zone"},
    "memory.ties": {"why"},
    "memory.triggers": {"subject_id", "kind", "happened_at", "turn_id", "why"},
    "ops.outbox": {"subject_id", "item_id"},
    "ops.reviews": {"turn_id", "subject_id", "session_id"},
}


@pytest.fixture
def analyst(database_url: str) -> Iterator[Conn]:
    """A session of a data team."""
    with connect(database_url, role="analyst") as session:
        yield session


def test_every_column_is_granted_or_withheld_by_name(conn: Conn) -> None:
    granted, withheld = readable(conn, granted=True), readable(conn, granted=False)
    listed = {
        f"{table}.{column}" for lists in (CONTENT, GUESSABLE, WHOSE) for table in lists for column in lists[table]
    }
    assert len(granted) > 250
    new = withheld - listed
    assert not new, f"grant them in the migration that adds them, or list them here as withheld: {sorted(new)}"
    assert listed <= withheld, f"withheld from data teams, and granted: {sorted(listed - withheld)}"


def test_no_whole_table_view_or_function_is_granted(conn: Conn) -> None:
    found = conn.execute(
        """select c.oid::regclass::text from pg_class c
           where c.relnamespace::regnamespace::text in ('log', 'memory', 'ops') and c.relkind in ('r', 'v', 'm', 'S')
             and exists (select from aclexplode(c.relacl) where grantee = 'reverie_analyst'::regrole)"""
    ).fetchall()
    assert found == []
    may_call = conn.execute(
        """select p.oid::regprocedure::text from pg_proc p
           where prosecdef and pronamespace::regnamespace::text in ('log', 'memory', 'ops')
             and has_function_privilege('reverie_analyst', p.oid, 'EXECUTE')"""
    ).fetchall()
    assert may_call == []


def test_rows_of_all_tenants_are_counted(conn: Conn, analyst: Conn) -> None:
    for tenant in ("a", "b"):
        conn.execute(INSERT, {"tenant": tenant})
    seen = analyst.execute("select tenant_id, count(*) from log.turns group by 1 order by 1").fetchall()
    assert seen == [("a", 1), ("b", 1)]


def test_a_withheld_column_cannot_be_read(conn: Conn, analyst: Conn) -> None:
    conn.execute(INSERT, {"tenant": "a"})
    for name in sorted(readable(conn, granted=False)):
        schema, table, column = name.split(".")
        with pytest.raises(errors.InsufficientPrivilege):
            analyst.execute(SQL("select {} from {}").format(Identifier(column), Identifier(schema, table)))
    with pytest.raises(errors.InsufficientPrivilege):
        analyst.execute("select * from log.turns")
    with pytest.raises(errors.InsufficientPrivilege):
        analyst.execute("select to_jsonb(t) from log.turns t")
    # statistics would show the most frequent values
    conn.execute("analyze log.turns")
    assert analyst.execute("select count(*) from pg_stats where schemaname = 'log'").fetchone() == (0,)


def test_nothing_is_written_but_marts(conn: Conn, analyst: Conn) -> None:
    conn.execute(INSERT, {"tenant": "a"})
    for statement in ("delete from log.turns", "update log.turns set role = 'tool'", "create table log.mine (a int)",
                      "create schema mine", "create table public.mine (a int)"):  # fmt: skip
        with pytest.raises(errors.InsufficientPrivilege):
            analyst.execute(statement)
    analyst.execute("create table marts.mine as select tenant_id, count(*) as turns from log.turns group by 1")
    assert analyst.execute("select * from marts.mine").fetchall() == [("a", 1)]


@pytest.mark.parametrize("role", ["worker", "reader"])
def test_marts_hold_all_tenants_and_are_for_data_teams_alone(database_url: str, analyst: Conn, role: Any) -> None:
    analyst.execute("create table marts.mine as select tenant_id from log.turns")
    with connect(database_url, role=role) as other, pytest.raises(errors.InsufficientPrivilege):
        other.execute("select * from marts.mine")


def test_a_login_of_a_data_team_needs_that_role_alone(conn: Conn, database_url: str) -> None:
    """What docs/marts.md says: a login, member of the role, and of no other."""
    name = Identifier(f"{conn.info.dbname}_dana")
    conn.execute(INSERT, {"tenant": "a"})
    conn.execute(SQL("create role {} login in role reverie_analyst").format(name))
    try:
        with conn.transaction(force_rollback=True):
            conn.execute(SQL("set local session authorization {}").format(name))
            assert conn.execute("select count(*) from log.turns").fetchone() == (1,)
            conn.execute("set local role reverie_analyst")
            conn.execute("create table marts.mine as select tenant_id from log.turns")
            for query in ("select text from log.turns", "set local role reverie_reader"):
                with pytest.raises(errors.InsufficientPrivilege), conn.transaction():
                    conn.execute(query)  # type: ignore[call-overload]
    finally:
        conn.execute(SQL("drop role {}").format(name))


def readable(conn: Conn, *, granted: bool) -> set[str]:
    """The columns of all tables that data teams may read, or those that they may not."""
    rows = conn.execute(
        """select c.oid::regclass::text || '.' || a.attname
           from pg_class c
           join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
           where c.relnamespace::regnamespace::text in ('log', 'memory', 'ops') and c.relkind in ('r', 'p')
             and has_column_privilege('reverie_analyst', c.oid, a.attnum, 'SELECT') = %s""",
        [granted],
    )
    return {row[0] for row in rows}


INSERT = """
    insert into log.turns
        (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, text, content_hash)
    values (%(tenant)s, gen_random_uuid(), 's', 's', '1', 0, 'user', '2026-01-01T00:00Z', 'secret', '')"""
