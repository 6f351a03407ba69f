"""The API under load from another process, beside bare handlers in the same server.

    python bench/api.py [--memories 200000] [--seconds 5] [--mixed 10] [--work DIRECTORY] [--keep]

2,000 subjects (or as many as give 100 memories each), of each 100 memories and the 200 turns around them; words follow
Zipf and vectors are Gaussian, so it tells of cost and not of quality. The server is `reverie serve`'s app, one process,
with two handlers more: `bare SELECT` reads one row by its key, `bare INSERT` writes one and commits, both in autocommit
on a pool of their own, without key, tenant or checks: the least that a handler on this server can cost.

The load comes from this process by a small HTTP/1.1 client on asyncio streams (httpx takes several times its CPU),
in a closed loop, kinds in turn, three rounds. Then `--mixed` minutes at 70 % of the rate that the mix reaches with 16
connections: requests are due by the clock and their time is counted from when they were due.
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
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import orjson
import psutil
import uvloop

from bench.recall import CHUNK, LONGEST, SHORTEST, SPEAKERS, TENANT, VOCABULARY, write
from bench.report import machine, print_table
from reverie.api.keys import making_key
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.embedded import EmbeddedPostgres
from reverie.store.migrate import migrate
from reverie.store.steps import perform

MEMORIES_EACH, ITEMS_EACH = 100, 300
ROUNDS = 3
#: Share of each kind in the mix; every session is closed after 20 turns.
MIX = {"append": 0.40, "working memory": 0.25, "recall": 0.20, "recall, embedded": 0.05, "context, embedded": 0.10}
TURNS_A_SESSION = 20
#: What each kind is compared with.
PEER = {"append": "bare INSERT", "append, embedded": "bare INSERT"}
Request = tuple[str, str, bytes]


class Load:
    """Makes requests: a random subject each, words that occur."""

    def __init__(self, words: list[str], ids: list[str], subjects: int, seed: int) -> None:
        self._random, self._words, self._ids, self._subjects = random.Random(seed), words, ids, subjects
        self._seed, self._number = seed, 0

    def make(self, kind: str) -> Request:
        """One request: method, path, body."""
        self._number += 1
        subject = f"s{self._random.randrange(self._subjects):05}"
        question = f"When did Ana {' '.join(self._random.choices(self._words, k=5))}?"
        embed = kind.endswith("embedded")
        match kind.split(",")[0]:
            case "bare SELECT":
                return "GET", f"/bare/{self._random.choice(self._ids)}", b""
            case "bare INSERT":
                return "POST", "/bare", b""
            case "append":
                session = f"live-{self._seed}-{self._number // TURNS_A_SESSION}"
                subject = f"s{self._number // TURNS_A_SESSION % self._subjects:05}"
                if self._number % TURNS_A_SESSION == TURNS_A_SESSION - 1:
                    return "POST", "/v1/sessions/close", _json(subject_id=subject, session_id=session)
                said = f"I have a dog named {self._random.choice(self._words).title()} and I like {question}"
                turn = {"source_id": str(self._number), "role": "user", "speaker": "Ana", "text": said}
                return "POST", "/v1/turns", _json(subject_id=subject, session_id=session, turns=[turn], embed=embed)
            case "working memory":
                return "GET", f"/v1/working_memory?subject_id=s{self._random.randrange(50):05}&session_id=held", b""
            case "recall":
                return "POST", "/v1/recalls", _json(subject_id=subject, question=question, embed=embed)
            case _:
                return "POST", "/v1/contexts", _json(subject_id=subject, question=question, embed=embed)


def _json(**body: object) -> bytes:
    return orjson.dumps(body)


class Connection:
    """One HTTP/1.1 connection that is kept."""

    def __init__(self, port: int, key: str) -> None:
        self._port, self._head = port, f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n".encode()
        self._reader: asyncio.StreamReader | None = None

    async def ask(self, request: Request) -> int:
        """Send it, read the answer, return the status; 0 when the connection broke."""
        method, path, body = request
        try:
            if self._reader is None:
                self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
            kind = b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body) if method != "GET" else b""
            self._writer.write(f"{method} {path} HTTP/1.1\r\n".encode() + self._head + kind + b"\r\n" + body)
            head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
            length = head.index(b"content-length:") + 15
            await self._reader.readexactly(int(head[length : head.index(b"\r\n", length)]))
            return int(head[9:12])
        except (OSError, asyncio.IncompleteReadError):
            self._reader = None
            return 0


async def closed_loop(
    connections: list[Connection], make: Callable[[], Request], seconds: float
) -> tuple[list[float], dict[int, int]]:
    """Each connection asks again as soon as it is answered: milliseconds of each, answers by status."""
    times: list[float] = []
    statuses: dict[int, int] = defaultdict(int)
    end = time.perf_counter() + seconds

    async def one(connection: Connection) -> None:
        while (began := time.perf_counter()) < end:
            statuses[await connection.ask(make())] += 1
            times.append(1e3 * (time.perf_counter() - began))

    await asyncio.gather(*map(one, connections))
    return times, statuses


async def open_loop(
    connections: list[Connection], make: Callable[[], Request], rate: float, seconds: float, tell: Callable[[int], None]
) -> tuple[list[list[float]], dict[int, int]]:
    """Requests due by the clock, `rate` a second: milliseconds from when each was due, by minute; answers by status."""
    total = int(rate * seconds)
    minutes: list[list[float]] = [[] for _ in range(int(seconds // 60) + 1)]
    statuses: dict[int, int] = defaultdict(int)
    numbers = iter(range(total))
    start = time.perf_counter()

    async def one(connection: Connection) -> None:
        for number in numbers:
            due = start + number / rate
            if (early := due - time.perf_counter()) > 0:
                await asyncio.sleep(early)
            statuses[await connection.ask(make())] += 1
            now = time.perf_counter()
            minutes[int((due - start) // 60)].append(1e3 * (now - due))
            if number % max(1, int(rate * 60)) == 0:
                tell(number)

    await asyncio.gather(*map(one, connections))
    return [minute for minute in minutes if minute], statuses


async def measure(options: argparse.Namespace, port: int, key: str, make: Load, process: psutil.Process) -> None:
    """Every kind at 1 and 16 connections, then the mix."""
    for subject in range(50):
        for number in range(TURNS_A_SESSION):
            turn = {"source_id": str(number), "role": "user", "text": f"I like tea and item {number}."}
            body = _json(subject_id=f"s{subject:05}", session_id="held", turns=[turn], embed=False)
            assert await Connection(port, key).ask(("POST", "/v1/turns", body)) == 200
    kinds = [
        "bare SELECT", "bare INSERT", "append", "append, embedded", "working memory", "recall", "recall, embedded",
        "context", "context, embedded",
    ]  # fmt: skip
    for number in (1, 16):
        connections = [Connection(port, key) for _ in range(number)]
        times: dict[str, list[float]] = defaultdict(list)
        failed: dict[str, Counter[int]] = defaultdict(Counter)
        for kind in kinds:  # prepares statements, and connects
            await closed_loop(connections, lambda kind=kind: make.make(kind), 0.5)
        for _ in range(ROUNDS):
            for kind in kinds:
                found, statuses = await closed_loop(connections, lambda kind=kind: make.make(kind), options.seconds)
                times[kind] += found
                failed[kind].update({status: count for status, count in statuses.items() if status != 200})
        rows = []
        for kind in kinds:
            peer = times[PEER.get(kind, "bare SELECT")]
            p50, p95, p99 = np.percentile(times[kind], (50, 95, 99))
            rate = len(times[kind]) / (ROUNDS * options.seconds)
            ratios = [f"{p50 / np.percentile(peer, 50):.1f}", f"{p95 / np.percentile(peer, 95):.1f}"]
            rows.append((kind, f"{rate:,.0f}", f"{p50:.2f}", f"{p95:.2f}", f"{p99:.2f}", *ratios, told(failed[kind])))
        columns = ("request", "a second", "p50", "p95", "p99", "p50 / bare", "p95 / bare", "failed")
        print_table(f"{number} connection{'s' * (number > 1)}, ms; {machine()}", columns, rows)
    if options.mixed:
        await mixed(options, [Connection(port, key) for _ in range(16)], make, process)


def told(failed: Mapping[int, int]) -> str:
    """How many failed, by status; 404 is a session closed before any of its turns came, in the load's own order."""
    return ", ".join(f"{count} x {status}" for status, count in sorted(failed.items())) or "none"


