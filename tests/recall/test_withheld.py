"""A message brings up nothing sensitive by a detour: a question, a replacement, a successor, the profile."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from reverie.policy import load_policy
from reverie.recall.contexts.context import assemble_context
from reverie.recall.contexts.request import Given
from reverie.recall.contexts.scope import without_withheld
from reverie.recall.facts import load_facts
from reverie.recall.filters import Filters
from reverie.recall.profile import Profile
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.relationship import Relationship
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import DIMENSIONS, LATER, Corpus, FixedEmbedder, day
from tests.recall.test_calendar import DENTIST
from tests.recall.test_context import know
from tests.recall.test_filters import turn

AXES = np.eye(DIMENSIONS, dtype=np.float32)
#: Near enough to be recalled, and too far to be brought up if it is sensitive.
DISTANT = [0.3 * AXES[0] + np.sqrt(1 - 0.3**2) * AXES[1]]
PLAIN = "Quiet weekend, the kids and I just stayed in and read."
ABOUT_IT = "Quiet weekend, the kids and I went to church and read."


def recalled(reader: Store, text: str, **given: Any) -> dict[UUID, str]:
    options: dict[str, Any] = {"as_of": LATER, "is_spoken": True} | given
    query = RecallQuery(text=text, subject_id="ann", **options)
    found = recall(reader.session("acme"), query, policy=load_policy("reverie"), embedder=FixedEmbedder())
    return {hit.id: hit.told for hit in perform(found).hits}


def context(reader: Store, text: str, **given: Any) -> str:
    query = RecallQuery(text=text, subject_id="ann", as_of=LATER)
    made = assemble_context(
        reader.session("acme"), query, policy=load_policy("reverie"), embedder=FixedEmbedder(), given=Given(**given)
    )
    return perform(made).text


def correct(corpus: Corpus, memory: UUID, content: str, at: datetime) -> UUID:
    """A person's replacement of a memory, not worked in yet."""
    id_ = UUID(int=at.toordinal())
    corpus.conn.execute(
        "insert into memory.marks (tenant_id, subject_id, item_id, item, mark, correction_id, pending)"
        " values ('acme', 'ann', %s, 'memory', 'replaced', %s, true)", [memory, id_],
    )  # fmt: skip
    corpus.conn.execute(
        "insert into memory.replacements (tenant_id, id, subject_id, correction_id, kind, content, importance,"
        " happened_at) values ('acme', %s, 'ann', %s, 'fact', %s, 0.7, %s)", [id_, id_, content, at],
    )  # fmt: skip
    return id_


def test_a_sensitive_question_is_not_told_with_its_reply(corpus: Corpus, reader: Store) -> None:
    asked = corpus.turn("Do you still go to church?", speaker="Bo", role="assistant", vectors=[AXES[2]])
    said = "Yes, with the kids every weekend, and we stay for lunch."
    reply = corpus.turn(said, speaker="Ana", asked_by=asked)
    assert recalled(reader, PLAIN) == {reply: f"Ana: {said}"}
    assert recalled(reader, ABOUT_IT)[reply] == f"Bo: Do you still go to church? / Ana: {said}"
    assert "stay for lunch" in context(reader, PLAIN) and "church" not in context(reader, PLAIN)


def test_with_filters_a_question_is_told_if_it_passes_too(corpus: Corpus, reader: Store) -> None:
    slack, mail = {"connection_id": "slack"}, {"connection_id": "gmail"}
    asked = turn(corpus, "Do you collect quartz?", metadata=slack, speaker="Bo", role="assistant")
    reply = turn(corpus, "Yes, two boxes", metadata=mail, speaker="Ana", asked_by=asked)

    def told(*connections: str) -> str:
        filters = Filters(connections=connections)
        return recalled(reader, "quartz", is_spoken=False, filters=filters)[reply]

    assert told("gmail") == "Ana: Yes, two boxes"
    assert told("gmail", "slack") == "Bo: Do you collect quartz? / Ana: Yes, two boxes"


def test_a_waiting_replacement_is_no_answer_to_small_talk(corpus: Corpus, reader: Store) -> None:
    new = correct(corpus, corpus.memory("Has a dog named Rex"), "Has a beagle named Max", day(5))
    assert recalled(reader, "Good morning!") == {}
    assert recalled(reader, "The dog and I went out early.") == {new: "Has a beagle named Max"}


