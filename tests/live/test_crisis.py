"""A message that sounds like a crisis: help in the same answer, and a flag where the policy asks for one."""

from __future__ import annotations

import pytest

from reverie.capture.live.acknowledge import TurnBatch, TurnReaders, append_turns
from reverie.inference import Embedder, load_embedder
from reverie.policy import load_policy
from reverie.store.session import perform
from tests.live.conftest import AT, Talk, count_tokens

#: No pattern knows this one.
HINT = "I feel like there's no place for me in this world"


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_embedder("minilm")


def say(talk: Talk, text: str, embedder: Embedder | None, **more: str):  # type: ignore[no-untyped-def]
    records = [{"role": "user", "text": text}]
    batch = TurnBatch(records=records, **talk.place, **more)
    readers = TurnReaders(count_tokens=count_tokens, embedder=embedder)
    session = talk.store.session(talk.tenant)
    (heard,) = perform(append_turns(session, batch, policy=talk.policy, as_of=AT, readers=readers)).turns
    return heard.crisis


@pytest.mark.parametrize("policy", ["reverie", "contact"])
def test_a_hint_is_heard_by_its_vector(talk: Talk, minilm: Embedder, policy: str) -> None:
    talk.policy = load_policy(policy)
    crisis = say(talk, HINT, minilm, country="IN")
    assert crisis is not None
    assert crisis.signs == ("vector",)
    assert crisis.review
    assert [line.country for line in crisis.help.helplines] == ["IN", None]


def test_without_an_embedder_plain_words_are_heard(talk: Talk) -> None:
    assert say(talk, HINT, None) is None
    assert say(talk, "I want to die", None) is not None


def test_a_policy_can_leave_the_vector_out(talk: Talk, minilm: Embedder) -> None:
    talk.policy = load_policy("brain")
    assert say(talk, HINT, minilm) is None
    crisis = say(talk, "I want to die", minilm)
    assert crisis is not None
    assert not crisis.review
