"""The API under load from another process, beside bare handlers in the same server.

    python bench/api.py [--memories 200000] [--seconds 2] [--mixed 10] [--work DIRECTORY] [--keep]

2,000 subjects (or as many as give 100 memories each), of each 100 memories and the 200 turns around them; words follow
Zipf and vectors are Gaussian, so it tells of cost and not of quality. The server is `reverie serve`'s app, one process,
with two handlers more: `bare SELECT` reads one row by its key, `bare INSERT` writes one and commits, both in autocommit
on a pool of their own, without key, tenant or checks: the least that a handler on this server can cost.

The load comes from this process by a small HTTP/1.1 client on asyncio streams (httpx takes several times its CPU), in a
closed loop, kinds in turn, in rounds, so that what disturbs the machine disturbs all kinds; of two seconds each, as the
first requests after a pause find the processor's caches cold. Each subject was asked about a few times before: the
server remembers who speaks of whom, and Postgres maps what a connection reads for the first time, page by page. With
the time of each comes the processor time of server, Postgres and load, which other work disturbs less. Then, once the
sessions that these loops left are in the log and a checkpoint is over, `--mixed` minutes at 70 % of the rate that the
mix reaches with 16 connections: requests are due by the clock and their time is counted from when they were due.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import orjson
import psutil
import uvloop

from bench.http_load import Connection, Processors, Request, closed_loop, open_loop
from bench.processor import processor
from bench.recall import CHUNK, LONGEST, SHORTEST, SPEAKERS, TENANT, VOCABULARY, write
from bench.report import machine, print_table
from reverie.api.journal import PAUSE_SECONDS
from reverie.api.keys import add_key
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.session import perform

MEMORIES_EACH, ITEMS_EACH = 100, 300
ROUNDS = 6
#: Questions about each subject before anything is measured.
ASKED_BEFORE = 4
#: How long the peak of the mix is measured.
PEAK_SECONDS = 8
#: A second is calm when no more of the processors than this share was taken by the host or waited for the disk, in it
#: and in as many before as a queue that grew meanwhile may take to be gone.
DISTURBED, RECOVERS = 0.02, 10
#: Share of each kind in the mix; every session has 19 turns and is closed when the next one has.
MIX = {"append": 0.40, "working memory": 0.25, "recall": 0.20, "recall, embedded": 0.05, "context, embedded": 0.10}
TURNS_A_SESSION = 20
#: What each kind is compared with.
PEER = {"append": "bare INSERT", "append, embedded": "bare INSERT"}


class Load:
    """Generates requests, each about a random subject with words that occur in its turns."""

    def __init__(self, words: list[str], ids: list[str], subjects: int, seed: int) -> None:
        self._random, self._words, self._ids, self._subjects = random.Random(seed), words, ids, subjects
        self._seed, self._appended = seed, 0

    def make(self, kind: str, about: int | None = None) -> Request:
        """Return a request (method, path, body) about the subject with this number, or a random one."""
        subject = f"s{self._random.randrange(self._subjects) if about is None else about:05}"
        question = f"When did Ana {' '.join(self._random.choices(self._words, k=5))}?"
        embed = kind.endswith("embedded")
        match kind.split(",")[0]:
            case "bare SELECT":
                return "GET", f"/bare/{self._random.choice(self._ids)}", b""
            case "bare INSERT":
                return "POST", "/bare", b""
            case "append":
                number, turn_index = divmod(self._appended, TURNS_A_SESSION)
                self._appended += 1
                if number and turn_index == TURNS_A_SESSION - 1:  # the one before, which is there by now
                    subject, session = self._place(number - 1)
                    return "POST", "/v1/sessions/close", _json(subject_id=subject, session_id=session)
                subject, session = self._place(number)
                said = f"I have a dog named {self._random.choice(self._words).title()} and I like {question}"
                turn = {"source_id": str(turn_index), "role": "user", "speaker": "Ana", "text": said}
                return "POST", "/v1/turns", _json(subject_id=subject, session_id=session, turns=[turn], embed=embed)
            case "working memory":
                return "GET", f"/v1/working_memory?subject_id=s{self._random.randrange(50):05}&session_id=held", b""
            case "recall":
                return "POST", "/v1/recalls", _json(subject_id=subject, question=question, embed=embed)
            case _:
                return "POST", "/v1/contexts", _json(subject_id=subject, question=question, embed=embed)

    def _place(self, number: int) -> tuple[str, str]:
        """Return the subject and id of a live session."""
        return f"s{number % self._subjects:05}", f"live-{self._seed}-{number}"


def _json(**body: object) -> bytes:
    return orjson.dumps(body)


async def measure(options: argparse.Namespace, port: int, key: str, make: Load, used: Processors, url: str) -> None:
    """Measure each kind of request at 1 and 16 connections, then the mix."""
    await hold_sessions(port, key)
    kinds = [
        "bare SELECT", "bare INSERT", "append", "append, embedded", "working memory", "recall", "recall, embedded",
        "context", "context, embedded",
    ]  # fmt: skip
    for number in (1, 16):
        connections = [Connection(port, key) for _ in range(number)]
        times: dict[str, list[float]] = defaultdict(list)
        failed: dict[str, Counter[int]] = defaultdict(Counter)
        spent: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3))
        await ask_about_all(connections, make, options.memories // MEMORIES_EACH)
        began = processor()
        for kind in kinds:  # prepares statements, and connects
            await closed_loop(connections, partial(make.make, kind), 0.5)
        for _ in range(ROUNDS):
            for kind in kinds:
                before = used.used()
                found, statuses = await closed_loop(connections, partial(make.make, kind), options.seconds)
                await asyncio.sleep(2 * PAUSE_SECONDS)  # what it leaves to be done is its own, and not the next kind's
                if kind.startswith("append"):
                    await asyncio.to_thread(until_flushed, url)
                spent[kind] += used.used() - before
                times[kind] += found
                failed[kind].update({status: count for status, count in statuses.items() if status != 200})
        rows = []
        for kind in kinds:
            peer = times[PEER.get(kind, "bare SELECT")]
            quantiles = np.percentile(times[kind], (50, 95, 99))
            rate = len(times[kind]) / (ROUNDS * options.seconds)
            ratios = [f"{ratio:.1f}" for ratio in quantiles[:2] / np.percentile(peer, (50, 95))]
            each = 1e3 * spent[kind] / len(times[kind])
            least = spent["bare SELECT"].sum() / len(times["bare SELECT"])
            cost = [f"{each[0]:.2f} + {each[1]:.2f} + {each[2]:.2f}", f"{each.sum() / 1e3 / least:.1f}"]
            rows.append((kind, f"{rate:,.0f}", *(f"{ms:.2f}" for ms in quantiles), *ratios, *cost, told(failed[kind])))
        columns = (
            "request", "a second", "p50", "p95", "p99", "p50 / bare", "p95 / bare",
            "processor ms: server + Postgres + load", "/ bare", "failed",
        )  # fmt: skip
        whole, *_, taken = processor() - began
        title = f"{number} connection{'s' * (number > 1)}, ms; {taken / whole:.0%} of the processors taken by the host"
        print_table(f"{title}; {machine()}", columns, rows)
    if options.mixed:
        await mixed(options, lambda: [Connection(port, key) for _ in range(16)], make, used.server, url)


async def hold_sessions(port: int, key: str) -> None:
    """Open the sessions of which the working memory is read."""
    for subject in range(50):
        for number in range(TURNS_A_SESSION):
            turn = {"source_id": str(number), "role": "user", "text": f"I like tea and item {number}."}
            body = _json(subject_id=f"s{subject:05}", session_id="held", turns=[turn], embed=False)
            assert await Connection(port, key).ask(("POST", "/v1/turns", body)) == 200


async def ask_about_all(connections: Sequence[Connection], make: Load, subjects: int) -> None:
    """Send a few requests about each subject, so that no first request is measured."""
    left = iter(list(range(subjects)) * ASKED_BEFORE)

    async def ask(connection: Connection) -> None:
        for subject in left:
            assert await connection.ask(make.make("recall", subject)) == 200

    await asyncio.gather(*map(ask, connections))


def told(failed: Mapping[int, int]) -> str:
    """Count failures by status; 0 means that the connection broke."""
    return ", ".join(f"{count} x {status}" for status, count in sorted(failed.items())) or "none"


async def mixed(
    options: argparse.Namespace,
    connect_all: Callable[[], list[Connection]],
    make: Load,
    process: psutil.Process,
    url: str,
) -> None:
    """Measure the mix at 70 % of its peak, after the background work that the closed loops caused."""
    chosen = random.Random(2)

    def any_kind() -> Request:
        return make.make(chosen.choices(list(MIX), list(MIX.values()))[0])

    found, _ = await closed_loop(connect_all(), any_kind, PEAK_SECONDS)
    rate = 0.7 * len(found) / PEAK_SECONDS
    waited = await asyncio.to_thread(settle, url)
    memory: list[float] = []
    spent: list[np.ndarray] = []

    def look() -> None:
        memory.append(process.memory_info().rss / 2**20)
        spent.append(processor())

    seconds, statuses = await open_loop(connect_all(), any_kind, rate, int(60 * options.mixed), look)
    whole, idle, disk, taken = np.diff(spent, axis=0).T
    used = whole - idle - disk - taken
    busy = (disk + taken) / whole > DISTURBED
    calm = [not busy[max(0, second - RECOVERS) : second + 1].any() for second in range(len(seconds))]
    rows = []
    for number in range(-(-len(seconds) // 60)):
        minute = slice(60 * number, 60 * number + 60)
        every = np.concatenate(seconds[minute])
        quiet = [times for times, is_calm in zip(seconds[minute], calm[minute], strict=True) if is_calm]
        of_quiet = f"{np.percentile(np.concatenate(quiet), 95):.1f}" if quiet else ""
        times_told = [f"{value:.1f}" for value in np.percentile(every, (50, 95, 99))]
        shares = [f"{part[minute].sum() / whole[minute].sum():.0%}" for part in (used, disk, taken)]
        rows.append(
            (number + 1, len(every), *times_told, f"{memory[minute][-1]:,.0f}", *shares, str(len(quiet)), of_quiet)
        )
    title = f"Mixed load, {rate:,.0f} requests a second (70 % of the peak), ms from when a request was due"
    columns = (
        "minute", "requests", "p50", "p95", "p99", "server MiB", "processor in use", "waits for the disk",
        "taken by the host", "calm seconds", "p95 of these",
    )  # fmt: skip
    print_table(title, columns, rows)
    wrong = {status: count for status, count in statuses.items() if status != 200}
    print(
        f"Failed of {sum(statuses.values()):,}: {told(wrong)}; p95 of the later half {growth(seconds):.2f} times that "
        f"of the earlier, in calm seconds {growth(seconds, calm):.2f} times; server memory {memory[0]:,.0f} to "
        f"{memory[-1]:,.0f} MiB. Settled for {waited:.0f} s before."
    )


def growth(seconds: Sequence[Sequence[float]], among: Sequence[bool] | None = None) -> float:
    """p95 of the later half of all seconds over that of the earlier, `among` these; nan where a half has none."""
    half = len(seconds) // 2
    parts: list[list[float]] = [[], []]
    for second, times in enumerate(seconds):
        if among is None or among[second]:
            parts[second >= half].extend(times)
    early, late = (np.percentile(part, 95) if part else np.nan for part in parts)
    return float(late / early)


def settle(url: str) -> float:
    """Wait until nothing is due to be flushed and a checkpoint is over, and read all tables; the seconds that it took.

    A virtual machine may take pages of files back that nobody touched for a minute: then each recall of a subject's
    first minute reads hundreds of pages from the disk, one by one.
    """
    began = time.monotonic()
    until_flushed(url)
    with connect(url) as conn:
        conn.execute("vacuum analyze")
        conn.execute("checkpoint")
        conn.execute("create extension if not exists pg_prewarm")
        conn.execute(
            "select pg_prewarm(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace"
            " where n.nspname in ('log', 'memory', 'ops') and c.relkind in ('r', 'i')"
        )
    return time.monotonic() - began


def until_flushed(url: str) -> None:
    """Wait until no session is due to be flushed."""
    with connect(url) as conn:
        while (conn.execute("select count(*) from ops.sessions where due_at <= now()").fetchone() or (0,))[0]:
            time.sleep(0.2)


def load(url: str, memories: int) -> None:
    """Load the subjects interleaved, as live traffic writes them."""
    made = np.random.default_rng(1)
    words = vocabulary()
    shares = 1 / (np.arange(VOCABULARY) + 10)
    shares /= shares.sum()
    names = [f"s{number:05}" for number in range(memories // MEMORIES_EACH)]
    subjects = [name for _ in range(ITEMS_EACH) for name in names]
    with connect(url) as conn:
        for first in range(0, len(subjects), CHUNK):
            some = subjects[first : first + CHUNK]
            ends = made.integers(SHORTEST, LONGEST, len(some)).cumsum()
            said = np.split(made.choice(words, ends[-1], p=shares), ends[:-1])  # at once: it weighs all words each time
            write(conn, first, some, [" ".join(one) for one in said], made, session=TURNS_A_SESSION * len(names))
        conn.execute("update memory.subjects set speakers = %s", [list(SPEAKERS)])
        conn.execute("create table bare (id uuid primary key, content text)")


def vocabulary() -> list[str]:
    """Return words of five letters."""
    made = np.random.default_rng(1)
    words = np.array(sorted({"".join(word) for word in made.choice(list("abcdefghiklmnoprstuvw"), (5000, 5))}))
    return [str(word) for word in made.permutation(words)[:VOCABULARY]]


def serve(url: str, port: int) -> None:
    """Run the server: the app with the bare handlers, and the embedder under the key of the loaded vectors."""
    import uvicorn
    from fastapi import FastAPI, Response
    from psycopg import AsyncConnection, AsyncRawCursor
    from psycopg_pool import AsyncConnectionPool

    from reverie.api.app import create_app
    from reverie.cli.operate.serve import tune_interpreter
    from reverie.inference.minilm.onnx import MiniLM
    from reverie.model import stable_id
    from reverie.settings import load_settings

    MiniLM.model = "bench"
    app = create_app(load_settings())
    pool: AsyncConnectionPool[AsyncConnection] = AsyncConnectionPool(
        url, kwargs={"autocommit": True}, min_size=4, max_size=4, open=False
    )
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with pool, inner(app):
            tune_interpreter()  # as `reverie serve` does
            yield

    app.router.lifespan_context = lifespan

    @app.get("/bare/{id_}")
    async def select(id_: str) -> Response:
        async with pool.connection() as conn:
            cursor = await AsyncRawCursor(conn).execute(
                "select content from memory.memories where tenant_id = $1 and id = $2", [TENANT, id_], prepare=True,
                binary=True,
            )  # fmt: skip
            return Response(orjson.dumps(await cursor.fetchone()), media_type="application/json")

    @app.post("/bare")
    async def insert() -> Response:
        async with pool.connection() as conn:
            id_ = stable_id(datetime.now(UTC), str(random.random()))
            await AsyncRawCursor(conn).execute(
                "insert into bare (id, content) values ($1, $2)", [id_, "I like tea."], prepare=True
            )
            return Response(b"{}", media_type="application/json")

    uvicorn.run(app, host="127.0.0.1", port=port, access_log=False, log_level="warning")


def main() -> None:
    """Load, start the server, measure."""
    parser = loading(__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a kind and round")
    parser.add_argument("--mixed", type=float, default=10.0, help="minutes of mixed load; 0: none")
    parser.add_argument("--server", nargs=2, metavar=("URL", "PORT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.server:
        serve(options.server[0], int(options.server[1]))
        return
    with running(options) as (port, key, make, used, url):
        uvloop.run(measure(options, port, key, make, used, url))


def loading(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options by which the server and its database are made."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=200_000)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-api")
    parser.add_argument("--keep", action="store_true", help="ask again without loading")
    return parser


@contextmanager
def running(options: argparse.Namespace) -> Iterator[tuple[int, str, Load, Processors, str]]:
    """Load and start the server; yields its port, a key, requests, the processors' clock and the database's address."""
    database = EmbeddedPostgres(options.work)
    database.start()
    url = database.url("reverie")
    try:
        if not options.keep:
            migrate(url)
            load(url, options.memories)
        with Store.open(url, size=1) as store:
            session, now = store.session(TENANT), datetime.now(UTC)
            made = add_key(session, name="bench", scopes=["read", "write"], policy="reverie", made_at=now)
            key = perform(made)[1]
        with connect(url) as conn:
            ids = [str(row[0]) for row in conn.execute("select id from memory.memories limit 10000")]
        subjects = options.memories // MEMORIES_EACH
        make = Load(vocabulary(), ids, subjects, seed=int(time.time()))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = {"DATABASE_URL": url, "REVERIE_API_RATE": "1000000/second"}
        command = [sys.executable, __file__, "--server", url, str(port)]
        with subprocess.Popen(command, env=os.environ | environment) as server:
            try:
                until_ready(port)
                settle(url)  # else what is measured pays for writing out what was loaded, or finds nothing read yet
                yield port, key, make, Processors(server.pid, database.status().pid or 0), url
            finally:
                server.terminate()
    finally:
        database.stop()


def until_ready(port: int) -> None:
    """Wait for the server."""
    for _ in range(300):
        if asyncio.run(Connection(port, "").ask(("GET", "/ready", b""))) == 200:
            return
        time.sleep(0.2)
    raise SystemExit("The server did not start.")


if __name__ == "__main__":
    main()
