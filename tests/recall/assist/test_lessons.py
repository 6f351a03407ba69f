"""What other sessions taught: decisions with outcomes, corrections, rules; nothing of the running session alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from reverie.capture.append import insert_outcomes, insert_turns
from reverie.inference import Embedder
from reverie.model import Outcome, Scope
from reverie.policy import load_policy
from reverie.recall.assist.lessons import Lessons, find_lessons
from reverie.recall.query import RecallQuery
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.recall.assist.conftest import NOW, START, bring, turns_of


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


def test_a_sensitive_message_is_not_told_with_the_decision_on_it(worker: Store, embedder: Embedder) -> None:
    message, decision, *_ = turns_of("acme", "nora")
    message = replace(message, text="We are out of clay for the nativity figures of our church.")
    decision = replace(decision, text="I ordered clay from Leran.", tool_calls=())
    outcome = Outcome(
        tenant_id="acme", subject_id="nora", session_id="s1", source_id=decision.source_id, metric="served", value=1.0,
        positive=True, observed_at=START + timedelta(days=2),
    )  # fmt: skip
    with worker.transaction("acme") as conn:
        ensure_tenant(conn, "acme", "reverie")
        insert_turns(conn, "acme", [message, decision])
        insert_outcomes(conn, "acme", [outcome])
    bring(
        Work(store=worker, scope=Scope(tenant_id="acme"), policy=load_policy("reverie"), as_of=NOW, embedder=embedder)
    )

    def situations(asked: str) -> list[str | None]:
        return [one.situation for one in lessons(worker, embedder, asked).lessons if "Leran" in one.content]

    assert situations("We have no more clay, should I order some?") == [None]
    assert situations("The church group has no more clay, should I order some?") == [message.text]