async def mixed(
    options: argparse.Namespace, connections: list[Connection], make: Load, process: psutil.Process
) -> None:
    """The mix at 70 % of its peak."""
    chosen = random.Random(2)

    def any_kind() -> Request:
        return make.make(chosen.choices(list(MIX), list(MIX.values()))[0])

    found, _ = await closed_loop(connections, any_kind, 4 * options.seconds)
    rate = 0.7 * len(found) / (4 * options.seconds)
    memory: list[float] = []
    minutes, statuses = await open_loop(
        connections, any_kind, rate, 60 * options.mixed, lambda _: memory.append(process.memory_info().rss / 2**20)
    )
    memory.append(process.memory_info().rss / 2**20)
    rows = [
        (number, len(minute), *(f"{value:.1f}" for value in np.percentile(minute, (50, 95, 99))), f"{rss:,.0f}")
        for number, (minute, rss) in enumerate(zip(minutes, memory[1:], strict=False), start=1)
    ]
    title = f"Mixed load, {rate:,.0f} requests a second (70 % of the peak), ms from when a request was due"
    print_table(title, ("minute", "requests", "p50", "p95", "p99", "server MiB"), rows)
    wrong = {status: count for status, count in statuses.items() if status != 200}
    drift = np.percentile(minutes[-1], 95) / np.percentile(minutes[0], 95)
    print(
        f"Failed of {sum(statuses.values()):,}: {told(wrong)}; p95 of the last minute {drift:.2f} times that of the "
        f"first; server memory {memory[0]:,.0f} to {memory[-1]:,.0f} MiB."
    )


