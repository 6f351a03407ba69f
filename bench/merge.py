"""Merge over many synthetic vectors, beside the two usual ways to find near pairs by hand.

    python bench/merge.py [--scale 1000000] [--groups 25 100 1000] [--duplicates 0.08] [--url postgresql://...]

All rows are new, `scale` of them divided over the group sizes. The vectors are Gaussian with planted near-copies, so
this measures cost and not quality. For each group size two tenants get the same rows:

- `sql`, `gemm`: a self-join, or binary transfer and numpy products in chunks of 10,000 rows; they only find the pairs.
- `floor`: the better of the two, then one transaction that writes the pairs in bulk (states, survivors, merges,
  lineage, live rows, corpus figures), without guards, corrections, order or chunks.
- `stage`: `merge` itself; `find` is the part of it that finds pairs.

Finally, one subject in fifty gets 1 % new rows; the output has their cost and the groups that they touch.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core, like the server's one

import numpy as np
from rich.console import Console
from rich.table import Table

from reverie.consolidate.merge import stage
from reverie.model import Scope, stable_id
from reverie.policy import Policy, load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.queries import queries
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.work import Work

if TYPE_CHECKING:
    from reverie.inference import Embedder

ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
AS_OF = ORIGIN + timedelta(days=365)
DIMENSIONS = 384
WORDS = ("tea", "trains", "rain", "invoices", "bread", "garden", "chess", "music", "paint", "river", "market")

SELF_JOIN = """
with placed as (
    select m.subject_id, m.kind, m.id, v.vec
    from memory.memories m
    join memory.vectors v on v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.model = 'bench'
        and v.item_id = m.id and v.part = 0
    where m.tenant_id = %(tenant)s and m.subject_id >= %(first)s and m.subject_id < %(last)s
)
select a.id, b.id from placed a join placed b using (subject_id, kind)
where b.id < a.id and 1 - (a.vec <=> b.vec) > %(threshold)s
"""
PULL = """
select m.subject_id, uuid_send(m.id), halfvec_send(v.vec)
from memory.memories m
join memory.vectors v on v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.model = 'bench'
    and v.item_id = m.id and v.part = 0
where m.tenant_id = %(tenant)s and m.subject_id >= %(first)s and m.subject_id < %(last)s
order by m.subject_id
"""
BULK = (
    "update memory.memories set state = 'active' where tenant_id = %(tenant)s and state = 'candidate'",
    """update memory.memories m set state = 'merged', into_id = x.into_id, forget_at = null
       from unnest(%(losers)s::uuid[], %(winners)s::uuid[]) x (id, into_id)
       where m.tenant_id = %(tenant)s and m.id = x.id""",
    """update memory.memories m set peak = 0.65, importance = 0.65, access_count = access_count + 1,
           forget_at = forget_at + interval '1 day'
       from (select distinct unnest(%(winners)s::uuid[]) as id) x where m.tenant_id = %(tenant)s and m.id = x.id""",
    """insert into memory.merges select %(tenant)s, x.loser, x.winner, m.subject_id, 0.95, 0.6, 0.65, %(as_of)s,
           m.run_id
       from unnest(%(losers)s::uuid[], %(winners)s::uuid[]) x (loser, winner)
       join memory.memories m on m.tenant_id = %(tenant)s and m.id = x.loser""",
    """insert into memory.lineage
       select tenant_id, survivor_id, 'merged', 'memory', loser_id, as_of, run_id
       from memory.merges where tenant_id = %(tenant)s""",
    """update memory.vectors v set live = false from memory.memories m
       where m.tenant_id = %(tenant)s and m.id = any(%(losers)s)
         and v.tenant_id = m.tenant_id and v.subject_id = m.subject_id and v.item_id = m.id""",
)


#: A stand-in that only names the model of the vectors; nothing is embedded.
EMBEDDER = cast("Embedder", SimpleNamespace(model="bench"))


def main() -> None:
    """Measure each group size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=1_000_000)
    parser.add_argument("--groups", type=int, nargs="+", default=[25, 100, 1000])
    parser.add_argument("--duplicates", type=float, default=0.08)
    parser.add_argument("--url", help="an empty database; default: a server of its own in a temporary directory")
    arguments = parser.parse_args()
    console, policy = Console(width=120), load_policy("reverie")
    table = Table(title=f"merge, {arguments.scale:,} vectors, microseconds a vector (wall)")
    for name in (
        "group",
        "pairs",
        "sql",
        "gemm",
        "stage find",
        "ratio",
        "floor",
        "stage",
        "ratio",
        "1 % new",
        "groups",
    ):
        table.add_column(name, justify="right")
    with _database(arguments.url) as url, Store.open(url) as store:
        for size in arguments.groups:
            rows = arguments.scale // len(arguments.groups) // size * size
            table.add_row(*_measure(store, url, policy, size, rows, arguments.duplicates))
    console.print(table)


