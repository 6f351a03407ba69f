"""A language model that answers late: its claims bring back nothing that a person has corrected or erased meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from reverie.capture.live.corrections import Asked, CorrectionAsked, correct_memory
from reverie.consolidate.extract.stage import extract
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import turn_target
from reverie.inference.completions import CallError, Completion
from reverie.inference.prompts import Messages
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.work import Work
from tests.consolidate.test_compress import TENANT, say
from tests.models.conftest import Conn
from tests.models.test_extract_language_model import BERGEN, START, note, reply, work_in
from tests.promises.notetaker import NoteTaker
from tests.promises.world import WordEmbedder

POLICY = load_policy("reverie")
CATS = note("Has two cats", "with two cats")


class Late(NoteTaker):
    """Does not answer until it has a reply; while it works, something else may happen."""

    def __init__(self, text: str | None = None, meanwhile: Callable[[], Any] = lambda: None) -> None:
        self._text, self._meanwhile = text, meanwhile

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        self._meanwhile()
        if self._text is None:
            raise CallError("The model is away.", reason="unexplained")
        return Completion(text=self._text, truncated=False, tokens_in=9, tokens_out=9, cost_usd=0.0, seconds=0.0)


def read(store: Store, model: Late, days: float = 1) -> Any:
    as_of = START + timedelta(days=days)
    embedder, scope = WordEmbedder(), Scope(tenant_id=TENANT)
    work = Work(store=store, scope=scope, policy=POLICY, as_of=as_of, embedder=embedder, language_model=model)
    return extract(work)


def correct(store: Store, conn: Conn, asked: Asked, content: str | None = None) -> None:
    rows = conn.execute("select id from memory.memories where relation = 'lives_in'").fetchall()
    ((memory_id,),) = rows
    correction = CorrectionAsked(memory_id=memory_id, asked=asked, content=content)
    perform(correct_memory(store.session(TENANT), correction, policy=POLICY, as_of=START + timedelta(days=2)))


@pytest.mark.parametrize(("asked", "content"), [("wrong", None), ("forget", None), ("replace", "Lives in Voss")])
def test_a_late_claim_does_not_bring_back_what_was_corrected(
    store: Store, conn: Conn, asked: Asked, content: str | None
) -> None:
    say(conn, "I live in Bergen with two cats.", START)
    say(conn, "I work with two cats around me.", START + timedelta(minutes=1))
    read(store, Late())
    work_in(store, 1)
    correct(store, conn, asked, content)
    work_in(store, 3)
    told = "select content from memory.memories where content like '%Bergen%'"
    assert conn.execute(told).fetchall() == []
    report = read(store, Late(reply(BERGEN, CATS)["content"]), days=3)
    assert (report["discarded_withheld"], report["noted"], report["waiting"]) == (2, 1, 0)
    work_in(store, 4)
    assert conn.execute(told).fetchall() == []
    assert conn.execute("select waits, model from memory.extractions").fetchall() == [(False, Late.key)] * 2


def test_a_correction_that_is_still_to_be_applied_forgets_the_late_claim(store: Store, conn: Conn) -> None:
    say(conn, "I live in Bergen with two cats.", START)
    read(store, Late())
    work_in(store, 1)
    late = Late(reply(BERGEN, CATS)["content"], lambda: correct(store, conn, "wrong"))
    assert read(store, late, days=3)["noted"] == 1, "as in a rebuild, other claims of the turn stay"
    work_in(store, 4)
    assert conn.execute("select content from memory.memories where model is not null").fetchall() == [("Has two cats",)]
    assert conn.execute("select from memory.memories where content like '%Bergen%'").fetchall() == []


def test_a_late_claim_has_no_words_of_a_turn_that_was_erased(store: Store, conn: Conn) -> None:
    first = say(conn, "My brother's name is Ravi.", START)
    say(conn, "He has just opened a bakery there, so proud.", START + timedelta(minutes=1))
    eraser = Eraser(store=store, tenant_id=TENANT, policy=POLICY, count_tokens=WordEmbedder().count_tokens, at=START)

    def erase_and_read_again() -> None:
        late._meanwhile = lambda: None
        eraser.erase(turn_target(first.id))
        read(store, Late())

    bakery = note("Has a brother Ravi who opened a bakery", "just opened a bakery")
    late = Late(reply(bakery)["content"], erase_and_read_again)
    read(store, late)
    assert conn.execute("select content from memory.memories where content like '%Ravi%'").fetchall() == []
    assert conn.execute("select waits, unread from memory.extractions").fetchall() == [(True, "unexplained")]
