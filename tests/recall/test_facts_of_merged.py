"""A fact whose memory was merged into another names that one, and a context tells it once."""

from __future__ import annotations

from reverie.policy import load_policy
from reverie.recall.facts import load_facts
from reverie.recall.profile import load_profile
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus, day
from tests.recall.test_context import assemble, know


def test_a_fact_of_a_merged_memory_is_told_once(reader: Store, corpus: Corpus) -> None:
    first = corpus.memory("Favorite food is biryani", kind="preference", at=day(1))
    last = corpus.memory("Favorite food is Biryani", kind="preference", at=day(2))
    key = know(corpus, "favorite_food", "biryani", category="preference")
    corpus.conn.execute("update memory.structured_facts set memory_id = %s where id = %s", [first, key])
    corpus.conn.execute("update memory.memories set state = 'merged', into_id = %s where id = %s", [last, first])

    session = reader.session("acme")
    (fact,) = perform(load_facts(session, subject_id="ann", as_of=LATER))
    assert (fact.value, fact.memory_id) == ("biryani", last)
    profile = perform(load_profile(session, subject_id="ann", policy=load_policy("reverie"), as_of=LATER))
    assert profile.preferences == ()
    assert assemble(reader, question=None).text.lower().count("biryani") == 1

    corpus.conn.execute("update memory.memories set state = 'active', into_id = null where id = %s", [first])
    (apart,) = perform(load_facts(session, subject_id="ann", as_of=LATER))
    assert apart.memory_id == first, "they were taken apart again"
