"""Whoever calls the API loses no acknowledged turn and finds none doubled, however often `reverie serve` is killed."""

from __future__ import annotations

import os
import random
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event
from typing import LiteralString

import httpx
import psycopg

from reverie.api.keys import add_key
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.session import perform
from tests.promises.forks import FORKS

#: All 200 of the spec take some minutes: REVERIE_KILLS=200, as in `make kills`.
KILLS = int(os.environ.get("REVERIE_KILLS", "3"))
CLIENTS = 3
TENANT = "acme"
#: Turns of a session; then it is closed, so that flushes are killed too.
SESSION = 5
#: Numbers of turns: those that came in, and those of them that were flushed.
TAKEN_IN = "select (select count(*) from ops.pending_turns) + (select count(*) from log.turns)"
LOGGED = "select count(*) from log.turns"


def serve(url: str, port: int) -> None:
    """Be `reverie serve`, until killed."""
    from reverie.cli.operate.serve import command

    os.environ |= {"DATABASE_URL": url, "REVERIE_EMBEDDING_MODEL": "none", "REVERIE_API_CONNECTIONS": "2"}
    command.main(["--port", str(port)])


def said(client: int, number: int) -> dict[str, object]:
    """The request that brings a turn."""
    turn = {"source_id": str(number), "role": "user", "text": f"My email is bruno{number}@example.com."}
    return {"subject_id": f"subject-{client}", "session_id": f"s{number // SESSION}", "turns": [turn], "embed": False}


def talk(client: int, base: str, key: str, over: Event) -> list[str]:
    """Send turn after turn as a client does, each until it is acknowledged; the ids that were."""
    told: list[str] = []
    with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {key}"}, timeout=20) as http:
        while not over.is_set():
            body = said(client, len(told))
            try:
                answer = http.post("/v1/turns", json=body)
            except httpx.TransportError:
                time.sleep(0.02)
                continue
            if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
                time.sleep(0.05)
                continue
            assert answer.status_code == 200, answer.text
            told.append(answer.json()["turns"][0]["turn_id"])
            if len(told) % SESSION == 0:
                with suppress(httpx.TransportError):
                    http.post("/v1/sessions/close", json={name: body[name] for name in ("subject_id", "session_id")})
    return told


def test_the_server_is_killed_under_load(database_url: str) -> None:
    with Store.open(database_url, size=1) as store:
        made = add_key(
            store.session(TENANT), name="test", scopes=["read", "write"], policy="reverie", made_at=datetime.now(UTC)
        )
        key = perform(made)[1]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base, over, dice = f"http://127.0.0.1:{port}", Event(), random.Random(1)
    with ThreadPoolExecutor(CLIENTS) as pool, connect(database_url) as conn:
        clients = [pool.submit(talk, client, base, key, over) for client in range(CLIENTS)]
        try:
            for life in range(KILLS + 1):
                server = FORKS.Process(target=serve, args=(database_url, port))
                server.start()
                grown(conn, dice.randint(10, 40))
                if life % 2:  # this one dies after its first flush, for which it loads the reader; others at any time
                    grown(conn, 1, LOGGED)
                # a closed session waits .2 s for others before it is flushed
                time.sleep(dice.uniform(0, 1.2))
                if life < KILLS:
                    server.kill()
                    server.join(30)
            over.set()
            acknowledged = {f"subject-{number}": client.result(60) for number, client in enumerate(clients)}
        finally:
            over.set()
            server.kill()
            server.join(30)
        assert (conn.execute(LOGGED).fetchone() or (0,))[0] > KILLS, "hardly any was flushed"
        for subject, ids in acknowledged.items():
            kept = conn.execute(
                """select id::text, session_id, source_id from ops.pending_turns where subject_id = %(subject)s
                   union all
                   select id::text, session_id, source_id from log.turns where subject_id = %(subject)s""",
                {"subject": subject},
            ).fetchall()
            assert len(kept) == len({row[0] for row in kept}), "a turn is there twice"
            wanted = {(id_, f"s{number // SESSION}", str(number)) for number, id_ in enumerate(ids)}
            # one more may have come in without its answer having gone out
            assert wanted <= set(kept) and len(set(kept) - wanted) <= 1


def grown(conn: psycopg.Connection[tuple[object, ...]], turns: int, count: LiteralString = TAKEN_IN) -> None:
    """Wait until so many more turns came in, or were flushed."""
    before = int(str((conn.execute(count).fetchone() or (0,))[0]))
    patience = time.monotonic() + 60
    while int(str((conn.execute(count).fetchone() or (0,))[0])) < before + turns:
        assert time.monotonic() < patience, "the server takes nothing in, or flushes nothing"
        time.sleep(0.01)
