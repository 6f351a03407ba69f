"""Tools for a message: what served in like situations comes first, what served badly is named."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from reverie.inference import Embedder
from reverie.policy import load_policy
from reverie.policy.assist import ToolPolicy
from reverie.recall.assist.tools import ToolSuggestions, ToolUse, suggest_tools, weighed, weight_of_use
from reverie.recall.query import RecallQuery
from reverie.store.database import Store
from reverie.store.privacy.consents import ConsentChange, change_consent
from reverie.store.session import perform
from tests.recall.assist.conftest import NOW

NUMBERS = ToolPolicy()


def suggest(store: Store, embedder: Embedder | None, message: str, **given: Any) -> ToolSuggestions:
    query = RecallQuery(text=message, subject_id=given.pop("subject_id", "nora"), as_of=given.pop("as_of", NOW))
    return perform(
        suggest_tools(store.session("acme"), query, policy=load_policy("reverie"), embedder=embedder, **given)
    )


def test_what_served_is_suggested_and_what_did_harm_is_not(nora: Store, embedder: Embedder) -> None:
    found = suggest(nora, embedder, "What are the opening hours of the post office?")
    assert [each.tool for each in found.suggested] == ["maps"]
    (use,) = found.suggested[0].why
    assert (use.text, use.good, use.bad) == ("What are the opening hours of the mill on Saturdays?", 1, 0)
    assert len(use.call_ids) == 1 and use.call_ids != [use.turn_id]
    assert [each.tool for each in found.discouraged] == ["web_search"]


def test_a_turn_of_a_tool_is_a_use(nora: Store, embedder: Embedder) -> None:
    found = suggest(nora, embedder, "Tell Petra that we need ten baguettes on Tuesday.")
    assert [(each.tool, each.good + each.bad) for each in found.suggested] == [("mail", 0)]


def test_only_the_named_tools_and_earlier_uses_count(nora: Store, embedder: Embedder) -> None:
    message = "What are the opening hours of the post office?"
    assert not suggest(nora, embedder, message, tools=["mail"]).suggested
    early = suggest(nora, embedder, message, as_of=NOW - timedelta(days=59))
    assert (list(early.suggested), early.notes) == ([], ["No tool was used in a situation like this."])


@pytest.mark.parametrize(
    ("message", "note"), [("Good morning!", "small talk"), ("My back hurts when I sleep.", "No tool was used")]
)
def test_nothing_is_suggested_where_nothing_is_like_it(
    nora: Store, embedder: Embedder, message: str, note: str
) -> None:
    found = suggest(nora, embedder, message)
    assert not found.suggested and note in found.notes[0]


def test_without_a_model_or_a_subject_a_note_says_so(nora: Store, embedder: Embedder) -> None:
    assert "No embedding model" in suggest(nora, None, "When does it close?").notes[0]
    assert suggest(nora, embedder, "When does it close?", subject_id="nobody").notes == [
        "Nothing is remembered about nobody."
    ]


def test_a_refusal_is_obeyed(nora: Store, embedder: Embedder) -> None:
    session = nora.session("acme")
    change = ConsentChange(recall=False)
    perform(change_consent(session, "nora", change, at=NOW))
    try:
        found = suggest(nora, embedder, "What are the opening hours of the post office?")
        assert not found.suggested and "by consent" in found.notes[0]
    finally:
        perform(change_consent(session, "nora", ConsentChange(recall=True), at=NOW))


def use_of(tool: str, similarity: float, *, days: float = 1, good: int = 0, bad: int = 0) -> ToolUse:
    return ToolUse(
        tool=tool, turn_id=UUID(int=1), session_id="s", text="", speaker=None, said_at=NOW - timedelta(days=days),
        call_ids=[], similarity=similarity, good=good, bad=bad,
    )  # fmt: skip


def test_a_good_outcome_counts_more_than_none_and_a_bad_one_against() -> None:
    uses = [
        use_of("none", 0.8),
        use_of("good", 0.8, good=1),
        use_of("bad", 0.8, bad=1),
        use_of("both", 0.8, good=1, bad=1),
    ]
    found = weighed(uses, as_of=NOW, numbers=NUMBERS)
    assert [each.tool for each in found] == ["good", "none", "both", "bad"]
    assert found[2].score == 0 and found[3].score < 0


def test_a_use_weighs_half_after_its_half_life_and_nothing_when_unlike() -> None:
    late, early = use_of("a", 0.8, days=0), use_of("a", 0.8, days=NUMBERS.half_life_days)
    assert weight_of_use(early, as_of=NOW, numbers=NUMBERS) == pytest.approx(
        weight_of_use(late, as_of=NOW, numbers=NUMBERS) / 2
    )
    assert weight_of_use(use_of("a", NUMBERS.least_similarity), as_of=NOW, numbers=NUMBERS) == 0
