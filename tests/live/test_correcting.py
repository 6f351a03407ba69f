"""A correction of a sentence withholds all that was read in it, at once and for good; other sentences stay."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from reverie.capture.live.corrections import Asked, CorrectionAsked, correct_memory, retract_correction
from reverie.drive.drain import Drainer
from reverie.drive.flush import flush_turns_of
from reverie.recall.browse import MemoryFilter, page_memories
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.store.session import perform
from reverie.testing import WordEmbedder
from tests.live.conftest import TENANT, Talk, after, count_tokens
from tests.promises.test_corrected_at_once import wipe
from tests.promises.world import consolidate

LATE = timedelta(days=2)


def work_in(talk: Talk, minutes: float) -> None:
    Drainer(store=talk.store, embedder=WordEmbedder(), clock=lambda: datetime.now(UTC)).drain(as_of=after(minutes))


def acknowledged(talk: Talk, text: str) -> UUID:
    """Say it; return the memory that the acknowledgement names last, once it can be corrected."""
    memory = talk.say(text).turns[0].noticed.candidates[-1].id
    found = flush_turns_of(
        talk.store, memory, tenant_id=TENANT, policy=talk.policy, as_of=after(1), count_tokens=count_tokens
    )
    assert found
    return found


def correct(talk: Talk, memory: UUID, asked: Asked, content: str | None = None, *, minutes: float = 2) -> None:
    wanted = CorrectionAsked(memory_id=memory, asked=asked, content=content)
    perform(correct_memory(talk.store.session(TENANT), wanted, policy=talk.policy, as_of=after(minutes)))


def listed(talk: Talk, at: datetime) -> set[str]:
    wanted = MemoryFilter(kinds=("fact", "preference", "instruction", "episode"))
    session = talk.store.session(TENANT)
    page = page_memories(session, talk.subject, policy=talk.policy, wanted=wanted, as_of=at, before=None, limit=50)
    return {memory.content for memory in perform(page)}


def recalled(talk: Talk, question: str, at: datetime, *, embed: bool = True) -> list[str]:
    embedder = WordEmbedder() if embed else None
    query = RecallQuery(text=question, subject_id=talk.subject, as_of=at)
    found = recall(talk.store.session(TENANT), query, policy=talk.policy, embedder=embedder)
    return [hit.content for hit in perform(found).hits]


SAID = [
    ("My dog is called Bruno.", "Bruno", "What is my dog called?"),
    ("We moved to Kobe last spring.", "Kobe", "Where do we live?"),
    ("I broke my leg in Oslo and my sister Ruth drove me to Bergen.", "Ruth", "What did Ruth do?"),
]


@pytest.mark.parametrize("is_listed", [False, True])
@pytest.mark.parametrize(("text", "word", "question"), SAID)
def test_a_forgotten_sentence_does_not_come_back(
    talk: Talk, database_url: str, text: str, word: str, question: str, *, is_listed: bool
) -> None:
    memory = acknowledged(talk, text)
    if is_listed:
        work_in(talk, 1.5)
        assert any(word in content for content in listed(talk, after(1.6)))
    correct(talk, memory, "forget")

    def assert_gone(at: datetime) -> None:
        told = [*listed(talk, at), *recalled(talk, question, at), *recalled(talk, text, at)]
        assert not any(word in content for content in told), told

    assert_gone(after(3))
    work_in(talk, 4)
    assert_gone(after(5))
    consolidate(talk.store, TENANT, talk.policy, after(5) + LATE)
    assert_gone(after(5) + LATE)
    gone = talk.rows("select memory_id from memory.tombstones order by memory_id")
    assert len(gone) > 1
    wipe(database_url)
    consolidate(talk.store, TENANT, talk.policy, after(5) + LATE)
    assert_gone(after(5) + LATE)
    assert talk.rows("select memory_id from memory.tombstones order by memory_id") == gone


def test_it_all_returns_when_that_is_taken_back(talk: Talk) -> None:
    memory = acknowledged(talk, "My dog is called Bruno.")
    work_in(talk, 1.5)
    before = listed(talk, after(1.6))
    correct(talk, memory, "forget")
    work_in(talk, 3)
    assert (len(before), listed(talk, after(4))) == (2, set())
    perform(retract_correction(talk.store.session(TENANT), memory_id=memory, policy=talk.policy, as_of=after(5)))
    work_in(talk, 6)
    assert listed(talk, after(7)) == before


def test_it_stays_withheld_while_the_memory_is_made_again(talk: Talk) -> None:
    """An undo of something else empties the subject's memory; what is read again waits for the correction."""
    memory = acknowledged(talk, "My dog is called Bruno.")
    other = acknowledged(replace(talk, session="s2"), "My cat is called Biscuit.")
    work_in(talk, 1.5)
    correct(talk, memory, "forget")
    correct(talk, other, "wrong", minutes=2.5)
    work_in(talk, 3)
    perform(retract_correction(talk.store.session(TENANT), memory_id=other, policy=talk.policy, as_of=after(5)))
    withheld = "select item_id from memory.marks where item = 'memory' and mark = 'forgotten'"
    assert talk.rows(withheld) == []
    work_in(talk, 6)
    assert listed(talk, after(7)) == {"My cat is called Biscuit.", "Has a cat named Biscuit"}


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("My cat is called Biscuit. I work at Zoho.", "Works at Zoho"),
        ("I work at Zoho. My cat is called Biscuit.", "Works at Zoho"),
        ("I like tea. Yesterday I bought tea and cried.", "tea"),
    ],
)
def test_other_sentences_of_the_turn_stay(talk: Talk, text: str, stays: str) -> None:
    memory = acknowledged(talk, text)
    correct(talk, memory, "forget")
    work_in(talk, 3)
    left = listed(talk, after(4))
    assert not any("Biscuit" in content or "cried" in content for content in left)
    assert any(stays in content for content in left), left


def test_a_statement_forgotten_alone_leaves_the_others_of_its_sentence(talk: Talk) -> None:
    acknowledged(talk, "I live in Bergen and my dog is called Rex.")
    work_in(talk, 1.5)
    ((memory,),) = talk.rows("select id from memory.memories where content = 'Has a dog named Rex'")
    correct(talk, memory, "forget")
    work_in(talk, 3)
    assert listed(talk, after(4)) == {"Lives in Bergen"}


@pytest.mark.parametrize("embed", [True, False])
def test_a_replacement_of_what_was_just_said_is_recalled_at_once(talk: Talk, *, embed: bool) -> None:
    memory = acknowledged(talk, "My cat is called Biscuit.")
    talk.say("Is it?", "Yes.", at=after(1.5))
    right = "My cat is called Cookie."
    correct(talk, memory, "replace", right)
    for question in ("What is my cat called?", "Who is Cookie?", "Biscuit"):
        assert right in (found := recalled(talk, question, after(3), embed=embed))
        assert not any("Biscuit" in content for content in found)
    assert recalled(talk, "What is my cat called?", after(1.9), embed=embed) == []
    work_in(talk, 4)
    assert listed(talk, after(5)) == {right}
    assert recalled(talk, "What is my cat called?", after(5), embed=embed)[0] == right
