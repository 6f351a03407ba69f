"""Recall inside Postgres beside a hand-written statement, on the same tables in the same run.

    python bench/recall.py [--sizes 100 1000 10000] [--around 200000] [--rounds 300] [--work DIRECTORY] [--keep]

One tenant holds a few subjects of each size among `around` items of subjects of 100; a third of the items are memories.
Words follow Zipf and vectors are Gaussian, so this measures cost and not quality. Per question, in turn:

- `floor`: one hand-written statement: the nearest 60, the best 60 by BM25 over posting lists, the five signals of
  spec D1 (similarity, words, recency, importance, access; `../shared/floors.md` section 5), as many texts as the policy
  returns; with the same role and row-level security, prepared, binary.
- `search`: the library, with every signal, filter and reason.

`in a transaction` adds what binds the tenant: a connection from the pool, begin, tenant, commit. The second table has
the CPU time of both processes in the same run, which is the more reliable one on a busy machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
from psycopg import Connection

from bench.report import machine, print_table
from reverie.inference import to_half_wire
from reverie.model import stable_id
from reverie.policy import Policy, load_policy
from reverie.recall.question import ParsedQuestion, read_question
from reverie.recall.search import Search, half_vector, search
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.queries import queries
from reverie.store.server.embedded import EmbeddedPostgres

TENANT, MODEL, DIMENSIONS = "bench", "bench", 384
ORIGIN = datetime(2025, 1, 1, tzinfo=UTC)
AS_OF = ORIGIN + timedelta(days=365)
SPEAKERS = ("Ana", "Ben")
#: Turns of a session, fewest and most terms of an item, words of a question, words of the vocabulary.
SESSION, SHORTEST, LONGEST, ASKED, VOCABULARY = 20, 6, 20, 5, 4000
CHUNK = 5_000

FLOOR: LiteralString = """
with words as materialized (
    select s.items, s.terms::float8 / s.items as average,
           tsvector_to_array(to_tsvector('english', %(question)s)) as words
    from memory.subjects s where s.tenant_id = %(tenant)s and s.subject_id = %(subject)s
),
dense as (
    select v.item_id, (v.vec <#> %(vector)s::halfvec) + 0 as distance from memory.vectors v
    where v.tenant_id = %(tenant)s and v.subject_id = %(subject)s and v.model = %(model)s
    order by distance limit 60
),
lexical as (
    select t.item_id, sum(ln(1 + (items - df + 0.5) / (df + 0.5)) * tf * 1.9
                          / (tf + 0.9::float8 * (0.6::float8 + 0.4::float8 * dl / average))) as bm25
    from words w
    cross join lateral unnest(w.words) as word
    cross join lateral (
        select p.item_id, p.tf, p.dl, count(*) over ()::float8 as df
        from memory.terms t
        cross join lateral unnest(t.item_ids, t.tfs, t.dls) as p (item_id, tf, dl)
        where t.tenant_id = %(tenant)s and t.subject_id = %(subject)s and t.term = word offset 0) t
    group by t.item_id order by bm25 desc limit 60
),
best as (
    select f.item_id, i.happened_at, m.content, 0.5 * f.cosine + 0.05 * f.bm25
           + 0.2 * greatest(0, 1 - extract(epoch from %(as_of)s - coalesce(m.accessed_at, i.happened_at))::float8
                                   / 31536000)
           + 0.2 * coalesce(m.importance, 0) + 0.05 * least(coalesce(m.access_count, 0) / 20.0::float8, 1) as score
    from (select item_id, sum(cosine) as cosine, sum(bm25) as bm25
          from (select item_id, -distance as cosine, 0::float8 as bm25 from dense
                union all select item_id, 0, bm25 from lexical) both_arms
          group by item_id) f
    cross join lateral (
        select * from memory.items i
        where i.tenant_id = %(tenant)s and i.subject_id = %(subject)s and i.item_id = f.item_id limit 1) i
    left join lateral (
        select * from memory.memories m
        where i.item = 'memory' and m.tenant_id = %(tenant)s and m.id = f.item_id limit 1) m on true
    order by score desc limit %(limit)s
)
select b.item_id, b.happened_at, b.score, coalesce(b.content, t.text)
from best b
left join log.turns t on b.content is null and t.tenant_id = %(tenant)s and t.id = b.item_id
order by b.score desc
"""


@dataclass(frozen=True)
class Ask:
    """A question about a subject."""

    subject: str
    question: ParsedQuestion
    vector: np.ndarray


def main() -> None:
    """Load the data, recall both ways in turn, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--around", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-recall")
    parser.add_argument("--keep", action="store_true", help="ask again without loading")
    options = parser.parse_args()
    server = EmbeddedPostgres(options.work, durable=False)
    server.start()
    url = server.url("reverie")
    try:
        if not options.keep:
            migrate(url)
            if is_loaded(url):
                parser.error(f"{options.work} has the items of an earlier run: add --keep, or name an empty folder.")
            load(url, options.sizes, options.around)
        with Store.open(url, role="reader", size=1) as store:
            rows = [measured(store, size, options.rounds) for size in options.sizes]
    finally:
        server.stop()
    columns = ("items", "floor", "search", "ratio", "floor in a transaction", "search in one", "ratio")
    print_table(f"Recall, ms p50 (p95), {machine()}", columns, [by_clock for by_clock, _ in rows])
    print_table("CPU of client and server, ms p50 (p95)", columns, [by_cpu for _, by_cpu in rows])


