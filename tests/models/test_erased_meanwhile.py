"""A reply to words that were erased while the model worked is used and paid for, but not kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from reverie.capture.append import insert_turns
from reverie.capture.live.mood_model import asking
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import subject_target
from reverie.inference.completions import Completion
from reverie.inference.prompts import Messages
from reverie.inference.tokens import token_counter
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.metering import Payer
from reverie.model import Scope, Turn
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.runs import run
from reverie.store.work import Work
from tests.models.conftest import PROMPT, Conn, Note, calls, inputs
from tests.promises.notetaker import NoteTaker

AT = datetime(2026, 5, 1, tzinfo=UTC)
POLICY = load_policy("reverie")
TURN = Turn(
    tenant_id="acme", subject_id="ana", session_id="s", source_id="1", role="user", speaker=None, said_at=AT,
    text="You stayed up with me.",
)  # fmt: skip


class Slow(NoteTaker):
    """While it works, something else happens."""

    def __init__(self, meanwhile: Callable[[], Any]) -> None:
        self._meanwhile = meanwhile

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        self._meanwhile()
        return super().complete(messages, schema=schema, max_tokens=max_tokens)


@pytest.fixture
def erase(store: Store) -> Callable[[], Any]:
    """Erase ana, who said something."""
    with store.transaction("acme") as own:
        insert_turns(own, "acme", [TURN])
    count = token_counter(None, None).count
    eraser = Eraser(store=store, tenant_id="acme", policy=POLICY, count_tokens=count, at=AT)
    return lambda: eraser.erase(subject_target("ana"))


def kept(conn: Conn) -> list[tuple[Any, ...]]:
    return conn.execute("select subject_id from ops.replies").fetchall()


def test_a_reply_that_comes_after_the_erasure_is_not_kept(store: Store, erase: Callable[[], Any], conn: Conn) -> None:
    caller = ModelCaller(store=store, payer=Payer(tenant_id="acme", stage="test"))
    (answer,) = ask(caller, Slow(erase), PROMPT, inputs("a"))
    assert answer.reply == Note(text="a", weight=0.5) and kept(conn) == []
    assert calls(conn, "state, subject_id") == [("done", None)], "paid for, by nobody's name"
    ask(caller, NoteTaker(), PROMPT, inputs("a"))
    assert kept(conn) == [("ana",)], "what is said again is new"


def test_nothing_is_kept_of_what_a_run_read_before_the_erasure(
    store: Store, erase: Callable[[], Any], conn: Conn
) -> None:
    work = Work(store=store, scope=Scope(tenant_id="acme"), policy=POLICY, as_of=AT, language_model=NoteTaker())
    with run(work, "extract") as attempt:
        shown = inputs("a")
        ask(ModelCaller.of_run(attempt), NoteTaker(), PROMPT, shown)
        assert kept(conn) == [("ana",)]
        erase()
        ask(ModelCaller.of_run(attempt), NoteTaker(), PROMPT, [*shown, *inputs("b")])
    assert kept(conn) == []


def test_a_late_mood_is_not_kept(store: Store, erase: Callable[[], Any], conn: Conn) -> None:
    for model, left in ((Slow(erase), []), (NoteTaker(), [("ana",)])):
        reply = asking(store, model)(TURN, time.monotonic() + 60, POLICY.mood)
        assert reply is not None and reply.mood == "grateful"
        assert kept(conn) == left
