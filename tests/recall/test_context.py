"""A context from the database: what it is made of, what it says is missing, what the log keeps of it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import psycopg
import pytest

from reverie.errors import InferenceError, InputError
from reverie.inference import Embedder, Vectors
from reverie.policy import load_policy, shipped_policies
from reverie.recall.contexts.context import Context, assemble_context, context_entries
from reverie.recall.contexts.request import Given, Message
from reverie.recall.facts import load_facts
from reverie.recall.profile import load_profile, profile_statements
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.staged import StagedRecall, staged_recall
from reverie.store.database import Store
from reverie.store.entries import write_entries
from reverie.store.session import perform
from tests.asking import asking
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day, policy_with

AXES = np.eye(8, dtype=np.float32)


class BrokenEmbedder(FixedEmbedder):
    def encode(self, texts: Any) -> Vectors:
        raise InferenceError("The server is away.")


class NoEmbedder(FixedEmbedder):
    def encode(self, texts: Any) -> Vectors:
        raise AssertionError("nothing is to be embedded")


def know(corpus: Corpus, key: str, value: str, **given: Any) -> UUID:
    """A structured fact of the corpus's subject."""
    corpus.number += 1
    id_ = uuid5(UUID(int=0), f"{corpus.tenant} {corpus.subject} {corpus.number}")
    until = given.get("until")
    corpus.conn.execute(
        "insert into memory.structured_facts (tenant_id, id, subject_id, category, key, value, confidence, importance,"
        " valid_from, valid_to, replaced_by, memory_id, origin, run_id, policy_hash)"
        " values (%s, %s, %s, %s, %s, %s, 1, %s, %s, %s, %s, %s, 'r', %s, 'p')",
        [corpus.tenant, id_, corpus.subject, given.get("category", "identity"), key, value,
         given.get("importance", 0.8), given.get("since", day(0)), until, UUID(int=9) if until else None, id_, id_],
    )  # fmt: skip
    return id_


def near(distance: float) -> Any:
    """A vector at a cosine distance from what FixedEmbedder makes of everything."""
    return (1 - distance) * AXES[0] + np.sqrt(1 - (1 - distance) ** 2) * AXES[1]


def assemble(store: Store, policy: str = "reverie", question: str | None = "quartz", **given: Any) -> Context:
    common: dict[str, Any] = {"subject_id": "ann", "as_of": LATER, "embedder": FixedEmbedder()}
    query, others = asking(question, **(common | given))
    return perform(assemble_context(store.session("acme"), query, policy=load_policy(policy), **others))


def recall_in_stages(store: Store, question: str | None = "quartz", **given: Any) -> StagedRecall:
    common: dict[str, Any] = {"subject_id": "ann", "as_of": LATER, "embedder": FixedEmbedder()}
    query, others = asking(question, **(common | given))
    return perform(staged_recall(store.session("acme"), query, policy=load_policy("chat"), **others))


def test_stage_one_is_exact_and_as_of_a_time(corpus: Corpus, reader: Store) -> None:
    """Chat flow 3, stage 1: active, importance of .5 or more, most important first."""
    know(corpus, "language", "Python", importance=0.6)
    know(corpus, "name", "Al", until=day(5), importance=0.9)
    know(corpus, "name", "Alex", since=day(5), importance=0.9)
    know(corpus, "mood", "curious", importance=0.4)
    know(Corpus(corpus.conn, subject="bob"), "name", "Bob")
    know(Corpus(corpus.conn, tenant="other"), "name", "Eve")
    found = recall_in_stages(reader)
    assert [(one.key, one.value) for one in found.facts] == [("name", "Alex"), ("language", "Python")]
    assert [one.value for one in recall_in_stages(reader, as_of=day(1)).facts] == ["Al", "Python"]
    assert found.text == "## User Profile\n- name: Alex\n- language: Python"
    facts = perform(load_facts(reader.session("acme"), subject_id="ann", as_of=LATER, history=True))
    assert [fact.value for fact in facts] == ["Python", "curious", "Al", "Alex"]


