"""What a context reads: memories as the relationship allows, and the moods that the log knows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

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


def feel(corpus: Corpus, mood: str, energy: str, at: float, *, own: bool = True, text: str = "quartz") -> None:
    turn = corpus.turn(text, at=day(at))
    corpus.conn.execute(
        "insert into log.moods (tenant_id, turn_id, subject_id, session_id, said_at, mood, energy, style, method)"
        " values (%s, %s, %s, 's1', %s, %s, %s, 'casual', 'keywords')",
        [corpus.tenant, turn, corpus.subject, day(at), mood, energy],
    )
    corpus.conn.execute(
        "insert into memory.moods (tenant_id, turn_id, subject_id, session_id, said_at, mood, energy, style, method,"
        " crisis, own, run_id) values (%s, %s, %s, 's1', %s, %s, %s, 'casual', 'keywords', false, %s, %s)",
        [corpus.tenant, turn, corpus.subject, day(at), mood, energy, own, UUID(int=1)],
    )


def test_the_log_knows_the_mood_and_the_usual_one(corpus: Corpus, reader: Store) -> None:
    for number in range(9):
        feel(corpus, "happy", "medium", number / 10)
    feel(corpus, "sad", "low", 1)
    feel(corpus, "angry", "high", 1.1, own=False)  # somebody else's
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


def test_a_deep_relationship_gets_two_thousand_tokens_of_memories(corpus: Corpus, reader: Store) -> None:
    """Contact 5.1 to 5.4."""
    for number in range(30):
        corpus.turn("hello", session=f"s{number}", at=LATER - timedelta(days=30 - number))
    told = " ".join(f"word{place}" for place in range(100))
    for number in range(30):
        corpus.memory(f"quartz {number} {told}", at=day(number / 10))
    found = assemble(reader, "contact")
    (memories,) = (one for one in found.sections if one.name == "memories")
    assert "Deep relationship (30 sessions over 31 days, active streak: 30)" in found.text
    assert memories.budget == 2000 and 1600 <= memories.tokens <= 2000
    dropped = [one for one in found.dropped if one.section == "memories" and one.reason == "budget"]
    assert len(memories.lines) <= 20 and len(memories.lines) + len(dropped) == 30


def write_alike(corpus: Corpus, words: int, *, formal: int, emoji: int, messages: int = 20) -> None:
    corpus.conn.execute(
        """insert into memory.signals (tenant_id, subject_id, counterpart, day, messages, received, sessions, begun,
             own_begun, words, questions, emoji, formal, happy, sad, anxious, excited, neutral, angry, frustrated,
             flirty, bored, grateful, high_energy, low_energy, crises, run_id)
           values (%s, %s, '', %s, %s, 0, 1, 1, 1, %s, 0, %s, %s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                   gen_random_uuid())""",
        [corpus.tenant, corpus.subject, LATER.date(), messages, words, emoji, formal],
    )


def test_who_only_received_messages_has_no_style(corpus: Corpus, reader: Store) -> None:
    write_alike(corpus, 0, formal=0, emoji=0, messages=0)
    assert "Write as they do" not in assemble(reader, "contact").text


def test_a_pasted_text_changes_no_style(corpus: Corpus, reader: Store) -> None:
    for number in range(12):
        text = "one of a thousand words " * 200 if number == 5 else "see you at eight"
        feel(corpus, "neutral", "medium", 299 + number / 100, text=text)
    write_alike(corpus, 1044, formal=0, emoji=0, messages=12)
    assert "- Write as they do: short messages (about 4 words)" in assemble(reader, "contact").text


def test_how_a_person_writes_and_hard_times(corpus: Corpus, reader: Store) -> None:
    for number in range(4):
        corpus.turn("hello", session=f"s{number}", at=LATER - timedelta(days=4 - number))
    assert "Write as they do" not in assemble(reader, "contact").text
    write_alike(corpus, 120, formal=2, emoji=8)
    opened = LATER - timedelta(days=2)
    corpus.conn.execute(
        """insert into memory.periods (tenant_id, subject_id, opened_at, turn_id, negatives, mood, run_id)
           values (%s, %s, %s, gen_random_uuid(), 3, 'sad', gen_random_uuid())""",
        [corpus.tenant, corpus.subject, opened],
    )
    text = assemble(reader, "contact", given=Given(mood="sad", energy="low")).text
    assert "- Write as they do: short messages (about 6 words), informal, with emoji\n" in text
    assert f"- Difficult period since {opened:%Y-%m-%d} (mostly sad)" in text
    assert "- Avoid in a difficult period: offers" in text
    # ours tells the same where a mood is known, and nothing without
    assert "Difficult period since" in assemble(reader, given=Given(mood="sad")).text
    assert "Difficult period" not in assemble(reader).text
    corpus.conn.execute("update memory.periods set closed_at = %s", [LATER - timedelta(days=1)])
    over = assemble(reader, "contact").text
    assert "Difficult period until" in over and "Avoid in a difficult period" not in over
    corpus.conn.execute("update memory.periods set opened_at = %s, closed_at = %s", [day(-90), day(-80)])
    assert "Difficult period" not in assemble(reader, "contact").text


def test_a_new_contact_is_asked_about_what_is_unknown(corpus: Corpus, reader: Store) -> None:
    corpus.turn("hello", at=LATER)
    asks = "- Ask discovery questions naturally ({})"
    assert asks.format("name, interests, pets, work") in assemble(reader, "contact").text
    corpus.conn.execute(
        "insert into memory.entities (tenant_id, id, subject_id, type, slug, label, terms, first_seen_at)"
        " values (%s, gen_random_uuid(), %s, 'pet', 'bruno', 'Bruno', '{bruno}', %s)",
        [corpus.tenant, corpus.subject, day(0)],
    )
    memory = corpus.memory("quartz works")
    corpus.conn.execute(
        "update memory.memories set relation = 'works_at', object = 'x', phase = 'holds' where id = %s", [memory]
    )
    assert asks.format("name, interests, home, family and friends") in assemble(reader, "contact").text


def test_what_is_remembered_of_a_reply_stands_with_the_question_and_with_a_doubt(corpus: Corpus, reader: Store) -> None:
    asked = corpus.turn("Three colours?", speaker="Bob", role="assistant", at=day(1))
    memory = corpus.memory("Ann: Natural colour only.", at=day(1.1), asked_by=asked)
    again = corpus.turn("Use what you like.", speaker="Ann", at=day(2))
    corpus.conn.execute("update memory.memories set doubted_by = %s, doubt = 0.5 where id = %s", [again, memory])
    words, doubt = "Ann: Natural colour only.", "(may be over; 2026-03-03: “Use what you like.”)"
    question = None
    for told in (f"Bob: Three colours? / {words} {doubt}", f"{words} {doubt}"):
        found = assemble(reader, "reverie", question, as_of=day(3))
        assert told in found.text and ("Three colours?" in found.text) == ("Three colours?" in told)
        corpus.conn.execute("update memory.items set asked_by = null where item_id = %s", [memory])


def test_what_the_profile_tells_is_not_told_again_unless_it_answers(corpus: Corpus, reader: Store) -> None:
    told = corpus.memory("Loves quartz", kind="preference", importance=0.9, at=day(1))
    corpus.memory("Found quartz by the lake", kind="fact", importance=0.5, at=day(2))
    found = {question: assemble(reader, "reverie", question, as_of=day(3)) for question in (None, "quartz")}
    ids = {
        question: [[line.id for line in one.lines] for one in context.sections if one.name in ("profile", "memories")]
        for question, context in found.items()
    }
    assert [told in section for section in ids[None]] == [True, False] and len(ids[None][1]) == 1
    assert [told in section for section in ids["quartz"]] == [True, True]


def test_a_reply_with_its_question_is_told_though_the_profile_tells_its_words(corpus: Corpus, reader: Store) -> None:
    asked = corpus.turn("Which colours?", speaker="Bob", role="assistant", at=day(1))
    corpus.memory("Natural ones only.", kind="preference", at=day(1.1), asked_by=asked)
    found = assemble(reader, "reverie", None, as_of=day(3)).text
    assert "- Natural ones only.\n" in found and "Bob: Which colours? / Natural ones only." in found
