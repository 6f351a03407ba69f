"""Notes on a context: what was missing, each once."""

from __future__ import annotations

import pytest

from reverie.inference.tokens import token_counter
from reverie.recall.contexts.notes import context_notes
from reverie.recall.contexts.request import Given
from reverie.recall.relationship import Relationship
from tests.recall.test_forms import chosen, fact, material

COUNTER = token_counter(None, None)
TEA = chosen(("fact", "Drinks tea", 0.5))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"top_k": 5}, "Nothing was asked: the most important memories are given."),
        ({"top_k": 5, "question": "tea"}, "Nothing that is remembered of arjun fits."),
        ({"top_k": 0, "question": "tea", "relationship": Relationship(stage="new", sessions=1, days=1, streak=1)},
         "The relationship is new: no memories are given."),
        ({"top_k": 5, "question": "tea", "memories": TEA}, "Nothing is known of arjun by key."),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(parts: dict[str, object], said: str) -> None:
    assert said in context_notes(material("reverie", **parts), [], COUNTER)


def test_where_nothing_is_missing_nothing_is_said() -> None:
    full = material("reverie", top_k=5, question="tea", memories=TEA, facts=[fact("drink", "tea")])
    assert context_notes(full, [], COUNTER) == (COUNTER.note,)


def test_with_retrieval_off_only_that_is_said_and_once() -> None:
    off = material("reverie", given=Given(mode="off"), notes=("Retrieval is off.", "Retrieval is off."))
    assert context_notes(off, [], COUNTER) == ("Retrieval is off.",)
