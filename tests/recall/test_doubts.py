"""What may be over is told as such, with the message: in a recall, in a context, by key and in an explanation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.policy import load_policy
from reverie.recall.browse import MemoryFilter, page_memories
from reverie.recall.contexts.context import assemble_context
from reverie.recall.contexts.request import Given
from reverie.recall.facts import load_facts
from reverie.recall.filters import Filters
from reverie.recall.profile import load_profile
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day
from tests.recall.test_context import know

POLICY = load_policy("reverie")
SAID = "Professional services 2,450 from the first of March."
TOLD = f"(may be over; 2026-03-04: “{SAID}”)"


@pytest.fixture
def doubted(corpus: Corpus) -> tuple[UUID, UUID]:
    """A memory and the message that may have ended it."""
    fee, turn = corpus.memory("Fee: 2,200", at=day(1)), corpus.turn(SAID, at=day(3))
    corpus.conn.execute("update memory.memories set doubted_by = %s, doubt = 0.62 where id = %s", [turn, fee])
    return fee, turn


def told(reader: Store, **given: Any) -> dict[UUID, str]:
    query = RecallQuery(subject_id="ann", **{"text": "What is the fee?", "as_of": LATER} | given)
    found = recall(reader.session("acme"), query, policy=POLICY, embedder=FixedEmbedder())
    return {hit.id: hit.told for hit in perform(found).hits if hit.item == "memory"}


def test_a_recall_tells_it(reader: Store, corpus: Corpus, doubted: tuple[UUID, UUID]) -> None:
    fee, turn = doubted
    assert told(reader) == {fee: f"Fee: 2,200 {TOLD}"}
    assert told(reader, as_of=day(2)) == {fee: "Fee: 2,200"}, "nobody had said it then"
    corpus.conn.execute(
        "insert into memory.marks (tenant_id, subject_id, item_id, item, mark, correction_id, pending)"
        " values ('acme', 'ann', %s, 'turn', 'forgotten', %s, false)",
        [turn, UUID(int=1)],
    )
    assert told(reader) == {fee: "Fee: 2,200"}, "the message is withheld"


def test_what_states_the_relation_asked_for_tells_it(reader: Store, corpus: Corpus) -> None:
    home, turn = corpus.memory("Lives in York", at=day(1)), corpus.turn("Boxes everywhere.", at=day(3))
    corpus.conn.execute(
        "update memory.memories set doubted_by = %s, doubt = 0.5, relation = 'lives_in', object = 'York',"
        " phase = 'holds', valid_from = happened_at where id = %s",
        [turn, home],
    )
    assert told(reader, text="Where do I live?") == {
        home: "Lives in York (may be over; 2026-03-04: “Boxes everywhere.”)"
    }


def test_a_context_tells_it(reader: Store, corpus: Corpus, doubted: tuple[UUID, UUID]) -> None:
    fee, turn = doubted
    key = know(corpus, "fee", "2,200")
    corpus.conn.execute("update memory.structured_facts set memory_id = %s where id = %s", [fee, key])
    likes = corpus.memory("Likes tea", kind="preference", at=day(1))
    corpus.conn.execute("update memory.memories set doubted_by = %s, doubt = 0.62 where id = %s", [turn, likes])
    session = reader.session("acme")
    (fact,) = perform(load_facts(session, subject_id="ann", as_of=LATER))
    assert (fact.value, fact.doubt, fact.doubted_at) == ("2,200", SAID, day(3))
    (before,) = perform(load_facts(session, subject_id="ann", as_of=day(2)))
    assert before.doubt is None
    profile = perform(load_profile(session, subject_id="ann", policy=POLICY, as_of=LATER))
    assert [one.doubt for one in profile.preferences] == [SAID]
    made = assemble_context(
        session,
        RecallQuery(text="What is the fee?", subject_id="ann", as_of=LATER),
        policy=POLICY,
        embedder=FixedEmbedder(),
        given=Given(),
    )
    text = perform(made).text
    assert f"Fee: 2,200 {TOLD}" in text and f"Likes tea {TOLD}" in text


def test_an_explanation_tells_it(
    corpus: Corpus, doubted: tuple[UUID, UUID], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fee, turn = doubted
    monkeypatch.setenv("DATABASE_URL", database_url)
    done = CliRunner().invoke(reverie, ["explain", str(fee), "--tenant", "acme"], env={"COLUMNS": "400"})
    assert done.exit_code == 0, done.output
    assert f"may be over by the message “{SAID}” (turn {turn}), with a chance of 0.62" in " ".join(done.output.split())
    corpus.conn.execute("update memory.memories set valid_from = %s, valid_to = %s", [day(1), day(5)])
    over = CliRunner().invoke(reverie, ["explain", str(fee), "--tenant", "acme"])
    assert "may be over" not in over.output


def test_lists_mark_it(
    reader: Store, corpus: Corpus, doubted: tuple[UUID, UUID], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    corpus.memory("Likes tea", kind="preference", at=day(1))
    wanted = MemoryFilter(kinds=("fact", "preference"))
    page = page_memories(reader.session("acme"), "ann", policy=POLICY, wanted=wanted, as_of=LATER, before=None, limit=9)
    assert {one.content: one.doubt_chance for one in perform(page)} == {
        "Fee: 2,200": pytest.approx(0.62),
        "Likes tea": None,
    }
    done = CliRunner().invoke(reverie, ["show", "ann", "--tenant", "acme"], env={"COLUMNS": "400"})
    assert done.exit_code == 0, done.output
    assert "[may be over] Fee: 2,200" in done.output and "[may be over] Likes" not in done.output
    corpus.conn.execute("update memory.memories set valid_from = %s, valid_to = %s", [day(1), day(5)])
    assert "may be over" not in CliRunner().invoke(reverie, ["show", "ann", "--tenant", "acme"]).output


def test_a_sensitive_message_is_not_brought_up_by_small_talk(reader: Store, corpus: Corpus) -> None:
    said = "I have left the church, I no longer believe in God."
    yoga, turn = corpus.memory("Goes to yoga on Mondays", at=day(1)), corpus.turn(said, at=day(3))
    likes = corpus.memory("Likes yoga", kind="preference", at=day(1))
    corpus.conn.execute("update memory.memories set doubted_by = %s, doubt = 0.6", [turn])

    def context(text: str) -> str:
        query = RecallQuery(text=text, subject_id="ann", as_of=LATER, is_spoken=True)
        found = assemble_context(reader.session("acme"), query, policy=POLICY, embedder=FixedEmbedder(), given=Given())
        return perform(found).text

    assert yoga != likes
    assert "may be over" not in context("I went to yoga on Monday, it was lovely.")
    assert context("I went to yoga, it does more for me than the church.").count("may be over") == 3


def test_with_filters_no_other_message_is_told(reader: Store, doubted: tuple[UUID, UUID]) -> None:
    fee, _ = doubted
    assert told(reader, filters=Filters(connections=("jira-1",))) == {fee: "Fee: 2,200"}
