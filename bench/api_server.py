"""The server that bench/api.py and bench/freshness.py measure, in a separate process, on a loaded database.

python bench/api_server.py URL PORT
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
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from bench.http_load import Connection, Processors
from bench.recall import CHUNK, LONGEST, SHORTEST, SPEAKERS, TENANT, VOCABULARY, write
from reverie.api.keys import add_key
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.session import perform

MEMORIES_EACH, ITEMS_EACH = 100, 300
TURNS_A_SESSION = 20


class Server(NamedTuple):
    """A running server."""

    port: int
    key: str
    #: Ids of memories.
    ids: tuple[str, ...]
    used: Processors
    #: The URL of the database.
    url: str


def loading(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options for the server and its database."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=200_000)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-api")
    parser.add_argument("--keep", action="store_true", help="ask again without loading")
    return parser


@contextmanager
def running(options: argparse.Namespace) -> Iterator[Server]:
    """Load and start the server."""
    database = EmbeddedPostgres(options.work)
    database.start()
    url = database.url("reverie")
    try:
        if not options.keep:
            empty(database)
            migrate(url)
            load(url, options.memories)
        with Store.open(url, size=1) as store:
            session, now = store.session(TENANT), datetime.now(UTC)
            made = add_key(session, name="bench", scopes=["read", "write"], policy="reverie", made_at=now)
            key = perform(made)[1]
        with connect(url) as conn:
            ids = [str(row[0]) for row in conn.execute("select id from memory.memories limit 10000")]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment = {"DATABASE_URL": url, "REVERIE_API_RATE": "1000000/second"}
        command = [sys.executable, __file__, url, str(port)]
        with subprocess.Popen(command, env=os.environ | environment) as server:
            try:
                until_ready(port)
                settle(url)  # else the measurements include writing out the load and reading from disk
                used = Processors(server.pid, database.status().pid or 0)
                yield Server(port, key, tuple(ids), used, url)
            finally:
                server.terminate()
    finally:
        database.stop()


def empty(database: EmbeddedPostgres) -> None:
    """Drop what an earlier run loaded."""
    with connect(database.url("postgres")) as conn:
        conn.execute("drop database if exists reverie with (force)")
        conn.execute("create database reverie")


def settle(url: str) -> float:
    """Wait until nothing is due to be flushed, make a checkpoint and read all tables; return the seconds taken.

    A virtual machine may reclaim file pages that were not used for a minute. The first recalls about each subject would
    then read hundreds of pages from disk, one by one.
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
            said = np.split(made.choice(words, ends[-1], p=shares), ends[:-1])  # one call: each weighs all words
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


def until_ready(port: int) -> None:
    """Wait for the server."""
    for _ in range(300):
        if asyncio.run(Connection(port, "").ask(("GET", "/ready", b""))) == 200:
            return
        time.sleep(0.2)
    raise SystemExit("The server did not start.")


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
