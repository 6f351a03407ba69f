"""What other sessions taught: decisions with outcomes, corrections, rules; nothing of the running session alone."""

from __future__ import annotations

from reverie.inference import Embedder
from reverie.policy import load_policy
from reverie.recall.assist.lessons import Lessons, find_lessons
from reverie.recall.query import RecallQuery
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.assist.conftest import NOW


def lessons(store: Store, embedder: Embedder | None, message: str, session_id: str | None = "now") -> Lessons:
    query = RecallQuery(text=message, subject_id="nora", as_of=NOW)
    policy = load_policy("reverie")
    return perform(find_lessons(store.session("acme"), query, session_id=session_id, policy=policy, embedder=embedder))


def test_decisions_come_with_what_came_of_them(nora: Store, embedder: Embedder) -> None:
    found = lessons(nora, embedder, "We're almost out of clay again.").lessons
    decided = {each.kind: each for each in found if each.outcomes}
    assert "Leran" in decided["worked"].content and "Keramo" in decided["failed"].content
    assert decided["worked"].situation == "We have no more clay."
    assert (decided["worked"].sessions, decided["worked"].outcomes[0]["value"]) == (["s5"], 1.0)
    assert decided["worked"].turn_id in decided["worked"].sources and len(decided["worked"].sources) == 2


def test_what_a_person_put_right_is_a_lesson(nora: Store, embedder: Embedder) -> None:
    (found,) = [
        each for each in lessons(nora, embedder, "Who is my accountant?").lessons if "Lisa Berg" in each.content
    ]
    assert (found.kind, found.memory_id is not None) == ("corrected", True)
    assert not any("Sven" in each.content for each in lessons(nora, embedder, "Who is my accountant?").lessons)


def test_a_rule_of_another_session_is_offered_and_not_in_its_own(nora: Store, embedder: Embedder) -> None:
    message = "Write a letter to all members about the new opening times."
    (rule,) = [each for each in lessons(nora, embedder, message).lessons if "Swedish" in each.content]
    assert (rule.kind, rule.sessions) == ("rule", ["s8"])
    assert not any("Swedish" in each.content for each in lessons(nora, embedder, message, session_id="s8").lessons)


def test_small_talk_and_a_missing_model_give_none(nora: Store, embedder: Embedder) -> None:
    assert lessons(nora, embedder, "Hello, how are you?").lessons == ()
    found = lessons(nora, None, "We're out of clay.")
    assert (found.lessons, found.recall) == ((), None) and "No embedding model" in found.notes[0]