def measured(store: Store, size: int, rounds: int) -> list[tuple[str, ...]]:
    """Return a row of each table: both ways in turn, within one transaction and then with one per question."""
    policy = load_policy("reverie")
    with store.transaction(TENANT) as conn:
        asked = list(questions(conn, size, policy))
        server = conn.info.backend_pid
        ways = [lambda ask: floor(conn, ask, policy), lambda ask: found(conn, ask, policy)]
        alone = in_turn(ways, asked, rounds, server)

    def bound(way: Callable[[Connection[Any], Ask, Policy], object]) -> Callable[[Ask], object]:
        def run(ask: Ask) -> object:
            with store.transaction(TENANT) as conn:
                return way(conn, ask, policy)

        return run

    in_one = in_turn([bound(floor), bound(found)], asked, rounds, server)
    return [(f"{size:,}", *told(alone[kind]), *told(in_one[kind])) for kind in range(2)]


def in_turn(ways: list[Callable[[Ask], object]], asked: list[Ask], rounds: int, server: int) -> np.ndarray:
    """Return wall and CPU milliseconds, shape (2, ways, rounds); the order of the ways changes from round to round."""
    times = np.zeros((2, len(ways), rounds))
    for number in range(-10, rounds):  # the first ten prepare and warm up
        ask = asked[number % len(asked)]
        for turn in range(len(ways)):
            way = (number + turn) % len(ways)
            began = np.array([time.perf_counter(), spent(server)])
            ways[way](ask)
            times[:, way, max(number, 0)] = 1e3 * (np.array([time.perf_counter(), spent(server)]) - began)
    return times


def spent(server: int) -> float:
    """Return the CPU seconds of this process and of the server."""
    return time.process_time() + time.clock_gettime(~server << 3 | 2)  # how Linux numbers a process's CPU clock


def told(times: np.ndarray) -> tuple[str, ...]:
    """Return both times and the ratio of their medians."""
    cells = [f"{np.median(one):.2f} ({np.percentile(one, 95):.2f})" for one in times]
    return (*cells, f"{np.median(times[1]) / np.median(times[0]):.2f}")


def floor(conn: Connection[Any], ask: Ask, policy: Policy) -> object:
    params = {
        "tenant": TENANT, "subject": ask.subject, "model": MODEL, "question": ask.question.text, "as_of": AS_OF,
        "vector": half_vector(ask.vector), "limit": policy.recall.ranked,
    }  # fmt: skip
    return conn.execute(FLOOR, params, prepare=True, binary=True).fetchall()


def found(conn: Connection[Any], ask: Ask, policy: Policy) -> object:
    wanted = Search(
        tenant_id=TENANT, subject_id=ask.subject, question=ask.question, vector=ask.vector, model=MODEL, as_of=AS_OF
    )
    return search(conn, wanted, policy)


def questions(conn: Connection[Any], size: int, policy: Policy, number: int = 40) -> Iterator[Ask]:
    """Yield questions with words of an item of a subject, and a vector near it."""
    random = np.random.default_rng(size)
    names = [row[0] for row in conn.execute("select subject_id from memory.subjects where items = %s", [size])][:number]
    for at in range(number):
        subject = names[at % len(names)]
        (text,) = conn.execute(
            "select text from log.turns where subject_id = %s order by id offset %s limit 1", [subject, at]
        ).fetchone() or ("",)
        words = text.split()
        vector = random.standard_normal(DIMENSIONS, np.float32)
        question = read_question(
            f"When did Ana {' '.join(words[:ASKED])}?", policy=policy.recall, speakers=SPEAKERS, asked_at=AS_OF
        )
        yield Ask(subject, question, vector / np.linalg.norm(vector))


