"""A recall from what is remembered answers as one that reads first, and notices what has changed since."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from reverie.errors import InferenceError
from reverie.policy import load_policy, shipped_policies
from reverie.recall.contexts.context import context
from reverie.recall.recall import recall
from reverie.recall.remembered import Remembered, recalling_at_once
from reverie.store.database import Store
from reverie.store.steps import Outside, Steps, perform
from tests.recall.conftest import LATER, Corpus


def counted(steps: Steps[Any], waits: list[int]) -> Steps[Any]:
    """The same steps, and how many times Postgres is waited for."""
    number, told = 0, None
    try:
        step = next(steps)
        while True:
            number += not isinstance(step, Outside)
            try:
                told = yield step
            except InferenceError as error:
                step = steps.throw(error)
            else:
                step = steps.send(told)
    except StopIteration as end:
        waits.append(number)
        return end.value


def test_it_answers_the_same_and_reads_again_what_has_changed(
    reader: Store, corpus: Corpus, conn: psycopg.Connection[Any]
) -> None:
    corpus.turn("I found quartz", speaker="Ann")
    corpus.turn("And I found jade", speaker="Ben")
    remembered, waits = Remembered(), list[int]()
    common: dict[str, Any] = {
        "tenant_id": "acme", "subject_id": "ann", "policy": load_policy("reverie"), "as_of": LATER, "embedder": None,
    }  # fmt: skip

    def ask() -> Any:
        found = perform(reader, "acme", counted(recalling_at_once("What did Ann find?", remembered, **common), waits))
        assert found == recall(reader, "What did Ann find?", **common)
        return found

    ask()
    ask()
    conn.execute("update memory.subjects set speakers = '{Cem,Dan}'")
    ask()
    ask()
    conn.execute("delete from memory.subjects")
    assert ask().notes[0] == "Nothing is remembered about ann."
    assert waits == [2, 1, 3, 1, 2]


@pytest.mark.parametrize("policy", shipped_policies())
def test_a_context_answers_the_same_and_reads_again_what_has_changed(
    reader: Store, corpus: Corpus, conn: psycopg.Connection[Any], policy: str
) -> None:
    corpus.turn("I found quartz", speaker="Ann")
    corpus.memory("Ben found jade", kind="summary")
    remembered, waits = Remembered(), list[int]()
    common: dict[str, Any] = {
        "tenant_id": "acme", "subject_id": "ann", "policy": load_policy(policy), "as_of": LATER, "embedder": None,
    }  # fmt: skip

    def ask() -> None:
        steps = context("What did Ann find?", **common, remembered=remembered)
        found = perform(reader, "acme", counted(steps, waits))
        assert found == perform(reader, "acme", context("What did Ann find?", **common))

    ask()
    ask()
    conn.execute("update memory.subjects set speakers = '{Cem,Dan}'")
    ask()
    conn.execute("delete from memory.subjects")
    ask()
    ask()
    expected = {"chat": [2] * 5, "contact": [1] * 5}
    assert waits == expected.get(policy, [2, 1, 2, 1, 1])


def test_a_model_that_fails_is_told_to_the_recall(reader: Store, corpus: Corpus) -> None:
    class Broken:
        model = "broken"
        price_per_token = 0.0

        def encode(self, texts: Any) -> Any:
            raise InferenceError("it is away")

        def count_tokens(self, text: str) -> int:
            return len(text.split())

    corpus.turn("I found quartz")
    remembered = Remembered()
    for _ in range(2):
        steps = recalling_at_once(
            "quartz", remembered, tenant_id="acme", subject_id="ann", policy=load_policy("reverie"), as_of=LATER,
            embedder=Broken(),  # type: ignore[arg-type]
        )  # fmt: skip
        found = perform(reader, "acme", steps)
        assert "it is away" in found.notes[0] and len(found.hits) == 1


@pytest.mark.parametrize("rows", [[], [(["Ann"], None)]])
def test_nothing_is_remembered_of_whom_nobody_knows(rows: list[Any]) -> None:
    remembered = Remembered()
    remembered.put("acme", "ann", rows)
    assert remembered.get("acme", "ann") == (rows or None)
    assert remembered.get("other", "ann") is None
