"""The lines of a profile: facts in words, statements with their day, room by worth."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from reverie.policy import load_policy
from reverie.recall.contexts.profile_lines import in_words, profile_lines
from reverie.recall.facts import StructuredFact
from reverie.recall.profile import Profile, ProfileStatement, Recent, load_profile
from reverie.recall.relationship import Relationship
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus, day
from tests.recall.test_context import assemble, know

AT = datetime(2026, 4, 3, tzinfo=UTC)
POLICY = load_policy("reverie")


def fact(key: str, value: str, **given: Any) -> StructuredFact:
    nil = UUID(int=0)
    return StructuredFact(
        id=uuid4(), speaker="", category="identity", key=key, value=value, confidence=0.9, importance=0.7,
        valid_from=AT, valid_to=None, replaced_by=None, memory_id=nil, turn_id=nil, origin="reader", run_id=nil,
        policy_hash="", **given,
    )  # fmt: skip


def profile(**given: Any) -> Profile:
    stage = Relationship(stage="new", sessions=1, days=1, streak=1)
    return Profile(subject_id="ann", **({"facts": (), "recent": (), "relationship": stage} | given))


def statement(content: str, **given: Any) -> ProfileStatement:
    return ProfileStatement(
        **(
            {"id": uuid4(), "kind": "fact", "content": content, "happened_at": AT, "importance": 0.7, "polarity": 1}
            | given
        )
    )


def test_a_fact_is_told_in_the_words_of_its_memory() -> None:
    named = fact("birthday", "6 March", content="Nomvula's birthday is\n6 March")
    assert in_words(named) == "- Nomvula's birthday is 6 March"
    assert in_words(replace(named, content=None)) == "- birthday: 6 March", "its memory is forgotten"
    own = replace(named, origin="said", content="I'm off on Prozac since 6 March")
    assert in_words(own) == "- birthday: 6 March", "own words may say more"
    doubted = replace(named, doubt="Not March, sorry", doubted_at=AT)
    assert in_words(doubted) == "- Nomvula's birthday is 6 March (may be over; 2026-04-03: “Not March, sorry”)"


def test_facts_of_one_memory_are_one_line() -> None:
    job, place = (
        fact("job", "a nurse", content="Works as a nurse in Leeds"),
        fact("home", "Leeds", content="Works as a nurse in Leeds"),
    )
    (line,) = profile_lines(profile(facts=(job, place)), told=in_words)
    assert (line.text, line.ids) == ("- Works as a nurse in Leeds", (job.id, place.id))
    assert [one.text for one in profile_lines(profile(facts=(job, place)))] == ["- job: a nurse", "- home: Leeds"]


def test_statements_have_their_day_and_go_before_events() -> None:
    known = profile(
        facts=(fact("name", "Alex"),),
        preferences=(statement("Likes tea", kind="preference", importance=0.8),),
        statements=(statement("Lindiwe started Monday"),),
        recent=(Recent(id=uuid4(), kind="episode", content="Opened a cupboard", happened_at=AT),),
    )
    lines = profile_lines(known)
    told = ["- name: Alex", "- Likes tea", "- 2026-04-03: Lindiwe started Monday", "- 2026-04-03: Opened a cupboard"]
    assert [line.text for line in lines] == told
    assert [line.label for line in lines] == ["name", "preference", "fact", "episode"]
    assert [line.worth for line in lines] == sorted((line.worth for line in lines), reverse=True)


@pytest.fixture
def vuyo(corpus: Corpus) -> Corpus:
    """Six statements in own words; of a seventh there is a structured fact."""
    for number, words in enumerate(
        ("Not VAT registered", "Safeguard does my cylinders", "Open after six", "Off on Friday")
    ):
        corpus.memory(words, at=day(number))
    corpus.memory("Always sign as Vuyo", kind="instruction", at=day(4))
    corpus.memory("Nobody works Saturdays now", at=day(5))
    key = know(corpus, "home", "Durban")
    home = corpus.memory("Lives in Durban", at=day(6))
    corpus.conn.execute("update memory.structured_facts set memory_id = %s where id = %s", [home, key])
    corpus.conn.execute(
        "update memory.memories set lasting = true, relation = 'other', object = content, phase = 'holds', polarity = 1"
    )
    corpus.conn.execute("update memory.memories set lasting = false where content = 'Off on Friday'")
    corpus.conn.execute("update memory.memories set phase = 'ends' where content like 'Nobody%'")
    corpus.conn.execute("update memory.memories set valid_to = %s where content = 'Open after six'", [day(50)])
    return corpus


def told(reader: Store, at: datetime, **limits: Any) -> list[str]:
    policy = replace_profile(**limits) if limits else POLICY
    found = perform(load_profile(reader.session("acme"), subject_id="ann", policy=policy, as_of=at))
    return [one.content for one in found.statements]


def replace_profile(**limits: Any) -> Any:
    return POLICY.model_copy(update={"profile": POLICY.profile.model_copy(update=limits)})


def test_what_lasts_is_told_though_no_structured_fact_has_it(vuyo: Corpus, reader: Store) -> None:
    lasting = ["Always sign as Vuyo", "Safeguard does my cylinders", "Not VAT registered"]
    assert told(reader, LATER) == lasting, (
        "the latest first; what fades, ended, is an end or is a fact is not among them"
    )
    assert told(reader, day(20)) == [lasting[0], "Open after six", *lasting[1:]], "it had not ended then"
    assert told(reader, day(1.5)) == lasting[1:], "nothing that was said later"
    assert told(reader, LATER, statements=1) == lasting[:1]
    assert told(reader, LATER, statements=0) == []
    vuyo.conn.execute("update memory.memories set importance = 0.9 where content like 'Not VAT%'")
    assert told(reader, LATER)[0] == "Not VAT registered"
    text = assemble(reader, question="Hi!").text
    assert "- Lives in Durban\n" in text and "Not VAT registered" in text


def test_events_are_recent_for_some_days(corpus: Corpus, reader: Store) -> None:
    corpus.memory("Went home", kind="episode", at=day(1))
    corpus.memory("Opened a cupboard", kind="episode", at=day(40))
    corpus.memory("Often speaks of locks", kind="pattern", at=day(2))

    def recent(**limits: Any) -> list[str]:
        found = load_profile(reader.session("acme"), subject_id="ann", policy=replace_profile(**limits), as_of=day(60))
        return [one.content for one in perform(found).recent]

    assert recent(recent_days=30) == ["Opened a cupboard", "Often speaks of locks"]
    assert recent(recent_days=0) == ["Opened a cupboard", "Often speaks of locks", "Went home"]