def test_an_end_after_the_time_is_not_told(corpus: Corpus, reader: Store) -> None:
    know(corpus, "name", "Al", until=day(5))
    session = reader.session("acme")
    for at, end in ((day(1), (None, None)), (day(5), (day(5), UUID(int=9)))):
        (fact,) = perform(load_facts(session, subject_id="ann", as_of=at, history=True))
        assert (fact.valid_to, fact.replaced_by) == end


def test_stage_two_is_the_three_nearest_summaries_under_the_distance(corpus: Corpus, reader: Store) -> None:
    for number in range(5):
        corpus.turn("said", session="s7", at=day(number))
    for distance in (0.39, 0.1, 0.41, 0.3, 0.2):
        corpus.memory(f"at {distance}", kind="summary", vectors=[near(distance)])
    corpus.memory("not a summary", vectors=[near(0.0)])
    corpus.memory("said later", kind="summary", vectors=[near(0.0)], at=LATER + timedelta(days=1))
    corpus.memory("merged", kind="summary", vectors=[near(0.0)], state="merged")
    corpus.conn.execute(
        "update memory.memories set session_id = 's7', turn_start = 2, turn_end = 6 where content = 'at 0.1'"
    )
    found = recall_in_stages(reader)
    assert [one.content for one in found.summaries] == ["at 0.1", "at 0.2", "at 0.3"]
    assert [round(one.distance, 2) for one in found.summaries] == [0.1, 0.2, 0.3]
    first, last = found.summaries[0].first_turn, found.summaries[0].last_turn
    assert (first, last) == (2, 6)
    assert found.text.splitlines()[:2] == ["## Recent Context", "- turns 2-6: at 0.1"]
    assert found.notes == ("Nothing is known of ann by key.",)
    assert found.near_misses == ()


def test_near_misses_are_told(corpus: Corpus, reader: Store) -> None:
    missed = corpus.memory("at 0.43", kind="summary", vectors=[near(0.43)])
    found = recall_in_stages(reader)
    assert (found.summaries, [one.id for one in found.near_misses]) == ((), [missed])
    assert "at a distance of 0.43 and the policy's limit is 0.40: no summary is given." in found.notes[0]
    assert "at 0.43" not in found.text


@pytest.mark.parametrize(
    ("question", "embedder", "note"),
    [
        (None, NoEmbedder(), "Nothing was asked"),
        ("quartz", None, "No embedding model is configured"),
        ("quartz", BrokenEmbedder(), "The embedding model gave no answer (The server is away)"),
    ],
)
def test_stage_one_answers_alone(
    corpus: Corpus, reader: Store, question: str | None, embedder: Embedder | None, note: str
) -> None:
    know(corpus, "name", "Alex")
    corpus.memory("near", kind="summary")
    found = recall_in_stages(reader, question, embedder=embedder)
    assert ([one.value for one in found.facts], found.summaries) == (["Alex"], ())
    assert [said.startswith(note) for said in found.notes] == [True]


def test_a_profile_is_facts_what_happened_lately_and_the_relationship(corpus: Corpus, reader: Store) -> None:
    know(corpus, "name", "Alex")
    corpus.turn("hello", at=day(0))
    for number in range(7):
        corpus.memory(f"happened {number}", kind="episode", at=day(number))
    corpus.memory("likes it", kind="preference", at=day(8))
    corpus.memory("gone", kind="episode", at=day(9), state="compressed")
    session, policy = reader.session("acme"), load_policy("reverie")
    found = perform(load_profile(session, subject_id="ann", policy=policy, as_of=day(5.5)))
    assert [one.content for one in found.recent] == [f"happened {number}" for number in (5, 4, 3, 2, 1)]
    assert [one.value for one in found.facts] == ["Alex"]
    assert (found.relationship.sessions, found.relationship.days) == (1, 6)
    assert found.preferences == (), "it was said later"
    later = perform(load_profile(session, subject_id="ann", policy=policy, as_of=LATER))
    assert [one.content for one in later.preferences] == ["likes it"]
    for confidence, agreed, told in ((0.4, None, ["likes it"]), (0.3, None, []), (0.3, 0.9, ["likes it"])):
        sure = [confidence, agreed]
        corpus.conn.execute("update memory.memories set confidence = %s, agreed = %s where content = 'likes it'", sure)
        surely = perform(load_profile(session, subject_id="ann", policy=policy, as_of=LATER))
        assert [one.content for one in surely.preferences] == told
    corpus.conn.execute("update memory.memories set confidence = null, agreed = null")
    corpus.conn.execute("update memory.memories set valid_to = %s where content = 'likes it'", [day(8.5)])
    assert perform(load_profile(session, subject_id="ann", policy=policy, as_of=LATER)).preferences == ()
    nobody = perform(load_profile(session, subject_id="no", policy=policy, as_of=LATER))
    assert (nobody.facts, nobody.recent, nobody.relationship.stage) == ((), (), "new")