def test_a_sensitive_replacement_is_not_brought_up(corpus: Corpus, reader: Store) -> None:
    new = correct(corpus, corpus.memory("Sings at school", vectors=DISTANT), "Sings at the church", day(5))
    assert recalled(reader, PLAIN) == {}
    assert recalled(reader, ABOUT_IT) == {new: "Sings at the church"}


def test_before_a_correction_nothing_tells_the_replacement(corpus: Corpus, reader: Store) -> None:
    wrong = corpus.memory("Has a dog named Rex", at=day(1))
    fact = know(corpus, "pet", "Rex", since=day(1))
    corpus.conn.execute("update memory.structured_facts set memory_id = %s where id = %s", [wrong, fact])
    new = correct(corpus, wrong, "Has a beagle named Max", day(5))

    def told(at: datetime) -> tuple[set[UUID], list[str]]:
        facts = perform(load_facts(reader.session("acme"), subject_id="ann", as_of=at))
        return {*recalled(reader, "dog", as_of=at, is_spoken=False)}, [one.value for one in facts]

    assert told(day(6)) == ({new}, ["Has a beagle named Max"])
    assert told(day(3)) == (set(), []), "what is wrong is withheld whatever the time"


def succeeded(corpus: Corpus, by: str, **given: Any) -> tuple[UUID, UUID]:
    """A turn whose statement ended, and the memory in force."""
    said = corpus.turn("I play the guitar with the kids at the weekend", at=day(1))
    old = corpus.memory("Plays the guitar", at=day(1), turn=said, state="superseded")
    new = corpus.memory(by, at=day(3), **given)
    corpus.conn.execute(
        "update memory.memories set valid_to = %s, superseded_by = %s where id = %s", [day(3), new, old]
    )
    corpus.conn.execute(
        "insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)"
        " values ('acme', %s, 'extracted', 'turn', %s, %s, %s)", [old, said, day(1), UUID(int=0)],
    )  # fmt: skip
    return said, new


@pytest.mark.parametrize("vector", [DISTANT[0], AXES[3]])
def test_a_sensitive_successor_is_not_added(corpus: Corpus, reader: Store, vector: Any) -> None:
    said, new = succeeded(corpus, "Plays the organ at the church", vectors=[vector])
    assert {*recalled(reader, PLAIN)} == {said}
    assert {*recalled(reader, ABOUT_IT)} == {said, new}
    assert {*recalled(reader, "What do I play?")} == {said, new}, "a question gets everything"


def test_a_successor_that_is_not_sensitive_is_added(corpus: Corpus, reader: Store) -> None:
    said, new = succeeded(corpus, "Plays the organ", vectors=[AXES[3]])
    assert {*recalled(reader, PLAIN)} == {said, new}


def test_the_profile_for_a_message_has_nothing_sensitive(corpus: Corpus, reader: Store) -> None:
    corpus.memory("Loves the choir of the church", kind="preference", vectors=[AXES[3]])
    corpus.memory("Loves the garden", kind="preference", vectors=[AXES[3]])
    corpus.memory("Went fishing at the lake", kind="episode", at=day(290), vectors=[AXES[3]])
    corpus.memory("Went to church with the neighbours", kind="episode", at=day(291), vectors=[AXES[3]])
    text = context(reader, PLAIN, mood="sad")
    assert "church" not in text and "Loves the garden" in text
    assert "Recent context: Went fishing at the lake" in text
    for asked in (ABOUT_IT, "What do I love?", ""):
        text = context(reader, asked, mood="sad")
        assert "Loves the choir" in text and "Recent context: Went to church" in text, asked


def test_events_to_come_are_left_out_too() -> None:
    exam = replace(DENTIST, title="Exam")
    known = Profile(
        subject_id="ana", facts=(), recent=(), relationship=Relationship(stage="new", sessions=0, days=0, streak=0),
        as_of=datetime(2026, 3, 15, tzinfo=UTC), upcoming=(DENTIST, exam),
    )  # fmt: skip
    assert without_withheld(known, lambda texts: [text == "Exam" for text in texts]).upcoming == (exam,)
