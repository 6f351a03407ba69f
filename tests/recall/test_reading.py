"""What a context reads: memories as the relationship allows, and the moods that the log knows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from reverie.policy import load_policy
from reverie.recall.contexts.context import Context, assemble_context
from reverie.recall.contexts.request import Given
from reverie.store.database import Store
from reverie.store.session import perform
from tests.asking import asking
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day


def assemble(store: Store, policy: str = "reverie", question: str | None = "quartz", **given: Any) -> Context:
    common: dict[str, Any] = {"subject_id": "ann", "as_of": LATER, "embedder": FixedEmbedder()}
    query, others = asking(question, **(common | given))
    return perform(assemble_context(store.session("acme"), query, policy=load_policy(policy), **others))


@pytest.mark.parametrize(("sessions", "most"), [(1, 0), (3, 8), (15, 15), (40, 20)])
def test_memories_by_the_stage_of_the_relationship(corpus: Corpus, reader: Store, sessions: int, most: int) -> None:
    for number in range(sessions):
        corpus.turn("hello", session=f"s{number}", at=LATER - timedelta(days=sessions - number))
    for number in range(30):
        corpus.memory(f"quartz {number}", at=day(number / 10))
    found = assemble(reader, "contact")
    (memories,) = (one for one in found.sections if one.name == "memories")
    assert len(memories.lines) == most
    assert memories.budget == {0: 0, 8: 500, 15: 1200, 20: 2000}[most]
    assert any("no memories are given" in note for note in found.notes) == (most == 0)


def feel(corpus: Corpus, mood: str, energy: str, at: float) -> None:
    turn = corpus.turn("quartz", at=day(at))
    corpus.conn.execute(
        "insert into log.moods (tenant_id, turn_id, subject_id, session_id, said_at, mood, energy, style, method)"
        " values (%s, %s, %s, 's1', %s, %s, %s, 'casual', 'keywords')",
        [corpus.tenant, turn, corpus.subject, day(at), mood, energy],
    )


def test_the_log_knows_the_mood_and_the_usual_one(corpus: Corpus, reader: Store) -> None:
    for number in range(9):
        feel(corpus, "happy", "medium", number / 10)
    feel(corpus, "sad", "low", 1)
    found = assemble(reader, "contact", as_of=day(1.5))
    assert "- Current mood: sad (energy: low)\n- This is unusual: normally happy and medium-energy" in found.text
    assert "ADAPTATION:" in found.text
    # nine messages tell nothing of what is usual, and yesterday's mood is not today's
    assert "unusual" not in assemble(reader, "contact", as_of=day(0.9)).text
    stale = assemble(reader, "contact", as_of=day(2.1))
    assert "Current mood" not in stale.text
    assert "No mood is known: the emotional context is left out." in stale.notes
    given = Given(mood="bored", energy="low", usual_mood="bored", usual_energy="low")
    told = assemble(reader, "contact", as_of=day(1.5), given=given).text
    assert "Current mood: bored" in told and "unusual" not in told


def test_memories_are_found_with_the_query_s_own_filters(corpus: Corpus, reader: Store) -> None:
    corpus.memory("quartz as a fact")
    corpus.memory("quartz as an episode", kind="episode")
    text = assemble(reader, kinds=["episode"]).text
    assert "quartz as an episode" in text and "quartz as a fact" not in text