def test_summaries_of_the_session_stand_for_its_older_turns(
    corpus: Corpus, reader: Store, conn: psycopg.Connection[Any]
) -> None:
    said = [f"I rode the red bicycle to Utrecht on day {n}.{' And more.' * 200}" for n in range(1, 41)]
    turns = [corpus.turn(text, session="s7", at=day(n / 100)) for n, text in enumerate(said)]
    told: list[UUID] = []
    for first, state in ((1, "active"), (11, "active"), (21, "compressed")):
        told.append(corpus.memory(f"Of bicycles, {first}.", kind="summary", state=state))
        conn.execute(
            "update memory.memories set session_id = 's7', turn_start = %s, turn_end = %s where id = %s",
            [first, first + 9, told[-1]],
        )
        with conn.cursor() as cursor:
            cursor.executemany(
                "insert into memory.lineage values ('acme', %s, 'summarised', 'turn', %s, %s, %s)",
                [(told[-1], turn, LATER, UUID(int=0)) for turn in turns[first - 1 : first + 9]],
            )
    history = [Message(role="user", content=f" {text} ") for text in said[4:]]
    found = assemble(reader, given=Given(history=history, session_id="s7"))
    (section,) = (one for one in found.sections if one.name == "history")
    assert [line.label for line in section.lines][:3] == [
        "summary of turns 1-10", "summary of turns 11-20", "summary of older turns",
    ]  # fmt: skip
    assert "(earlier, turns 11-20) Of bicycles, 11." in found.text
    note = "Of the conversation, turns 1-10, turns 11-20 are given as their remembered summaries."
    assert note in found.notes
    perform(write_entries(reader.session("acme"), context_entries(found)))
    logged = conn.execute("select item_ids from log.contexts").fetchone()
    assert logged is not None and set(told[:2]) <= set(logged[0]) and told[2] not in logged[0]
    for other in (Given(history=history), Given(history=history, session_id="s8")):
        assert note not in assemble(reader, given=other).notes
    assert note not in assemble(reader, given=Given(history=history[-3:], session_id="s7")).notes


def test_a_context_and_what_the_log_keeps_of_it(corpus: Corpus, reader: Store, conn: psycopg.Connection[Any]) -> None:
    name = know(corpus, "name", "Alex")
    quartz = corpus.memory("Found quartz", kind="episode")
    given = Given(system="Be of use.", request_id="r-1", history=[Message(role="user", content="secret words")])
    found = assemble(reader, given=given)
    assert found.text.splitlines()[0] == "Be of use."
    assert "- name: Alex" in found.text and "Found quartz" in found.text
    assert found.recall is not None and [hit.id for hit in found.recall.hits] == [quartz]
    assert found.notes == ()
    table = {row["section"]: row for row in found.budget_table()}
    assert list(table) == [
        "system", "profile", "memories", "behavior", "service_data", "tools", "history", "buffer", "total",
    ]  # fmt: skip
    assert table["system"] == {"section": "system", "tokens": 3, "budget": 500, "items": 1, "dropped": 0}
    assert table["total"]["tokens"] == sum(row["tokens"] for name, row in table.items() if name != "total")
    for _ in range(2):
        perform(write_entries(reader.session("acme"), context_entries(found)))
    (row,) = conn.execute("select to_jsonb(c) from log.contexts c").fetchall()
    logged = row[0]
    assert (logged["id"], logged["request_id"], logged["form"], logged["stage"]) == (
        str(found.id),
        "r-1",
        "reverie",
        "new",
    )
    assert set(logged["item_ids"]) == {str(name), str(quartz)}
    assert logged["sections"][0] == {
        "name": "system",
        "tokens": 3,
        "budget": 500,
        "items": 1,
        "dropped": 0,
        "lines": [[]],
    }
    assert not any(word in str(logged) for word in ("quartz", "Alex", "secret", "Be of use"))
    assert conn.execute("select item_ids from log.recalls").fetchall() == [([quartz],)]


