"""A fact has its memory's topic and names the one it merged into; a context tells it once, a correction withholds."""

from __future__ import annotations

from uuid import UUID

import pytest

from reverie.capture.live.corrections import CorrectionAsked, correct_memory
from reverie.policy import load_policy
from reverie.recall.facts import load_facts
from reverie.recall.profile import load_profile
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus, day
from tests.recall.test_context import assemble, know

POLICY = load_policy("reverie")


@pytest.fixture
def merged(corpus: Corpus) -> tuple[UUID, UUID]:
    """The memory of a fact, and the one into which it was merged."""
    first = corpus.memory("Favorite food is biryani", kind="preference", at=day(1))
    last = corpus.memory("Favorite food is Biryani", kind="preference", at=day(2))
    key = know(corpus, "favorite_food", "biryani", category="preference")
    corpus.conn.execute("update memory.structured_facts set memory_id = %s where id = %s", [first, key])
    corpus.conn.execute("update memory.memories set state = 'merged', into_id = %s where id = %s", [last, first])
    return first, last


def test_a_fact_of_a_merged_memory_is_told_once(reader: Store, corpus: Corpus, merged: tuple[UUID, UUID]) -> None:
    first, last = merged
    session = reader.session("acme")
    (fact,) = perform(load_facts(session, subject_id="ann", as_of=LATER))
    assert (fact.value, fact.memory_id) == ("biryani", last)
    profile = perform(load_profile(session, subject_id="ann", policy=POLICY, as_of=LATER))
    assert profile.preferences == ()
    assert assemble(reader, question=None).text.lower().count("biryani") == 1

    corpus.conn.execute("update memory.memories set state = 'active', into_id = null where id = %s", [first])
    (apart,) = perform(load_facts(session, subject_id="ann", as_of=LATER))
    assert apart.memory_id == first, "they were taken apart again"


def test_a_correction_of_what_it_names_withholds_it(
    reader: Store, database_url: str, corpus: Corpus, merged: tuple[UUID, UUID]
) -> None:
    with Store.open(database_url, size=1) as store:
        wrong = CorrectionAsked(memory_id=merged[1], asked="wrong")
        perform(correct_memory(store.session("acme"), wrong, policy=POLICY, as_of=LATER))
    assert perform(load_facts(reader.session("acme"), subject_id="ann", as_of=LATER)) == []
    assert "biryani" not in assemble(reader, question=None).text.lower()


def test_it_has_the_topic_of_its_memory(reader: Store, corpus: Corpus) -> None:
    contact = corpus.memory("Accountant: Annick", at=day(1))
    key = know(corpus, "contact:annick", "Annick")
    corpus.conn.execute("update memory.structured_facts set memory_id = %s where id = %s", [contact, key])
    corpus.conn.execute("update memory.memories set topic = 'accountant' where id = %s", [contact])
    (fact,) = perform(load_facts(reader.session("acme"), subject_id="ann", as_of=LATER))
    assert (fact.topic, fact.name, fact.label) == ("accountant", "contact", "contact (accountant)")
    profile = perform(load_profile(reader.session("acme"), subject_id="ann", policy=POLICY, as_of=LATER))
    assert "Accountant: Annick" in profile.narrative(50)
