"""Decay over many memories, beside the best hand-written batched UPDATE, both as the worker role.

    python bench/decay.py [--rows 1000000] [--subjects 25 100 1000]

Each tenant has `rows` memories in the order of their subjects, `subjects` rows each:

- `floor`: eight commits of one bare UPDATE by the hash of the id, with one rate and no report or scope;
- `stage`: `decay` itself, with every row due;
- `1 %`: `decay` of as many rows, of which only one in a hundred is due.

CPU is that of this process and of the server together; on a shared machine it is more reliable than the wall time.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.pipeline import server
from bench.processor import cpu_seconds
from bench.report import machine, print_table
from reverie.consolidate.decay.stage import decay
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.work import Work

ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
AS_OF = ORIGIN + timedelta(days=100)

FLOOR = """
update memory.memories
set importance = greatest(peak - 0.003 * (extract(epoch from %(as_of)s - accessed_at)::float8 / 86400 - 7), 0),
    decayed_at = %(as_of)s
where tenant_id = %(tenant)s and decayed_at < %(as_of)s and (uuid_hash(id) & 7) = %(batch)s
"""
LOAD = """
insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak, importance,
                             happened_at, accessed_at, decayed_at, forget_at, linked, scored, origin, run_id,
                             policy_hash)
select %(tenant)s, md5(%(tenant)s || n)::uuid, 's' || lpad((n / %(size)s)::text, 7, '0'),
       (array['fact', 'preference', 'episode', 'pattern'])[1 + n %% 4], 'active',
       'Likes ' || md5(n::text) || ' and ' || md5((n + 1)::text) || ' of kind ' || n, sha256(int8send(n)), 0.6, 0.6,
       0.6, t,
       case when n %% 100 < %(due)s then t else %(as_of)s - interval '1 day' end, t,
       t + interval '200 days', true, true, 'bench', md5('')::uuid, 'bench'
from (select n, %(origin)s::timestamptz + n * interval '1 second' as t from generate_series(0, %(rows)s - 1) n) x
"""


def load(url: str, tenant: str, rows: int, size: int, *, due: int = 100) -> None:
    """Fill the table with memories in the order of their subjects, `size` each, of which `due` in a hundred are due."""
    with connect(url) as conn:
        conn.execute("truncate memory.memories")
        given = {"tenant": tenant, "rows": rows, "size": size, "due": due, "origin": ORIGIN, "as_of": AS_OF}
        conn.execute(LOAD, given)
        conn.execute("vacuum analyze memory.memories")
        conn.execute("checkpoint")


def updates(url: str) -> tuple[int, int]:
    """Return the number of row updates of the table so far, and that of HOT updates."""
    with connect(url) as conn:
        conn.execute("select pg_stat_force_next_flush()")
        time.sleep(1.1)  # backends report their counts once a second
        found = conn.execute(
            "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relid = 'memory.memories'::regclass"
        ).fetchone()
        assert found is not None
        return found


def measured(url: str, work: Any) -> tuple[float, float, float]:
    """Return wall and CPU seconds, and the share of HOT updates."""
    before, cpu, began = updates(url), cpu_seconds(url), time.perf_counter()
    work()
    wall, cpu = time.perf_counter() - began, cpu_seconds(url) - cpu
    after = updates(url)
    return wall, cpu, (after[1] - before[1]) / max(after[0] - before[0], 1)


def by_hand(store: Store, tenant: str) -> None:
    for batch in range(8):
        with store.transaction(tenant) as conn:
            conn.execute(FLOOR, {"tenant": tenant, "as_of": AS_OF, "batch": batch})


def measure(url: str, store: Store, rows: int, size: int) -> list[str]:
    policy, scope = load_policy("reverie"), Scope(tenant_id="stage")
    load(url, "floor", rows, size)
    floor = measured(url, lambda: by_hand(store, "floor"))
    load(url, "stage", rows, size)
    full = measured(url, lambda: decay(Work(store=store, scope=scope, policy=policy, as_of=AS_OF)))
    load(url, "stage", rows, size, due=1)
    few = measured(url, lambda: decay(Work(store=store, scope=scope, policy=policy, as_of=AS_OF)))
    return [
        f"{size:,}",
        f"{floor[0]:.1f} / {floor[1]:.1f}",
        f"{floor[2]:.0%}",
        f"{full[0]:.1f} / {full[1]:.1f}",
        f"{full[2]:.0%}",
        f"{full[0] / floor[0]:.2f} / {full[1] / floor[1]:.2f}",
        f"{few[0]:.2f} / {few[1]:.2f}",
        f"{few[0] / full[0]:.1%} / {few[1] / full[1]:.1%}",
    ]


def main() -> None:
    """Measure each subject size."""
    arguments = argparse.ArgumentParser(description=__doc__.split(",")[0])
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--subjects", type=int, nargs="+", default=[25, 100, 1000])
    given = arguments.parse_args()
    with server() as url, Store.open(url) as store:
        rows = [measure(url, store, given.rows, size) for size in given.subjects]
    print(machine())
    print_table(
        f"Decay of {given.rows:,} memories, seconds (wall / CPU)",
        ("rows a subject", "floor", "in place", "stage", "in place", "stage / floor", "1 % due", "of a full run"),
        rows,
    )


if __name__ == "__main__":
    main()