def test_what_did_not_fit_is_named(corpus: Corpus, reader: Store, conn: psycopg.Connection[Any]) -> None:
    small = load_policy("brain")
    small = small.model_copy(update={"context": small.context.model_copy(update={"memories": 20})})
    ids = {corpus.memory(f"quartz {'and more ' * 6}{n}", at=day(n)) for n in range(4)}
    assembled = assemble_context(
        reader.session("acme"),
        RecallQuery(text="quartz", subject_id="ann", as_of=LATER),
        policy=small,
        embedder=FixedEmbedder(),
    )
    found = perform(assembled)
    (memories,) = (one for one in found.sections if one.name == "memories")
    assert memories.tokens <= 20
    kept = {line.id for line in memories.lines}
    assert {one.id for one in found.dropped} == ids - kept and kept < ids
    perform(write_entries(reader.session("acme"), context_entries(found)))
    (row,) = conn.execute("select dropped_ids from log.contexts").fetchall()
    assert set(row[0]) == ids - kept


@pytest.mark.parametrize("name", shipped_policies())
@pytest.mark.parametrize("embedder", [None, BrokenEmbedder(), FixedEmbedder()])
def test_a_cold_start_answers_and_says_so(corpus: Corpus, reader: Store, name: str, embedder: Embedder | None) -> None:
    found = assemble(reader, name, embedder=embedder, subject_id="nobody")
    assert found.relationship.stage == "new"
    assert any("nobody" in note for note in found.notes)
    assert (found.text == "") == (name != "contact")
    if embedder is None:
        assert any("estimated" in note for note in found.notes)


@pytest.mark.parametrize("embedder", [None, BrokenEmbedder()])
def test_without_a_model_words_answer(corpus: Corpus, reader: Store, embedder: Embedder | None) -> None:
    corpus.memory("Found quartz")
    found = assemble(reader, embedder=embedder)
    assert "Found quartz" in found.text
    assert any("words and entities alone" in note for note in found.notes)


def test_without_a_question_the_most_important_stand_in(corpus: Corpus, reader: Store) -> None:
    for number in range(12):
        corpus.memory(f"memory {number:02}", importance=0.3 + number / 20, at=day(number / 10))
    corpus.memory("expired", importance=1.0, expires_at=day(2))
    found = assemble(reader, question=None, embedder=NoEmbedder(), as_of=day(3))
    (memories,) = (one for one in found.sections if one.name == "memories")
    assert [line.text[-9:] for line in memories.lines] == [f"memory {n:02}" for n in range(11, 1, -1)]
    assert found.recall is None
    assert "Nothing was asked: the most important memories are given." in found.notes


@pytest.mark.parametrize("question", [None, "quartz"])
@pytest.mark.parametrize("policy", ["agent", "brain", "logic", "reverie"])
def test_equal_episodes_have_one_line_that_names_them_all(
    corpus: Corpus, reader: Store, policy: str, question: str | None
) -> None:
    said = ["Quartz night!", "quartz night.", "Quartz night"]
    ids = {corpus.memory(text, kind="episode", at=day(number)) for number, text in enumerate(said)}
    found = assemble(reader, policy, question, as_of=day(4))
    lines = [line for one in found.sections if one.name in ("profile", "memories") for line in one.lines]
    told = [line for line in lines if "quartz night" in line.text.lower() and line.id is not None]
    assert told and all(set(line.ids) == ids for line in told)
    if policy == "reverie" and question is None:  # the profile tells it, among the recent ones
        assert len(told) == 1