def is_loaded(url: str) -> bool:
    """Return whether an earlier run loaded its items."""
    with connect(url) as conn:
        return conn.execute("select from log.turns limit 1").fetchone() is not None


def load(url: str, sizes: list[int], around: int) -> None:
    """Load subjects of 100 interleaved, as live traffic does, and large ones contiguously, which favours the floor."""
    random = np.random.default_rng(1)
    vocabulary = np.array(sorted({"".join(word) for word in random.choice(list("abcdefghiklmnoprstuvw"), (5000, 5))}))
    vocabulary = random.permutation(vocabulary)[:VOCABULARY]
    shares = 1 / (np.arange(VOCABULARY) + 10)
    shares /= shares.sum()
    small = [f"small{number:05}" for number in range(around // 100)]
    subjects = [subject for _ in range(100) for subject in small]
    for size in sizes:
        if size != 100:
            subjects += [
                f"size{size}-{number}" for number in range(max(1, min(5, 10_000 // size))) for _ in range(size)
            ]
    with connect(url) as conn:
        for first in range(0, len(subjects), CHUNK):
            some = subjects[first : first + CHUNK]
            lengths = random.integers(SHORTEST, LONGEST, len(some))
            texts = [" ".join(random.choice(vocabulary, length, p=shares)) for length in lengths]
            write(conn, first, some, texts, random)
        conn.execute("update memory.subjects set speakers = %s", [list(SPEAKERS)])
        conn.execute("vacuum analyze")


def write(
    conn: Connection[Any],
    first: int,
    subjects: list[str],
    texts: list[str],
    random: np.random.Generator,
    session: int = SESSION,
) -> None:
    """Write items from number `first` on, `session` per session; every third is a memory of the turn before it."""
    numbers = range(first, first + len(subjects))
    times = [ORIGIN + timedelta(seconds=60 * number) for number in numbers]
    ids = [stable_id(time, TENANT, str(number)) for time, number in zip(times, numbers, strict=True)]
    sessions = [f"{subject}-{number // session}" for number, subject in zip(numbers, subjects, strict=True)]
    is_memory = [number % 3 == 2 for number in numbers]
    rows = list(zip(ids, subjects, sessions, numbers, times, texts, is_memory, strict=True))
    nothing = UUID(int=0)
    with (
        conn.transaction(),
        conn.cursor() as cursor,
    ):
        with cursor.copy(
            "copy log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, speaker, said_at,"
            " text, content_hash) from stdin"
        ) as copy:
            for id_, subject, session, number, at, text, memory in rows:
                if not memory:
                    speaker = SPEAKERS[number % 2]
                    copy.write_row((TENANT, id_, subject, session, str(number), number, "user", speaker, at, text, b""))
        with cursor.copy(
            "copy memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,"
            " importance, happened_at, accessed_at, decayed_at, turn_id, session_id, origin, run_id, policy_hash,"
            " linked, scored) from stdin"
        ) as copy:
            for place, (id_, subject, session, _, at, text, memory) in enumerate(rows):
                if memory:
                    copy.write_row(
                        (TENANT, id_, subject, "fact", "active", text, b"", 0.7, 0.7, 0.7, at, at, at,
                         ids[place - 1], session, "bench", nothing, "bench", True, True)
                    )  # fmt: skip
        vectors = random.standard_normal((len(rows), DIMENSIONS), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        with cursor.copy(
            "copy memory.vectors (tenant_id, subject_id, model, item_id, item, vec) from stdin (format binary)"
        ) as copy:
            for row, wire in zip(rows, to_half_wire(vectors), strict=True):
                kind = b"memory" if row[6] else b"turn"
                copy.write_row((b"bench", row[1].encode(), b"bench", row[0].bytes, kind, wire.tobytes()))
        for item in ("turn", "memory"):
            some = [row for row in rows if row[6] == (item == "memory")]
            spoken = [SPEAKERS[row[3] % 2] for row in some]
            columns: dict[str, Any] = {
                "tenant": TENANT, "item": item, "language": "english", "item_ids": [row[0] for row in some],
                "subject_ids": [row[1] for row in some], "texts": [row[5] for row in some],
                "session_ids": [row[2] for row in some], "happened_at": [row[4] for row in some], "speakers": spoken,
                "roles": ["user"] * len(some), "words": [10] * len(some), "asks": [row[3] % 7 == 0 for row in some],
                "first_person": [row[3] % 2 == 0 for row in some], "names_time": [row[3] % 5 == 0 for row in some],
                "asked_by": [None] * len(some),
            }  # fmt: skip
            cursor.execute(queries("embed")["write_items"], columns)


if __name__ == "__main__":
    main()
