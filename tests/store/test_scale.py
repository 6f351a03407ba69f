"""In large tables, what drains and maintenance ask reads what is new or due, and not all that was stored."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from reverie.drive.deliver.delivering import fill_outbox
from reverie.drive.erase.erasing import act_as_eraser
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.tenants import ensure_tenant

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ROWS = 20_000
#: Rows of a table, one a minute until `NOW`.
FILL = {
    "log.contexts": """
        insert into log.contexts (tenant_id, id, subject_id, assembled_at, form, policy_hash, tokenizer, total_tokens,
            sections, item_ids, dropped_ids)
        select 't', gen_random_uuid(), 's' || mod(n, 99), %(now)s - n * interval '1 minute', 'reverie', 'p', 'x', 0,
            '[]', '{}', '{}'
        from generate_series(1, %(rows)s) n""",
    "log.recalls": """
        with asked as (
            insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped,
                standing)
            select 't', gen_random_uuid(), 's' || mod(n, 99), %(now)s - n * interval '1 minute',
                case when n < 1000 then 'where?' else '' end, 'p', '{}', 0,
                case when n < 100 then null when n < 1000 then 'counted' else 'kept' end
            from generate_series(1, %(rows)s) n
            returning tenant_id, id, standing)
        insert into memory.accesses (tenant_id, recall_id, run_id)
        select tenant_id, id, gen_random_uuid() from asked where standing is not null""",
    "memory.extractions": """
        insert into memory.extractions (tenant_id, turn_id, subject_id, candidates, run_id, ends_wait)
        select 't', gen_random_uuid(), 's' || mod(n, 99), 1, gen_random_uuid(), n < 100
        from generate_series(1, %(rows)s) n""",
    "memory.memories": """
        insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,
            importance, happened_at, accessed_at, decayed_at, origin, run_id, policy_hash)
        select 't', gen_random_uuid(), 's' || mod(n, 99), 'fact', 'active', 'Sings', '', 1, 1, 1, at, at, at, 'test',
            gen_random_uuid(), 'p'
        from (select n, %(now)s - n * interval '1 minute' as at from generate_series(1, %(rows)s) n) x""",
    "memory.triggers": """
        insert into memory.triggers (tenant_id, id, subject_id, kind, audience, happened_at, due_at, until_at, why,
            run_id)
        select 't', gen_random_uuid(), 's' || mod(n, 99), 'silence', 'caller', at, at, at + interval '1 hour', '{}',
            gen_random_uuid()
        from (select n, %(now)s - n * interval '1 minute' as at from generate_series(1, %(rows)s) n) x""",
    "ops.runs": """
        insert into ops.runs (tenant_id, run_id, stage, as_of, scope, driver, policy, policy_hash, status, finished_at)
        select 't', gen_random_uuid(), 'prune', at, jsonb_build_object('subjects', jsonb_build_array('s' || n)), 'test',
            'p', 'p', 'done', at
        from (select n, %(now)s - n * interval '1 minute' as at from generate_series(1, %(rows)s) n) x""",
    "ops.embeddings": """
        insert into ops.embeddings (tenant_id, model, content_hash, vec, made_at)
        select 't', case when n < 10 then 'a' when n < 20 then 'z' else 'live' end, int4send(n),
            array_fill(0.5, array[384])::halfvec, %(now)s - n * interval '1 minute'
        from generate_series(1, %(rows)s) n""",
    "log.turns": """
        insert into log.turns (tenant_id, id, subject_id, session_id, source_id, role, said_at, text, content_hash,
            turn_index)
        select 't', gen_random_uuid(), 's' || mod(n, 99), 's' || mod(n, 999), n::text, 'user',
            %(now)s - n * interval '1 minute', repeat('said ', 60), '', 0
        from generate_series(1, %(rows)s) n""",
}
#: Parameters of pending cycles, without those of the scope.
CYCLES = {
    "until": NOW, "most": 10, "session_threshold": 5, "running": 0, "range_turns": 10, "lag": timedelta(0),
    "asks": False, "asks_ends": False, "from_memories": False, "period": timedelta(hours=6),
}  # fmt: skip


@pytest.fixture
def large(
    database_url: str, conn: psycopg.Connection[Any], request: pytest.FixtureRequest
) -> Iterator[psycopg.Connection[Any]]:
    """A worker's transaction in a database with many rows in the table that the test names, just vacuumed."""
    with Store.open(database_url, size=1) as store:
        with store.transaction("t") as work:
            ensure_tenant(work, "t", "reverie")
        # while it is analyzed by another process, `vacuum` marks no page as visible to all
        conn.execute(f"alter table {request.param} set (autovacuum_enabled = false)".encode())
        conn.execute(FILL[request.param].encode(), {"now": NOW, "rows": ROWS})
        conn.execute("update ops.tenants set model = 'live'")
        for _ in range(50):  # a snapshot of another process keeps pages from being marked
            conn.execute("vacuum analyze")
            marked = "select relallvisible = relpages from pg_class where oid = %s::regclass"
            if conn.execute(marked, [request.param]).fetchone() == (True,):
                break
            time.sleep(0.2)
        with store.transaction("t") as work:
            yield work