def test_a_system_text_is_never_cut(corpus: Corpus, reader: Store) -> None:
    with pytest.raises(InputError, match="The system text has 501 tokens and its budget is 500"):
        assemble(reader, given=Given(system="word " * 501))


def test_another_tenant_s_memory_stays_its_own(corpus: Corpus, reader: Store) -> None:
    other = Corpus(corpus.conn, tenant="other")
    know(other, "name", "Eve")
    other.memory("Found quartz", kind="summary")
    other.turn("quartz")
    for name in shipped_policies():
        found = assemble(reader, name)
        assert not any(word in found.text for word in ("Eve", "quartz"))
        assert found.relationship.sessions == 0


def test_a_chat_models_own_tokenizer_counts(corpus: Corpus, reader: Store) -> None:
    found = assemble(reader, given=Given(system="My name is Alex.", model="gpt-4o"))
    assert (found.tokenizer, found.sections[0].tokens) == ("o200k_base", 5)
    found = assemble(reader, given=Given(model="someones/model"))
    assert "The tokenizer of someones/model is not here: tokens are those of words." in found.notes


def test_what_agents_learned_is_found_by_key_whatever_the_planner_expects(corpus: Corpus) -> None:
    """A plan made while lineage looked small once joined all of a tenant's lineage to all of its memories."""
    made = [corpus.memory(f"tea {number}") for number in range(300)]
    for id_ in made[:20]:
        corpus.conn.execute(
            "insert into memory.lineage values ('acme', %s, 'extracted', 'event', %s, %s, %s)", [id_, id_, LATER, id_]
        )
    corpus.conn.execute("analyze memory.lineage, memory.memories")
    (learned,) = (
        each
        for each in profile_statements("acme", "ann", load_policy("reverie"), LATER)
        if "lineage" in each.sql and "events" in each.sql
    )
    with corpus.conn.transaction():
        corpus.conn.execute("set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan")
        plan = "\n".join(row[0] for row in corpus.conn.execute(f"explain {learned.sql}", learned.params).fetchall())
    assert "Nested Loop" in plan and not re.search("(Merge|Hash) Join", plan)
    assert plan.count("using memories_pkey") == 2 and "using lineage_forward" in plan


def test_a_greeting_reminds_of_nothing_however_short(corpus: Corpus, reader: Store) -> None:
    corpus.memory("Good morning is what Ann says to her dog")
    found = assemble(reader, question="good morning!")
    assert "small talk" in " ".join(found.notes) and "dog" not in found.text


@pytest.mark.parametrize(
    "request_", ["What's 17*23?", "Write a haiku about rain", "translate good morning into French"]
)
def test_what_general_knowledge_answers_reminds_of_nothing(
    request_: str, sample_store: Store, embedder: Embedder
) -> None:
    query = RecallQuery(text=request_, subject_id="arjun", as_of=LATER)
    session = sample_store.session("demo")
    found = perform(assemble_context(session, query, policy=load_policy("reverie"), embedder=embedder))
    assert found.recall is not None and not found.recall.hits
    assert {one.reason for one in found.recall.dropped} >= {"general"}
    assert not [note for note in found.notes if note.startswith("Nothing that is remembered")], "one reason is enough"
    assert "General knowledge answers this" in " ".join(found.notes)
    (memories,) = (one for one in found.sections if one.name == "memories")
    assert not memories.lines
    assert any(one.name == "profile" and one.lines for one in found.sections)
    off = policy_with(general_probability=0.0)
    told = perform(assemble_context(session, query, policy=off, embedder=embedder))
    assert told.recall is not None and told.recall.hits
    assert perform(recall(session, query, policy=load_policy("reverie"), embedder=embedder)).hits, "a search answers"


@pytest.mark.parametrize("request_", ["What should I cook tonight?", "Recommend a book", "How is Arjun's knee?"])
def test_what_needs_the_person_still_gets_memories(request_: str, sample_store: Store, embedder: Embedder) -> None:
    query = RecallQuery(text=request_, subject_id="arjun", as_of=LATER)
    session = sample_store.session("demo")
    found = perform(assemble_context(session, query, policy=load_policy("reverie"), embedder=embedder))
    assert found.recall is not None and found.recall.hits