def load(url: str, memories: int) -> None:
    """Subjects grow side by side, as live ones do."""
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
        conn.execute("vacuum analyze")


def vocabulary() -> list[str]:
    """Words of five letters."""
    made = np.random.default_rng(1)
    words = np.array(sorted({"".join(word) for word in made.choice(list("abcdefghiklmnoprstuvw"), (5000, 5))}))
    return [str(word) for word in made.permutation(words)[:VOCABULARY]]


def serve(url: str, port: int) -> None:
    """The server's process: the app with the bare handlers, and the embedder under the name of the loaded vectors."""
    import uvicorn
    from fastapi import FastAPI, Response
    from psycopg import AsyncConnection, AsyncRawCursor
    from psycopg_pool import AsyncConnectionPool

    from reverie.api.app import create_app
    from reverie.cli.serve import SWITCH_SECONDS
    from reverie.inference.minilm.onnx import MiniLM
    from reverie.model import stable_id
    from reverie.settings import load_settings

    MiniLM.model = "bench"
    sys.setswitchinterval(SWITCH_SECONDS)  # as `reverie serve` does
    app = create_app(load_settings())
    pool: AsyncConnectionPool[AsyncConnection] = AsyncConnectionPool(
        url, kwargs={"autocommit": True}, min_size=4, max_size=4, open=False
    )
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with pool, inner(app):
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=5.0, help="of a kind and round")
    parser.add_argument("--mixed", type=float, default=10.0, help="minutes of mixed load; 0: none")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-api")
    parser.add_argument("--keep", action="store_true", help="ask again without loading")
    parser.add_argument("--server", nargs=2, metavar=("URL", "PORT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.server:
        serve(options.server[0], int(options.server[1]))
        return
    database = EmbeddedPostgres(options.work)
    database.start()
    url = database.url("reverie")
    try:
        if not options.keep:
            migrate(url)
            load(url, options.memories)
        with Store.open(url, size=1) as store:
            steps = making_key(
                TENANT, name="bench", scopes=["read", "write"], policy="reverie", made_at=datetime.now(UTC)
            )
            key = perform(store, TENANT, steps)[1]
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
                uvloop.run(measure(options, port, key, make, psutil.Process(server.pid)))
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
