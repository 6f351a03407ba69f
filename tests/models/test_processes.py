"""What several processes share, and what one leaves behind that is killed: turns, money, replies."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.errors import InferenceError
from reverie.inference.completions import CallError
from reverie.inference.embedder import EmbeddingError, lost_texts
from reverie.interruption import Interrupted, request_interruption, withdraw_interruption
from reverie.llm.answers import ModelAnswer
from reverie.llm.metering import CallOutcome, MeteredCall, Payer, embed_texts, metered_embedding, reserve, settle
from reverie.store.database import AsyncStore, Store
from reverie.store.session import perform
from tests.models.conftest import GOOD_USD, Conn, Note, Server, balance, calls, give, inputs

ROOT = Path(__file__).resolve().parents[2]
PAYER = Payer(tenant_id="acme", stage="test")

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")


def completion(most_usd: float) -> MeteredCall:
    return MeteredCall(payer=PAYER, kind="completion", model="m", most_usd=most_usd, items=1, id=PAYER.new_call_id())


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.models.dying", *arguments]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | {"OPENAI_API_KEY": "none"}, **pipes) as running:
        try:
            yield running
        finally:
            running.kill()


def test_killed_between_reservation_and_settlement_nothing_is_lost(
    database_url: str, server: Server, conn: Conn, put: Callable[..., list[ModelAnswer[Note]]]
) -> None:
    give(conn, 10.0)
    server.script({"hang_s": 30})
    with process("ask", database_url, server.address) as asking:
        wait_for(lambda: len(server.requests) == 1)
        asking.send_signal(signal.SIGKILL)
    ((state, reserved),) = calls(conn, "state, reserved_usd")
    assert state == "reserved" and balance(conn) == pytest.approx(10.0 - reserved), "what it may cost stays booked"
    assert conn.execute("select count(*) from ops.replies").fetchone() == (0,)
    server.script()
    (answer,) = put(inputs("a"))
    assert answer.reply is not None and not answer.kept
    assert [row[0] for row in calls(conn)] == ["reserved", "done"]
    assert balance(conn) == pytest.approx(10.0 - reserved - GOOD_USD)
    assert put(inputs("a"))[0].kept, "and it is paid once"


def test_two_processes_share_the_pace(database_url: str) -> None:
    with process("turns", database_url, "1") as one, process("turns", database_url, "1") as two:
        for each in (one, two):
            assert each.stdout is not None and each.stdout.readline() == "ready\n"
        for each in (one, two):
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        told = [sorted(map(float, each.communicate(timeout=30)[0].split())) for each in (one, two)]
    assert min(map(len, told)) >= 5, "neither starves"
    together = sorted(told[0] + told[1])
    took = together[-1] - together[0]
    assert len(together) - 1 <= took * 20 + 1, f"{len(together)} turns in {took:.2f} s"


def test_a_turn_that_is_too_far_off_is_not_waited_for(put: Callable[..., Any]) -> None:
    limits = {"per_second": 0.5, "patience_s": 0.1, "concurrency": 1, "attempts": 1}
    first, second = put(inputs("a", "b"), **limits)
    assert (first.reason, second.reason) == (None, "rate")


def test_no_credit_is_overdrawn_by_many_at_once(store: Store, conn: Conn) -> None:
    give(conn, 1.0)

    def try_it(_: int) -> bool:
        try:
            with store.transaction("acme") as own:
                reserve(own, completion(0.3))
        except CallError as error:
            return error.reason != "credit"
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(try_it, range(12))) == 3
    assert balance(conn) == pytest.approx(0.1)


dollars = st.floats(min_value=0, max_value=2)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(min_value=0, max_value=5), st.lists(st.tuples(dollars, st.floats(0, 1), st.booleans()), max_size=12))
def test_the_balance_is_the_credit_less_the_ledger(
    store: Store, conn: Conn, credit: float, requests: list[tuple[float, float, bool]]
) -> None:
    conn.execute("truncate ops.calls, ops.credits")
    give(conn, credit)
    for most, share, settled in requests:
        with store.transaction("acme") as own:
            try:
                call = completion(most)
                reserve(own, call)
            except CallError:
                assert balance(conn) < most
                continue
        if settled:
            with store.transaction("acme") as own:
                settle(own, call, CallOutcome(cost_usd=most * share))
        assert balance(conn) >= 0
    spent = conn.execute("select coalesce(sum(coalesce(cost_usd, reserved_usd)), 0) from ops.calls").fetchone()
    assert spent is not None and balance(conn) == pytest.approx(credit - spent[0], abs=1e-9)


class Embedder:
    """Of a price."""

    model = "litellm/priced"
    dimensions = 2
    price_per_token = 0.001

    def encode(self, texts: Any) -> Any:
        raise NotImplementedError

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def test_embeddings_are_booked_around_their_call(store: Store, conn: Conn) -> None:
    give(conn, 1.0)
    with metered_embedding(store, PAYER, Embedder(), ["two words"], 2):
        assert calls(conn, "state, kind, items") == [("reserved", "embedding", 1)]
    assert calls(conn, "state, cost_usd, tokens_in") == [("done", 0.002, 2)]
    assert balance(conn) == pytest.approx(0.998)
    with pytest.raises(CallError, match="does not allow"), metered_embedding(store, PAYER, Embedder(), ["x" * 1000], 1):
        raise AssertionError("it was not paid for")


def test_a_repeated_embedding_costs_what_may_be_billed_of_it(store: Store, conn: Conn) -> None:
    class Repeating(Embedder):
        def encode(self, texts: Any) -> Any:
            lost_texts().extend(texts)
            return [None] * len(texts)

    with metered_embedding(store, PAYER, Repeating(), ["two words"], 2) as spent:
        Repeating().encode(["two words"])
    assert spent.number == 4
    perform(embed_texts(store.session("acme"), ["two words"], stage="recall", embedder=Repeating()))
    assert calls(conn, "state, cost_usd, tokens_in") == [("done", pytest.approx(0.004), 4)] * 2


@pytest.mark.parametrize(
    ("error", "costs"),
    [
        (EmbeddingError("It cannot be reached.", billed=False), False),
        (EmbeddingError("It gave no reply.", billed=True), True),
        (InferenceError("It failed."), True),
    ],
)
def test_a_failed_embedding_costs_what_it_may_be_billed(
    store: Store, conn: Conn, error: InferenceError, costs: bool
) -> None:
    give(conn, 1.0)

    class Failing(Embedder):
        def encode(self, texts: Any) -> Any:
            raise error

    with pytest.raises(InferenceError), metered_embedding(store, PAYER, Failing(), ["two words"], 2):
        raise error
    with pytest.raises(InferenceError):
        perform(embed_texts(store.session("acme"), ["two words"], stage="recall", embedder=Failing()))
    ((state, cost, reserved), again) = calls(conn, "state, cost_usd, reserved_usd")
    assert (state, cost) == ("failed", reserved if costs else 0.0) and again == (state, cost, reserved)
    assert balance(conn) == pytest.approx(1.0 - 2 * cost)


def test_an_interrupted_embedding_stays_no_reservation(store: Store, conn: Conn) -> None:
    give(conn, 1.0)
    with pytest.raises(Interrupted), metered_embedding(store, PAYER, Embedder(), ["two words"], 2):
        raise Interrupted
    ((state, reason, cost, reserved),) = calls(conn, "state, reason, cost_usd, reserved_usd")
    assert (state, reason, cost) == ("failed", "interrupted", reserved), "some of it may have been sent"
    request_interruption()
    try:
        with pytest.raises(Interrupted), metered_embedding(store, PAYER, Embedder(), ["two words"], 2):
            raise AssertionError("it was sent")
    finally:
        withdraw_interruption()
    assert len(calls(conn)) == 1 and balance(conn) == pytest.approx(1.0 - reserved)


@pytest.mark.parametrize("busy", [False, True])
def test_an_embedding_whose_request_is_cancelled_is_settled(database_url: str, conn: Conn, busy: bool) -> None:
    """Nothing is charged for one that never had a thread."""
    give(conn, 1.0)
    begun, go_on = threading.Event(), threading.Event()

    class Slow(Embedder):
        def encode(self, texts: Any) -> Any:
            begun.set()
            go_on.wait(20)
            return [None] * len(texts)

    async def ask(executor: ThreadPoolExecutor) -> None:
        async with await AsyncStore.open(database_url, role="worker", size=1) as asynchronous:
            session = asynchronous.session("acme", executor=executor)
            if busy:
                executor.submit(go_on.wait, 20)
            asking = asyncio.create_task(embed_texts(session, ["two words"], stage="recall", embedder=Slow()))
            until = time.monotonic() + 20
            while not (calls(conn) if busy else begun.is_set()):
                assert time.monotonic() < until and not asking.done()
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            go_on.set()

    with ThreadPoolExecutor(1) as executor:
        asyncio.run(ask(executor))
    ((state, reason, cost, reserved),) = calls(conn, "state, reason, cost_usd, reserved_usd")
    assert (state, reason, cost) == ("failed", "interrupted", 0.0 if busy else reserved)
    assert balance(conn) == pytest.approx(1.0 - cost) and begun.is_set() is not busy


def wait_for(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < until
        time.sleep(0.05)
