"""A 503 says whether anything was stored: nothing, unless nobody knows."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.api.app import create_app
from tests.api.conftest import MakeKey, settings_for
from tests.api.test_live import until
from tests.recall.conftest import Corpus

TURN = {"subject_id": "ann", "session_id": "s", "turns": [{"role": "user", "text": "I like tea."}], "embed": False}
STORED = "select count(*) from ops.pending_turns"


def test_what_takes_too_long_is_not_stored(database_url: str, make_key: MakeKey, conn: psycopg.Connection[Any]) -> None:
    with TestClient(create_app(settings_for(database_url, api_seconds=0.5))) as app:
        app.headers["Authorization"] = f"Bearer {make_key()}"
        with conn.transaction():
            conn.execute("lock table ops.pending_turns")
            answer = app.post("/v1/turns", json=TURN)
            assert (answer.status_code, answer.json()["stored"]) == (503, "no")
        time.sleep(1)  # a statement that went on would have stored it by now
        assert conn.execute(STORED).fetchone() == (0,)


def test_a_batch_that_takes_too_long_removes_nothing(
    database_url: str, make_key: MakeKey, conn: psycopg.Connection[Any]
) -> None:
    """Its put waits, after a pop that did not."""
    puts = [{"op": "put", "namespace": [name], "key": "k", "value": {}} for name in ("a", "b")]
    key = {"Authorization": f"Bearer {make_key()}"}
    with TestClient(create_app(settings_for(database_url)), headers=key) as app:
        assert app.post("/v1/store", json={"operations": puts}).status_code == 200
    hurried = create_app(settings_for(database_url, api_seconds=0.5))
    with TestClient(hurried, headers=key) as app, conn.transaction():
        conn.execute("select from ops.store_items where namespace = '{b}' for update")
        answer = app.post("/v1/store", json={"operations": [{"op": "pop", "namespace": ["a"]}, puts[1]]})
        assert (answer.status_code, answer.json()["stored"]) == (503, "no")
    assert conn.execute("select count(*) from ops.store_items").fetchone() == (2,)


def test_a_commit_that_was_sent_is_waited_for(
    database_url: str, make_key: MakeKey, conn: psycopg.Connection[Any]
) -> None:
    """It takes longer than the request may; Postgres does not cancel a commit."""
    conn.execute("create function public.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(1.2);"
                 " return null; end $$")  # fmt: skip
    conn.execute("create constraint trigger slow after insert on ops.pending_turns deferrable initially deferred"
                 " for each row execute function public.slow()")  # fmt: skip
    with TestClient(create_app(settings_for(database_url, api_seconds=1))) as app:
        app.headers["Authorization"] = f"Bearer {make_key()}"
        answer = app.post("/v1/turns", json=TURN)
    stored = conn.execute(STORED).fetchone()
    assert stored == ((1,) if answer.status_code == 200 else (0,)), answer.text


def test_a_connection_that_is_lost_in_a_commit_leaves_it_open(
    app: TestClient, make_key: MakeKey, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    app.headers["Authorization"] = f"Bearer {make_key()}"

    async def lost(*_: Any, **__: Any) -> Any:
        raise psycopg.OperationalError("the connection was lost")

    assert app.post("/v1/turns", json=TURN).status_code == 200
    monkeypatch.setattr("reverie.store.session.on_asyncio.run_pipeline", lost)
    answer = app.post("/v1/turns", json=TURN)
    assert (answer.status_code, answer.json()["stored"]) == (503, "unknown")
    assert "send it again" in answer.json()["detail"]
    assert app.get("/v1/memories?subject_id=ann").json()["stored"] == "no"


def test_a_write_that_is_late_and_a_write_that_waits(
    database_url: str, make_key: MakeKey, conn: psycopg.Connection[Any]
) -> None:
    """One that got its lock before the statement's limit is answered, though the request's own time was over."""
    with TestClient(create_app(settings_for(database_url, api_seconds=2))) as app:
        app.headers["Authorization"] = f"Bearer {make_key()}"
        assert app.get("/v1/memories?subject_id=ann").status_code == 200
        conn.execute("begin; lock table ops.pending_turns")
        threading.Timer(1.0, conn.execute, ["commit"]).start()
        assert app.post("/v1/turns", json=TURN).status_code == 200


@pytest.mark.parametrize(
    ("path", "sent", "stored"),
    [
        ("erasures", {"kind": "subject", "subject_id": "ann"}, "unknown"),
        ("erasures", {"kind": "subject", "subject_id": "ann", "preview": True}, "no"),
        ("corrections", {"kind": "keep_apart"}, "unknown"),
    ],
)
def test_what_a_thread_may_still_commit_is_unknown(
    database_url: str, make_key: MakeKey, conn: psycopg.Connection[Any], corpus: Corpus,
    path: str, sent: dict[str, Any], stored: str,
) -> None:  # fmt: skip
    later, earlier = corpus.memory("Lives in Oslo"), corpus.memory("Lives in Rome", state="superseded")
    conn.execute("update memory.memories set superseded_by = %s where id = %s", [later, earlier])
    if path == "corrections":
        sent = sent | {"memory_id": str(earlier)}
    with TestClient(create_app(settings_for(database_url, api_seconds=0.5))) as app:
        app.headers["Authorization"] = f"Bearer {make_key(scopes=['admin', 'write'])}"
        with conn.transaction():
            conn.execute("lock table memory.memories")
            answer = app.post(f"/v1/{path}", json=sent)
            assert (answer.status_code, answer.json()["stored"]) == (503, stored)
        if stored == "unknown":
            done = "select from ops.erasures union all select from log.corrections"
            until(lambda: conn.execute(done).fetchone() is not None)
