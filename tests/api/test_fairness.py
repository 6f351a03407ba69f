"""No request freezes others: what takes long is bounded, and worked beside the loop that serves everybody."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.api.app import create_app
from reverie.api.services import Services
from tests.api.conftest import MakeKey, settings_for

#: No callback of the loop may take longer, on a machine that does other work too; unbounded, they took 12 seconds.
LONGEST_SECONDS = 0.25
FACT = "Always use tea. My brother Bo ran. "


def turn(text: str, **given: Any) -> dict[str, Any]:
    return {"role": "user", "text": text} | given


def sent(*turns: dict[str, Any]) -> dict[str, Any]:
    return {"subject_id": "ann", "session_id": "s", "turns": list(turns), "embed": False}


def told(api: TestClient, ask: dict[str, Any]) -> dict[str, Any]:
    """The first turn of the answer; a machine that does other work too may refuse, and then stores nothing."""
    for _ in range(5):
        answer = api.post("/v1/turns", json=ask)
        if answer.status_code == 200:
            break
        assert answer.json()["stored"] == "no", answer.text
    first: dict[str, Any] = answer.json()["turns"][0]
    return first


@asynccontextmanager
async def serving(url: str, key: str, **given: Any) -> AsyncIterator[tuple[httpx.AsyncClient, Services]]:
    """The app on this loop, whose callbacks can so be timed."""
    app = create_app(settings_for(url, **given))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers, timeout=60) as http:
            yield http, app.state.services


@pytest.fixture
def slowest(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Gathers how long each callback of any loop took, in seconds of this thread's processor time."""
    taken: list[float] = []
    run = asyncio.events.Handle._run  # type: ignore[attr-defined]

    def timed(handle: Any) -> Any:
        began = time.thread_time()
        try:
            return run(handle)
        finally:
            taken.append(time.thread_time() - began)

    monkeypatch.setattr(asyncio.events.Handle, "_run", timed)
    gc.collect()
    gc.freeze()  # as the server does: looking through all that a test run has made is no request's work
    yield taken
    gc.unfreeze()


LARGEST = {
    "one text": sent(turn((FACT * 3000)[:99_000])),
    "many texts": sent(*(turn((FACT * 100)[:1_800]) for _ in range(100))),
    "a clause without end": sent(turn(("my address is " * 20_000)[:99_000])),
    "tool calls": sent(turn("", role="assistant", tool_calls=[{"name": "t", "arguments": {"a": FACT * 5000}}])),
}


@pytest.mark.parametrize("name", LARGEST)
def test_a_maximal_request_holds_up_nobody(
    database_url: str, make_key: MakeKey, slowest: list[float], name: str
) -> None:
    async def work() -> int:
        async with serving(database_url, make_key(), api_rate="100000/second") as (http, _):
            await http.post("/v1/turns", json=sent(turn(FACT * 40, source_id="first")))  # starts the reader
            slowest.clear()
            hostile = asyncio.create_task(http.post("/v1/turns", json=LARGEST[name]))
            served = 0
            while not hostile.done():
                assert (await http.get("/v1/memories?subject_id=ann")).status_code == 200
                served += 1
            answer = await hostile
            assert answer.status_code == 200 or answer.json()["stored"] == "no", answer.text  # on a busy machine
            return served

    assert asyncio.run(work()) > 0, "others were served meanwhile"
    assert max(slowest) < LONGEST_SECONDS


def test_the_rules_read_a_long_text_as_a_short_one(api: TestClient) -> None:
    """The same candidates under the same ids, whichever process finds them."""
    text = "This is my brother Bruno. " + "Nothing else is new. " * 60
    ask = sent(turn(text, source_id="t1", said_at="2026-06-01T10:00:00Z"))
    long = told(api, ask)
    services = api.app.state.services  # type: ignore[attr-defined]
    object.__setattr__(services.turn_reader, "begin", None)
    here = told(api, ask)
    assert long["extracted"][0]["content"] == "Has brother Bruno"
    assert (long["status"], here["status"]) == ("added", "repeated")
    assert here["extracted"] == long["extracted"]


def test_a_reader_that_dies_stores_nothing_and_is_replaced(api: TestClient, conn: psycopg.Connection[Any]) -> None:
    assert api.post("/v1/turns", json=sent(turn(FACT * 40))).status_code == 200
    reader = api.app.state.services.turn_reader  # type: ignore[attr-defined]
    (process,) = reader._pool._processes.values()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    stored = conn.execute("select count(*) from ops.pending_turns").fetchone()
    answers = [api.post("/v1/turns", json=sent(turn(FACT * 41 + str(number)))) for number in range(3)]
    assert answers[-1].status_code == 200
    failed = [answer for answer in answers if answer.status_code != 200]
    assert [answer.json()["stored"] for answer in failed] == ["no"] * len(failed)
    assert stored and conn.execute("select count(*) from ops.pending_turns").fetchone() == (
        stored[0] + 3 - len(failed),
    )


def test_a_turn_is_bounded(api: TestClient) -> None:
    answer = api.post("/v1/turns", json=sent(turn("a" * 100_001)))
    assert answer.status_code == 422
    detail = "Turn 1 of 1: text is 100,001 characters; expected at most 100,000, the policy's `turn_characters`."
    assert answer.json()["detail"] == detail
    assert answer.json()["errors"] == [{"pointer": "#/turns/0/text", "detail": detail}]


def test_candidates_beyond_the_policy_are_told(api: TestClient) -> None:
    text = "".join(f"Always suggest tea number {number}. " for number in range(250))
    heard = told(api, sent(turn(text)))
    assert len(heard["extracted"]) == 200
    assert heard["left_out"] == 50


@pytest.mark.parametrize("letter", ["a", "é", "語"])
def test_a_request_is_bounded_by_its_characters(database_url: str, make_key: MakeKey, letter: str) -> None:
    with TestClient(create_app(settings_for(database_url, api_characters=2048))) as app:
        headers = {"Authorization": f"Bearer {make_key()}", "Content-Type": "application/json"}
        for length, status in ((1900, 200), (2048, 413)):
            body = '{"subject_id": "ann", "question": "' + letter * length + '"}'
            assert app.post("/v1/recalls", content=body.encode(), headers=headers).status_code == status
