"""How a message feels, whom a person in a crisis can turn to, and what a new candidate repeats."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.capture.live.acknowledge import TurnBatch, TurnReaders, append_turns
from reverie.consolidate.embed.stage import embed
from reverie.consolidate.merge.stage import merge
from reverie.errors import InferenceError
from reverie.inference import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.recall.contexts.context import assemble_context
from reverie.store.session import perform
from reverie.store.work import Work
from tests.asking import asking
from tests.live.conftest import TENANT, Talk, after, count_tokens
from tests.promises.world import WordEmbedder, lively


def moods(told) -> list[tuple[str, str] | None]:  # type: ignore[no-untyped-def]
    return [heard.mood and (heard.mood.mood, heard.mood.method) for heard in told.turns]


def test_the_previous_mood_is_the_sessions(talk: Talk) -> None:
    assert moods(talk.say("I'm so sad today.", "As I said.")) == [("sad", "keywords"), ("sad", "previous")]
    assert moods(talk.say("It rains.", at=after(1))) == [("sad", "previous")]
    assert moods(talk.send({"role": "assistant", "text": "I am sorry."}, at=after(2))) == [None]
    session = talk.read(after(2))
    assert session is not None
    assert (session.mood or {})["mood"] == "sad"
    talk.flush(after(9))
    assert talk.rows("select mood, method from log.moods order by said_at") == [
        ("sad", "keywords"), ("sad", "previous"), ("sad", "previous"),
    ]  # fmt: skip
    assert moods(talk.say("It still rains.", at=after(26 * 60))) == [("neutral", "keywords")]


def test_a_message_in_the_buffer_of_any_session_is_the_latest_mood(talk: Talk) -> None:
    happy, sad = {"role": "user", "text": "LOL, that is amazing!"}, {"role": "user", "text": "I'm so sad now."}
    talk.send(happy)
    talk.flush(after(60))
    other = replace(talk, session="s2")

    def told(minutes: float) -> str:
        query, others = asking("What should I do?", subject_id=talk.subject, as_of=after(minutes), embedder=None)
        session = talk.store.session(TENANT)
        return perform(assemble_context(session, query, policy=talk.policy, **others)).text

    assert "Current mood: happy" in told(61)
    other.send(sad | {"speaker": "Ana"}, {"role": "assistant", "text": "I'm sorry."}, at=after(62))
    assert "Current mood: happy" in told(61)  # as of before
    assert "Current mood: sad" in told(63)
    other.send(happy | {"speaker": "Ben"}, at=after(64))  # somebody else
    assert "Current mood: sad" in told(65)
    other.flush(after(180))
    assert "Current mood: happy" not in told(63)


def test_a_mood_is_its_authors(talk: Talk) -> None:
    def said(speaker: str, text: str) -> dict[str, str]:
        return {"role": "user", "speaker": speaker, "text": text}

    sad = said("Ben", "I'm so sad today.")
    assert moods(talk.send(sad, said("Ana", "It rains."), said("Ben", "As I said."))) == [
        ("sad", "keywords"), ("neutral", "keywords"), ("sad", "previous"),
    ]  # fmt: skip
    assert moods(talk.send(said("Ana", "It rains."), at=after(1))) == [("neutral", "keywords")]
    talk.send(sad, at=after(2))
    assert moods(talk.send(said("Ben", "It still rains."), at=after(3))) == [("sad", "previous")]
    session = talk.read(after(3))
    assert session is not None
    assert set(session.mood or {}) == {"mood", "energy", "style", "confidence", "method"}


def test_the_subject_is_one_author_by_name_or_without_a_speaker(talk: Talk) -> None:
    named = {"role": "user", "speaker": talk.subject.upper(), "text": "It rains."}
    sad, unnamed = named | {"text": "I'm so sad today."}, {"role": "user", "text": "As I said."}
    assert moods(talk.send(sad, unnamed)) == [("sad", "keywords"), ("sad", "previous")]
    assert moods(talk.send(named, at=after(1))) == [("sad", "previous")]
    assert moods(talk.send(unnamed, at=after(2))) == [("sad", "previous")]
    assert moods(talk.send(named | {"speaker": "Ben"}, at=after(3))) == [("neutral", "keywords")]


def test_a_rule_given_to_the_agent_is_no_anger(talk: Talk) -> None:
    """The classifier takes the first sentence for anger, and is not sure that the second is neutral."""
    talk.embedder = load_embedder("minilm")
    told = moods(talk.say("Never suggest meat recipes.", "remind me what I should not eat"))
    assert [mood and mood[0] for mood in told] == ["neutral", "neutral"]
    angry = moods(talk.say("I hate you, this is useless!", "remind me what I should not eat", at=after(1)))
    assert [mood and mood[0] for mood in angry] == ["angry", "neutral"]


def test_a_repeated_message_has_the_mood_it_had(talk: Talk) -> None:
    first = moods(talk.say("I'm so sad today.", source_id="1"))
    assert moods(talk.say("I'm so sad today.", source_id="1", at=after(1))) == first
    talk.flush(after(9))
    assert moods(talk.say("I'm so sad today.", source_id="1", at=after(10))) == first


def test_a_crisis_is_answered_and_flagged(talk: Talk) -> None:
    told = talk.say("I want to die.", "The weather is fine.")
    crisis = told.turns[0].crisis
    assert crisis is not None
    assert crisis.help.helplines
    assert told.turns[1].crisis is None
    flagged = talk.rows("select turn_id, reason, seen_at from ops.reviews")
    assert flagged == ([(told.turns[0].turn_id, "crisis", None)] if talk.policy.crisis.review else [])


def test_a_crisis_is_never_neutral_or_the_mood_before(talk: Talk) -> None:
    talk.embedder = load_embedder("minilm")
    first = talk.say("I want to kill myself")
    assert moods(first) == [("sad", "keywords")]
    assert first.turns[0].mood is not None
    assert first.turns[0].mood.energy == "low"
    assert moods(talk.say("haha I love this", "I want to end my life lol", at=after(1)))[1] == ("sad", "keywords")
    talk.embedder = None
    assert moods(talk.say("haha I love this", at=after(2))) == [("happy", "keywords")]
    assert moods(talk.say("I want to die", "As I said.", at=after(3))) == [("sad", "keywords"), ("sad", "previous")]


def test_review_is_the_policys_choice(talk: Talk) -> None:
    for review in (True, False):
        policy = talk.policy.model_copy(update={"crisis": talk.policy.crisis.model_copy(update={"review": review})})
        replace(talk, policy=policy, session=f"s{review}").say("I want to die.")
        assert len(talk.rows("select from ops.reviews")) == 1


class Failing(WordEmbedder):
    """A model that is out of order."""

    def encode(self, texts):  # type: ignore[no-untyped-def]
        raise InferenceError("no")


def test_what_repeats_a_recent_memory_is_said(talk: Talk) -> None:
    talk = replace(talk, policy=lively("contact"))
    embedder = WordEmbedder()

    def say(text: str, with_embedder: WordEmbedder = embedder, minute: float = 20):  # type: ignore[no-untyped-def]
        return talk.do(
            lambda session, **place: append_turns(
                session, TurnBatch(records=[{"role": "user", "text": text}], **place), policy=talk.policy,
                as_of=after(minute), readers=TurnReaders(count_tokens=count_tokens, embedder=with_embedder),
            )
        ).turns[0]  # fmt: skip

    assert say("I have a dog named Bruno.", minute=0).near == {}
    talk.flush(after(9))
    common = {"scope": Scope(tenant_id=TENANT), "policy": talk.policy, "as_of": after(10)}
    saved = embed(Work(store=talk.store, embedder=embedder, **common))["calls_saved"]  # type: ignore[arg-type]
    assert saved >= 1  # what was embedded inside the request is not embedded again
    merge(Work(store=talk.store, embedder=embedder, **common))  # type: ignore[arg-type]
    (memory,) = talk.rows("select id from memory.memories where kind = 'fact' and state = 'active'")
    again = say("I have a dog named Bruno!")
    (near,) = again.near.values()
    assert (near.memory_id, near.similarity) == (memory[0], pytest.approx(1, abs=1e-3))
    assert say("My sister lives in Pune.", minute=21).near == {}
    assert say("I have a dog named Bruno, I said.", Failing(), 22).near == {}
    off = talk.policy.model_copy(update={"merge": talk.policy.merge.model_copy(update={"recent": 0})})
    talk = replace(talk, policy=off)
    assert say("I have a dog named Bruno?!", minute=23).near == {}


def test_the_shipped_policies_say_where() -> None:
    wanted = {
        name: load_policy(name).merge.recent for name in ("brain", "agent", "logic", "contact", "chat", "reverie")
    }
    assert wanted == {"brain": 0, "agent": 0, "logic": 0, "contact": 20, "chat": 0, "reverie": 20}