def of(table: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("large", [table], indirect=True)


def read(conn: psycopg.Connection[Any], table: str) -> int:
    """Rows that this transaction has read from a table in its own order, and entries from its indexes."""
    sql = """select pg_stat_get_xact_tuples_returned(%(table)s::regclass)
                    + (select sum(pg_stat_get_xact_tuples_returned(i.indexrelid))
                       from pg_index i where i.indrelid = %(table)s::regclass)"""
    (number,) = conn.execute(sql, {"table": table}).fetchone() or (0,)
    return int(number)


@of("log.contexts")
def test_a_batch_of_old_contexts_is_found_by_time(large: psycopg.Connection[Any]) -> None:
    params = {"before": NOW, "most": 100}
    assert large.execute(queries("maintain")["retire_contexts"], params).fetchone() == (100,)
    assert read(large, "log.contexts") < 1000
    left = large.execute("select min(assembled_at) from log.contexts").fetchone()
    assert left == (NOW - timedelta(minutes=ROWS - 100),), "the oldest go first"


@of("log.recalls")
def test_old_recalls_and_their_questions_are_found_by_time(large: psycopg.Connection[Any]) -> None:
    params = {"before": NOW - timedelta(minutes=500), "most": 100}
    assert large.execute(queries("maintain")["retire_recalls"], params).fetchone() == (100, 0, 100)
    assert read(large, "log.recalls") < 2000
    assert read(large, "memory.accesses") < 1000
    left = large.execute("select count(*), max(asked_at) from log.recalls where standing = 'kept'").fetchone()
    assert left == (ROWS - 999, NOW - timedelta(minutes=1000)), "those that were kept are not looked at again"


@of("log.recalls")
def test_a_cycle_reads_the_recalls_that_are_not_counted(large: psycopg.Connection[Any]) -> None:
    params = {"tenant": "t", "subjects": None, "shard_from": 0, "shard_to": 1024}
    cycles = large.execute(queries("cycle")["pending_cycles"], params | CYCLES).fetchall()
    assert sum(number for _, _, number in cycles) == 99
    taken = {"as_of": NOW, "run_id": "00000000-0000-0000-0000-000000000001"}
    assert large.execute(queries("score")["take_touches"], params | taken).fetchall() == []
    assert large.execute(queries("cycle")["pending_cycles"], params | CYCLES).fetchall() == []
    assert read(large, "log.recalls") < 1000
    assert read(large, "memory.accesses") < 1000


@of("memory.triggers")
def test_due_triggers_are_found_by_their_end(large: psycopg.Connection[Any]) -> None:
    params = {"tenant": "t", "as_of": NOW, "now": NOW}
    assert large.execute(queries("inspector")["waiting"], params).fetchone() == (0, 59)
    page = {"subject": None, "every": False, "due_at": None, "after": None, "limit": 100}
    assert len(large.execute(queries("triggers")["page_triggers"], params | page).fetchall()) == 59
    large.execute(queries("deliver")["fill_triggers"], params)
    assert read(large, "memory.triggers") < 1000


@of("memory.memories")
def test_a_delivery_reads_the_memories_of_subjects_that_runs_named_since(large: psycopg.Connection[Any]) -> None:
    large.execute(
        """insert into ops.subscriptions (tenant_id, id, url, secret, events, made_at)
           values ('t', gen_random_uuid(), 'https://example.org', 's', '{memory.superseded}', %s)""",
        [NOW],
    )
    store: Any = SimpleNamespace(transaction=lambda _: nullcontext(large))
    filled = partial(fill_outbox, store, "t", as_of=NOW, now=NOW)
    assert filled() == 0
    compared, known = read(large, "memory.memories"), read(large, "ops.announced")
    assert compared >= ROWS, "the webhook is new"
    large.execute("update memory.memories set state = 'superseded' where subject_id = 's1'")
    before = read(large, "memory.memories")
    assert (filled(), read(large, "memory.memories")) == (0, before), "no run wrote"
    large.execute(
        """insert into ops.runs (tenant_id, run_id, stage, as_of, scope, driver, policy, policy_hash, status)
           values ('t', gen_random_uuid(), 'facts', %s, '{"subjects": ["s1"]}', 'test', 'p', 'p', 'done')""",
        [NOW],
    )
    assert filled() == ROWS // 99 + 1
    assert read(large, "memory.memories") - before < 1000
    assert read(large, "ops.announced") - known < 2000


@of("ops.embeddings")
def test_vectors_of_the_model_in_use_are_not_read(large: psycopg.Connection[Any]) -> None:
    params = {"tenant": "t", "before": NOW, "most": 15}
    assert large.execute(queries("maintain")["retire_embeddings"], params).rowcount == 15
    assert large.execute(queries("maintain")["retire_embeddings"], params).rowcount == 4
    assert read(large, "ops.embeddings") < 1000


@of("ops.runs")
def test_an_earlier_policy_is_found_among_many_runs(large: psycopg.Connection[Any]) -> None:
    limits = Jsonb({"subjects": ["new"]})
    sql = queries("prune")["last_policy"]
    for policy, last in (("p", None), ("other", "p")):
        params = {"tenant": "t", "limits": limits, "policy_hash": policy}
        assert large.execute(sql, params).fetchone() == (last,)
    assert read(large, "ops.runs") < 2 * ROWS + 1000, "each looks for its own scope once"


@of("ops.runs")
def test_prunes_of_named_subjects_leave_one_row_of_a_policy(large: psycopg.Connection[Any]) -> None:
    large.execute("update ops.runs set policy_hash = 'old' where as_of < %s", [NOW - timedelta(minutes=ROWS // 2)])
    params = {"tenant": "t", "before": NOW + timedelta(days=1), "most": ROWS}
    assert large.execute(queries("maintain")["retire_runs"], params).rowcount == ROWS - 2
    left = large.execute("select policy_hash, as_of from ops.runs order by policy_hash").fetchall()
    assert left == [("old", NOW - timedelta(minutes=ROWS // 2 + 1)), ("p", NOW - timedelta(minutes=1))]


@of("log.turns")
def test_pending_sessions_are_found_from_an_index_alone(large: psycopg.Connection[Any]) -> None:
    params = {"tenant": "t", "subjects": None, "shard_from": 0, "shard_to": 512}
    assert large.execute(queries("cycle")["pending_cycles"], params | CYCLES).fetchall()
    from_table = "select pg_stat_get_xact_tuples_returned(t) + pg_stat_get_xact_tuples_fetched(t)"
    (number,) = large.execute(f"{from_table} from (select 'log.turns'::regclass::oid as t) x").fetchone() or (None,)
    assert number < 1000


@of("log.turns")
def test_subjects_to_erase_are_read_as_far_as_a_batch_needs(large: psycopg.Connection[Any]) -> None:
    params = {"tenant": "t", "after": "s20", "limit": 5}
    act_as_eraser(large)
    found = large.execute(queries("erase")["subjects_after"], params).fetchall()
    assert found == [("s21",), ("s22",), ("s23",), ("s24",), ("s25",)]
    assert read(large, "log.turns") < ROWS // 10


@of("memory.extractions")
def test_messages_that_wait_to_be_judged_are_found_by_their_index(large: psycopg.Connection[Any]) -> None:
    params = {"tenant": "t", "subjects": None, "shard_from": 0, "shard_to": 1024}
    large.execute(queries("cycle")["pending_cycles"], params | CYCLES | {"asks_ends": True})
    assert 0 < read(large, "memory.extractions") < 1000