@contextmanager
def _database(url: str | None) -> Iterator[str]:
    if url is not None:
        migrate(url)
        yield url
        return
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o711)  # the server may run as another user
        server = EmbeddedPostgres(os.path.join(directory, "postgres"), durable=False)
        own = server.start()
        try:
            migrate(own)
            yield own
        finally:
            server.stop()


def _measure(store: Store, url: str, policy: Policy, size: int, rows: int, duplicates: float) -> list[str]:
    tenants = {name: f"{name}{size}" for name in ("floor", "stage")}
    for tenant in tenants.values():
        _load(url, tenant, size, 0, rows, duplicates)
    subjects, threshold = rows // size, policy.merge.threshold
    found: dict[str, list[tuple[UUID, UUID]]] = {}
    seconds: dict[str, float] = {}
    for name, find in (("sql", _self_join), ("gemm", _products)):
        began = time.perf_counter()
        with store.transaction(tenants["floor"]) as conn:
            found[name] = find(conn, tenants["floor"], subjects, size, threshold)
        seconds[name] = time.perf_counter() - began
    if {frozenset(pair) for pair in found["sql"]} != {frozenset(pair) for pair in found["gemm"]}:
        raise AssertionError("the two floors disagree")
    best = min(seconds["sql"], seconds["gemm"])
    began = time.perf_counter()
    _bulk_write(store, tenants["floor"], found["sql"])
    seconds["floor"] = best + time.perf_counter() - began

    finding = _stopwatch_on("near_pairs")
    report = stage.merge(
        Work(
            store=store,
            scope=Scope(tenant_id=tenants["stage"]),
            policy=policy,
            as_of=AS_OF,
            embedder=EMBEDDER,
        )
    )
    seconds["stage"], seconds["find"] = report.seconds, finding()
    if report["near_pairs"] != len(found["sql"]):
        raise AssertionError(f"{report['near_pairs']} pairs, the floors found {len(found['sql'])}")

    _load(url, tenants["stage"], size, rows, rows // 100, duplicates, subject_step=50)
    more = stage.merge(
        Work(
            store=store,
            scope=Scope(tenant_id=tenants["stage"]),
            policy=policy,
            as_of=AS_OF + timedelta(days=1),
            embedder=EMBEDDER,
        )
    )
    micro = {name: f"{1e6 * value / rows:.1f}" for name, value in seconds.items()}
    return [
        f"{size}",
        f"{len(found['sql']):,}",
        micro["sql"],
        micro["gemm"],
        micro["find"],
        f"{seconds['find'] / best:.2f}",
        micro["floor"],
        micro["stage"],
        f"{seconds['stage'] / seconds['floor']:.2f}",
        f"{more.seconds / seconds['stage']:.1%}",
        f"{more['groups'] / subjects:.1%}",
    ]


def _load(url: str, tenant: str, size: int, start: int, rows: int, duplicates: float, *, subject_step: int = 1) -> None:
    """Load rows of subjects from s0000000 on, `size` per subject; later loads go to one subject in `subject_step`."""
    random = np.random.default_rng(start + 1)
    per_subject = size if subject_step == 1 else max(size // 2, 1)
    with connect(url) as conn:
        conn.execute("create temporary table new (n int, subject_id text, id uuid, content text)")
        for first in range(0, rows, 20_000):
            numbers = range(start + first, start + min(first + 20_000, rows))
            vectors = random.standard_normal((len(numbers), DIMENSIONS), dtype=np.float32)
            copied = (random.random(len(numbers)) < duplicates) & (np.arange(len(numbers)) % per_subject > 0)
            noise = random.uniform(0.1, 0.35, len(numbers)).astype(np.float32)
            texts: list[str] = []
            for at, number in enumerate(numbers):
                if copied[at]:
                    near = vectors[at - 1] + noise[at] * vectors[at] * np.linalg.norm(vectors[at - 1]) / 20
                    vectors[at] = near
                    texts.append(texts[-1] + (" daily" if number % 2 else ""))
                else:
                    word = WORDS[number % len(WORDS)]
                    texts.append(f"Likes {word} and {WORDS[number // len(WORDS) % len(WORDS)]} of kind {number}")
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            subjects = [f"s{(number - start) // per_subject * subject_step:07}" for number in numbers]
            ids = [stable_id(ORIGIN + timedelta(seconds=number), tenant, str(number)) for number in numbers]
            with conn.cursor().copy("copy new from stdin") as copy:
                for row in zip(numbers, subjects, ids, texts, strict=True):
                    copy.write_row(row)
            _copy_vectors(conn, tenant, subjects, ids, vectors)
        parameters = {"tenant": tenant, "origin": ORIGIN, "run": UUID(int=0)}
        conn.execute(
            """insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,
                   importance, happened_at, accessed_at, decayed_at, forget_at, origin, run_id, policy_hash)
               select %(tenant)s, id, subject_id, 'fact', 'candidate', content, '', 0.6, 0.6, 0.6, t, t, t,
                      t + interval '90 days', 'bench', %(run)s, 'bench'
               from (select *, %(origin)s::timestamptz + n * interval '1 second' as t from new) x""",
            parameters,
        )
        conn.execute(
            """insert into memory.subjects (tenant_id, subject_id) select distinct %(tenant)s, subject_id from new
               on conflict do nothing""",
            parameters,
        )
        for name in ("memories", "vectors", "subjects"):
            conn.execute(f"vacuum analyze memory.{name}")


def _copy_vectors(conn: Any, tenant: str, subjects: list[str], ids: list[UUID], vectors: Any) -> None:
    """Copy the vectors in binary from one fixed-width record array; all names in a call have the same length."""

    def text(width: int) -> list[tuple[str, str]]:
        return [("", ">i4"), ("", f"S{width}")]

    fields = [("", ">i2"), *text(len(tenant)), *text(8), *text(5), ("", ">i4"), ("", "V16"), ("", ">i4"), ("", ">i2")]
    fields += [*text(6), ("", ">i4"), ("", ">i2"), ("", ">i2"), ("", f">{DIMENSIONS}f2")]
    rows = np.zeros(len(ids), dtype=np.dtype([(f"f{at}", kind) for at, (_, kind) in enumerate(fields)]))
    values: list[Any] = [
        7,
        len(tenant),
        tenant,
        8,
        subjects,
        5,
        "bench",
        16,
        np.array([one.bytes for one in ids], "V16"),
    ]
    values += [2, 0, 6, "memory", 4 + 2 * DIMENSIONS, DIMENSIONS, 0, vectors.astype(">f2")]
    for at, value in enumerate(values):
        rows[f"f{at}"] = value
    statement = (
        "copy memory.vectors (tenant_id, subject_id, model, item_id, part, item, vec) from stdin (format binary)"
    )
    with conn.cursor().copy(statement) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + rows.tobytes() + b"\xff\xff")


def _ranges(subjects: int, size: int, rows: int) -> Iterator[dict[str, str]]:
    step = max(rows // size, 1)
    for first in range(0, subjects, step):
        yield {"first": f"s{first:07}", "last": f"s{first + step:07}"}


def _self_join(conn: Any, tenant: str, subjects: int, size: int, threshold: float) -> list[tuple[UUID, UUID]]:
    parameters = {"tenant": tenant, "threshold": threshold}
    found: list[tuple[UUID, UUID]] = []
    # by default, the planner at times compares every row with every other
    conn.execute("select set_config('enable_nestloop', 'off', true), set_config('work_mem', '256MB', true)")
    for part in _ranges(subjects, size, 60_000):
        found += conn.execute(SELF_JOIN, parameters | part, binary=True).fetchall()
    return found


def _products(conn: Any, tenant: str, subjects: int, size: int, threshold: float) -> list[tuple[UUID, UUID]]:
    found: list[tuple[UUID, UUID]] = []
    for part in _ranges(subjects, size, 10_000):
        rows = conn.execute(PULL, {"tenant": tenant} | part, binary=True).fetchall()
        wire = np.frombuffer(b"".join(row[2] for row in rows), dtype=[("head", "V4"), ("vec", f">{DIMENSIONS}f2")])
        vectors = wire["vec"].astype("=f2").astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        for start in range(0, len(rows), size):
            group = vectors[start : start + size]
            for one, other in np.argwhere(group @ group.T > threshold):
                if one < other:
                    found.append((UUID(bytes=rows[start + one][1]), UUID(bytes=rows[start + other][1])))
    return found


def _bulk_write(store: Store, tenant: str, pairs: list[tuple[UUID, UUID]]) -> None:
    """Write the pairs in bulk: of each pair, the later id is merged into the earlier, once."""
    lost = {max(pair): min(pair) for pair in pairs}
    parameters = {"tenant": tenant, "losers": list(lost), "winners": list(lost.values()), "as_of": AS_OF}
    with store.transaction(tenant) as conn:
        for statement in BULK:
            conn.execute(statement, parameters)


def _stopwatch_on(name: str) -> Any:
    """Count the time spent in one function of the stage; return a function that reads and resets it."""
    inner, spent = getattr(stage, name), [0.0]

    def timed(*args: Any) -> Any:
        began = time.perf_counter()
        try:
            return inner(*args)
        finally:
            spent[0] += time.perf_counter() - began

    def read() -> float:
        setattr(stage, name, inner)
        return spent[0]

    setattr(stage, name, timed)
    return read


if __name__ == "__main__":
    queries("merge")  # fail at once outside a checkout
    main()
