"""Prune of one memory in twenty, beside a hand-written statement that deletes the same rows, both as the worker role.

    python bench/prune.py [--rows 1000000] [--share 0.05]

Both delete from memories, vectors (`--dimensions`), posting lists and items, and write tombstones. The floor is
one statement; the stage also follows merges and links, keeps the corpus figures, commits in portions and writes the
ledger. CPU is that of this process and of the server.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.pipeline import server
from bench.processor import cpu_seconds
from bench.report import machine, print_table
from reverie.consolidate.prune.stage import prune
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.work import Work

ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
AS_OF = ORIGIN + timedelta(days=100)
TABLES = ("memories", "vectors", "terms", "items", "subjects", "tombstones")

LOAD = (
    """
    create temporary table new as
    select md5(%(tenant)s || n)::uuid as id, n, 's' || lpad((n / 100)::text, 7, '0') as subject_id,
           %(origin)s::timestamptz + n * interval '1 second' as t
    from generate_series(0, %(rows)s - 1) n
    """,
    """
    insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak, importance,
                                 happened_at, accessed_at, decayed_at, forget_at, linked, scored, origin, run_id,
                                 policy_hash)
    select %(tenant)s, id, subject_id, 'fact', 'active', 'Likes ' || md5(n::text) || md5((n + 1)::text),
           sha256(int8send(n)), 0.2, 0.2, 0.2, t, t, t,
           t + case when n %% %(every)s = 0 then 41 else 200 end * interval '1 day', true, true,
           'bench', id, 'bench'
    from new
    """,
    """
    insert into memory.vectors (tenant_id, subject_id, model, item_id, item, vec)
    select %(tenant)s, subject_id, 'bench', id, 'memory', (select array_agg(1.0)::real[]
                                                           from generate_series(1, %(dimensions)s))::halfvec
    from new
    """,
    """
    insert into memory.terms (tenant_id, subject_id, term, first_id, item_ids, tfs, dls)
    select tenant_id, subject_id, term, (array_agg(id))[1], array_agg(id), array_agg(1), array_agg(3)
    from (select m.*, u.lexeme as term, row_number() over (partition by m.subject_id, u.lexeme) / 64 as list
          from memory.memories m cross join lateral unnest(to_tsvector('english', m.content)) u) x
    group by tenant_id, subject_id, term, list
    """,
    """
    insert into memory.items (tenant_id, subject_id, item_id, item, happened_at, words, asks, first_person, names_time)
    select %(tenant)s, subject_id, id, 'memory', t, 9, false, false, false from new
    """,
    """
    insert into memory.subjects (tenant_id, subject_id, items, terms)
    select %(tenant)s, subject_id, count(*), 3 * count(*) from new group by subject_id
    """,
)
FLOOR = """
with gone as (
    delete from memory.memories where tenant_id = %(tenant)s and forget_at < %(as_of)s
    returning id, subject_id, kind, content, content_hash, importance
),
vectors as (
    delete from memory.vectors v using gone g
    where v.tenant_id = %(tenant)s and v.subject_id = g.subject_id and v.item_id = g.id
),
lists as materialized (
    select t.subject_id, t.term, t.first_id, kept.*
    from (select g.subject_id, u.lexeme, array_agg(g.id) as ids
          from gone g cross join lateral unnest(to_tsvector('english', g.content)) u group by 1, 2) l
    join memory.terms t on t.tenant_id = %(tenant)s and t.subject_id = l.subject_id and t.term = l.lexeme
        and t.item_ids && l.ids
    cross join lateral (select array_agg(p.id) as item_ids, array_agg(p.tf) as tfs, array_agg(p.dl) as dls
                        from unnest(t.item_ids, t.tfs, t.dls) as p (id, tf, dl) where p.id <> all(l.ids)) kept
),
shortened as (
    update memory.terms t set item_ids = l.item_ids, tfs = l.tfs, dls = l.dls from lists l
    where t.tenant_id = %(tenant)s and t.subject_id = l.subject_id and t.term = l.term and t.first_id = l.first_id
      and l.item_ids is not null
),
emptied as (
    delete from memory.terms t using lists l
    where t.tenant_id = %(tenant)s and t.subject_id = l.subject_id and t.term = l.term and t.first_id = l.first_id
      and l.item_ids is null
),
items as (
    delete from memory.items i using gone g
    where i.tenant_id = %(tenant)s and i.subject_id = g.subject_id and i.item_id = g.id
)
insert into memory.tombstones (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at,
                               run_id)
select %(tenant)s, id, subject_id, kind, content_hash, importance, 'faded', %(as_of)s, id from gone
"""


def load(url: str, tenant: str, rows: int, share: float, dimensions: int) -> None:
    """Fill the tables with memories of a tenant, 100 per subject, of which a share is due."""
    numbers = {"rows": rows, "every": round(1 / share), "dimensions": dimensions}
    with connect(url) as conn:
        for table in TABLES:
            conn.execute(f"truncate memory.{table}")
        for statement in LOAD:
            conn.execute(statement, {"tenant": tenant, "origin": ORIGIN} | numbers)
        for table in TABLES:
            conn.execute(f"vacuum analyze memory.{table}")
        conn.execute("checkpoint")


def measured(url: str, work: Any) -> tuple[float, float]:
    """Return wall and CPU seconds."""
    cpu, began = cpu_seconds(url), time.perf_counter()
    work()
    return time.perf_counter() - began, cpu_seconds(url) - cpu


def main() -> None:
    """Measure both on fresh tables."""
    arguments = argparse.ArgumentParser(description=__doc__.split(",")[0])
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--share", type=float, default=0.05)
    arguments.add_argument("--dimensions", type=int, default=384)
    given = arguments.parse_args()
    policy = load_policy("reverie")
    with server() as url, Store.open(url) as store:

        def by_hand() -> None:
            with store.transaction("floor") as conn:
                conn.execute(FLOOR, {"tenant": "floor", "as_of": AS_OF})

        load(url, "floor", given.rows, given.share, given.dimensions)
        floor = measured(url, by_hand)
        load(url, "stage", given.rows, given.share, given.dimensions)
        stage = measured(
            url, lambda: prune(Work(store=store, scope=Scope(tenant_id="stage"), policy=policy, as_of=AS_OF))
        )
        with connect(url) as conn:
            found = conn.execute("select count(*) from memory.tombstones").fetchone()
            assert found is not None
            pruned = found[0]
    print(machine())
    print_table(
        f"Prune of {pruned:,} of {given.rows:,} memories with vectors, posting lists, items and tombstones, seconds",
        ("", "wall", "CPU"),
        [
            ("floor: one statement", f"{floor[0]:.2f}", f"{floor[1]:.2f}"),
            ("stage", f"{stage[0]:.2f}", f"{stage[1]:.2f}"),
            ("ratio", f"{stage[0] / floor[0]:.2f}", f"{stage[1] / floor[1]:.2f}"),
        ],
    )


if __name__ == "__main__":
    main()
