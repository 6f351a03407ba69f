"""The statement: its arms against plain arithmetic, and what it leaves out."""

from __future__ import annotations

import math
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest

from reverie.policy import SIGNALS
from reverie.recall.question import read_question
from reverie.recall.result import Hit, Signals
from reverie.recall.search import (
    Search,
    StaleCacheError,
    checked_rows,
    near_enough,
    search,
    search_params,
    search_text,
    search_variants,
)
from reverie.store.queries import queries
from tests.recall.conftest import DIMENSIONS, LATER, MODEL, Corpus, day, policy_with

WORDS = (
    "tea",
    "trains",
    "rain",
    "bread",
    "garden",
    "chess",
    "music",
    "river",
    "walking",
    "walked",
    "walks",
    "the",
    "of",
)


def bm25(
    conn: psycopg.Connection[Any], texts: list[str], question: str, *, k1: float, b: float, figures: int | None = None
) -> list[float]:
    """BM25 of each text by the book, over Postgres's own stems; `figures`: texts that make the corpus figures."""

    def stems(text: str) -> Counter[str]:
        rows = conn.execute(
            "select lexeme, cardinality(positions) from unnest(to_tsvector('english', %s))", [text]
        ).fetchall()
        return Counter(dict(rows))

    documents = [stems(text) for text in texts]
    lengths = [document.total() for document in documents]
    counted = [length for length in lengths if length]
    number, average = len(counted), sum(counted) / len(counted)
    visible = documents[:figures]
    scores = []
    for document, length in zip(documents, lengths, strict=True):
        score = 0.0
        for stem in stems(question):
            having = sum(stem in other for other in visible)
            tf = document[stem]
            idf = math.log(1 + (number - having + 0.5) / (having + 0.5))
            score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))
        scores.append(score)
    return scores


@pytest.mark.parametrize("seed", range(3))
def test_words_are_weighed_by_bm25(corpus: Corpus, seed: int) -> None:
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, random.integers(1, 25))) for _ in range(40)]
    ids = [corpus.turn(text) if at % 3 else corpus.memory(text) for at, text in enumerate(texts)]
    for _ in range(5):
        question = " ".join(random.choice(WORDS, random.integers(1, 5)))
        k1, b = float(random.uniform(0.1, 2)), float(random.uniform(0, 1))
        policy = policy_with(weights={"lexical": 1.0}, ranked=60, bm25_k1=k1, bm25_b=b)
        found = corpus.search(question, policy=policy)
        expected = dict(zip(ids, bm25(corpus.conn, texts, question, k1=k1, b=b), strict=True))
        best = max(expected.values())
        given = {hit.id: hit.signals["lexical"].value for hit, _ in found if "lexical" in hit.ranks}
        assert given == pytest.approx({id_: score / best for id_, score in expected.items() if score > 0}, abs=1e-4)
        assert [hit.ranks["lexical"] for hit, _ in found if "lexical" in hit.ranks] == list(range(1, len(given) + 1))


def test_nearest_are_those_of_brute_force(corpus: Corpus) -> None:
    random = np.random.default_rng(7)
    parts = {}
    for number in range(60):
        vectors = random.standard_normal((random.integers(1, 4), DIMENSIONS))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        add = corpus.memory if number % 2 else corpus.turn
        parts[add("words", vectors=list(vectors))] = vectors.astype(np.float16).astype(np.float64)
    question = random.standard_normal(DIMENSIONS).astype(np.float32)
    question /= np.linalg.norm(question)
    policy = policy_with(weights={"similarity": 1.0}, candidates=200, ranked=60)
    found = corpus.search(vector=question, policy=policy)
    halves = question.astype(np.float16).astype(np.float64)
    expected = {id_: float((vectors @ halves).max()) for id_, vectors in parts.items()}
    assert {hit.id: hit.score for hit, _ in found} == pytest.approx(expected, abs=1e-5)
    places = [hit.ranks["dense"] for hit, _ in found]
    assert places == sorted(set(places)) and places[0] == 1, "the place of its nearest part"

    few = corpus.search(vector=question, policy=policy_with(weights={"similarity": 1.0}, candidates=5))
    nearest_parts = sorted(((p @ halves, id_) for id_, vectors in parts.items() for p in vectors), reverse=True)[:5]
    assert {hit.id for hit, _ in few} == {id_ for _, id_ in nearest_parts}


def test_what_one_arm_found_has_the_signals_of_the_others(corpus: Corpus) -> None:
    axes = np.eye(DIMENSIONS)
    for _ in range(3):
        corpus.turn("near", vectors=[axes[0]])
    far = corpus.turn("quartz", vectors=[axes[0] * 0.5 + axes[1] * 0.8])
    found = corpus.search("quartz", vector=axes[0].astype(np.float32), policy=policy_with(candidates=2))
    hit = next(hit for hit, _ in found if hit.id == far)
    assert hit.ranks == {"lexical": 1}
    assert hit.signals["similarity"].value == pytest.approx(0.5, abs=1e-3)


def test_score_is_the_sum_of_what_the_signals_give(corpus: Corpus) -> None:
    asked = corpus.turn("where did you see the quartz?", speaker="Ann")
    corpus.turn("on the river", speaker="Ben", asked_by=asked)
    corpus.turn("quartz yesterday", speaker="Ben", role="assistant")
    corpus.memory("Saw quartz on the river")
    weights = {name: 0.1 * place for place, name in enumerate(SIGNALS, start=1)}
    policy = policy_with(weights=weights)
    question = read_question(
        "Where did Ben see quartz on 1 March 2026?", policy=policy.recall, speakers=("Ann", "Ben"), asked_at=LATER
    )
    assert question.mentioned == ("Ben",)
    found = corpus.search(question, vector=np.eye(DIMENSIONS)[0], policy=policy)
    assert len(found) == 4
    for hit, _ in found:
        assert hit.score == pytest.approx(sum(signal.contribution for signal in hit.signals.values()))
    answer = next(hit for hit, _ in found if hit.content == "Ben: on the river")
    assert answer.signals["answers"].value > 0
    assert answer.signals["speaker"].value == 1
    assert 0 < answer.signals["date"].value <= 1


def test_what_was_said_later_does_not_exist(corpus: Corpus) -> None:
    early = corpus.turn("quartz", at=day(1))
    corpus.turn("quartz", at=day(3))
    corpus.memory("quartz and more", at=day(3))
    for as_of, expected in ((day(0), set()), (day(1), {early}), (day(2), {early})):
        found = corpus.search("quartz", vector=np.eye(DIMENSIONS)[0], as_of=as_of)
        assert {hit.id for hit, _ in found} == expected
    assert len(corpus.search("quartz", as_of=day(3) + timedelta(milliseconds=1))) == 3


@pytest.mark.parametrize("date", ["4 June 1983", "4 June 2060"])
def test_a_date_far_away_is_near_to_nothing(corpus: Corpus, date: str) -> None:
    corpus.turn("quartz", at=day(1))
    policy = policy_with(weights={"date": 1.0, "lexical": 1.0})
    ((hit, _),) = corpus.search(f"Is the quartz of {date}?", policy=policy)
    assert hit.signals["date"].value == 0


def test_reasons_to_drop(corpus: Corpus) -> None:
    kept = corpus.memory("quartz kept", importance=0.5)
    faded = corpus.memory("quartz faded", importance=0.05)
    expired = corpus.memory("quartz expired", expires_at=day(10))
    said = corpus.turn("quartz said")
    reasons = {hit.id: reason for hit, reason in corpus.search("quartz", policy=policy_with(min_importance=0.1))}
    assert reasons == {kept: None, faded: "importance", expired: "expired", said: None}
    # ours recalls what has faded until it is forgotten
    assert {hit.id: reason for hit, reason in corpus.search("quartz")}[faded] is None
    assert corpus.search("quartz")[0][1] is None, "what is dropped comes last"
    assert {hit.id: why for hit, why in corpus.search("quartz", as_of=day(9))}[expired] is None


def test_compressed_and_merged_are_hidden_unless_asked_for(corpus: Corpus) -> None:
    active = corpus.memory("quartz active")
    compressed = corpus.memory("quartz compressed", state="compressed")
    vector = np.eye(DIMENSIONS)[0]
    assert {hit.id for hit, _ in corpus.search("quartz", vector=vector)} == {active}
    shown = {hit.id for hit, _ in corpus.search("quartz", vector=vector, include_compressed=True)}
    assert shown == {active, compressed}


def test_only_the_kinds_asked_for(corpus: Corpus) -> None:
    corpus.turn("quartz")
    ids = {kind: corpus.memory(f"quartz {kind}", kind=kind) for kind in ("fact", "preference", "episode")}
    for _ in range(70):  # more than the candidates of an arm, and better ones
        corpus.turn("quartz quartz", vectors=[np.eye(DIMENSIONS)[0]])
    for kinds in (["fact"], ["fact", "episode"], ["summary"]):
        found = corpus.search("quartz", vector=np.eye(DIMENSIONS)[0], kinds=kinds)
        assert {hit.id for hit, _ in found} == {ids[kind] for kind in kinds if kind in ids}
    turns = policy_with(items=("turn",))
    assert corpus.search("quartz", policy=turns, kinds=["fact"]) == []
    assert {hit.item for hit, _ in corpus.search("quartz", policy=turns)} == {"turn"}
    assert {hit.item for hit, _ in corpus.search("quartz", policy=policy_with(items=("memory",)))} == {"memory"}


def test_parts_left_out_change_nothing(corpus: Corpus) -> None:
    """A question without filters and dates is asked in fewer words; the whole statement answers the same."""
    random = np.random.default_rng(3)
    for number in range(30):
        add = corpus.memory if number % 3 else corpus.turn
        add(" ".join(random.choice(WORDS, 6)), session=f"s{number % 4}", vectors=list(np.eye(DIMENSIONS)[:2]))
    corpus.memory("tea and trains", state="compressed")
    subject = {"tenant": corpus.tenant, "subject": corpus.subject}
    known = corpus.conn.execute(queries("recall")["read_subject"], subject).fetchone()
    question = read_question("walks and tea", policy=policy_with().recall, speakers=(), asked_at=LATER)
    wanted = Search(
        tenant_id=corpus.tenant, subject_id=corpus.subject, question=question, vector=np.eye(DIMENSIONS)[1],
        model=MODEL, as_of=LATER, cached=known,
    )  # fmt: skip
    params = search_params(wanted, policy_with())
    assert params is not None
    whole = search_variants()["embedded", "filtered", "dated", "", "", "cached"]
    rated = search_variants()["embedded", "filtered", "dated", "rated", "", "cached"]
    sure = {name: value for name, value in params.items() if name != "speakers"}
    short, dated = search_text(sure), search_text(sure | {"since": [day(0)]})
    assert len(short) < len(dated) < len(whole)
    short_rows, dated_rows, rows = (corpus.conn.execute(text, params).fetchall() for text in (short, dated, whole))
    assert len(rows) == 30, "the last columns: date, and whether what is cached holds"
    assert short_rows == [row[:-1] for row in dated_rows] == [row[:-2] for row in checked_rows(rows)]
    rated_rows = corpus.conn.execute(rated, params).fetchall()
    assert [(*row[:28], *row[-2:]) for row in rated_rows] == rows, "what weighs nothing changes no score"
    unembedded = params | {"vector": None, "model": None}
    words = search_text(unembedded)
    assert "halfvec" not in words
    words_rows = corpus.conn.execute(words, unembedded).fetchall()
    whole_rows = corpus.conn.execute(whole, unembedded).fetchall()
    assert words_rows and [row[:-1] for row in words_rows] == [row[:-2] for row in whole_rows]
    with pytest.raises(StaleCacheError):
        checked_rows(corpus.conn.execute(words, unembedded | {"embedded_by": "another"}).fetchall())


def test_entities_lead_to_memories(corpus: Corpus) -> None:
    walked = corpus.memory("Walked along the shore", vectors=[np.eye(DIMENSIONS)[3]])
    corpus.conn.execute(
        "insert into memory.entities (tenant_id, id, subject_id, type, slug, label, terms, first_seen_at)"
        " values ('acme', ops.entity_id('acme', 'ann', 'pet:bruno'), 'ann', 'pet', 'bruno', 'Bruno', '{bruno}', %s)",
        [day(0)],
    )
    corpus.conn.execute(
        "insert into memory.links (tenant_id, memory_id, entity_id, subject_id, run_id)"
        " values ('acme', %s, ops.entity_id('acme', 'ann', 'pet:bruno'), 'ann', %s)",
        [walked, walked],
    )
    ((hit, reason),) = corpus.search("What of Bruno?")
    assert (hit.id, reason, hit.ranks) == (walked, None, {"entity": 1})
    assert corpus.search("What of Rex?") == []


def test_speakers_are_no_search_words(corpus: Corpus) -> None:
    corpus.turn("Ann Ann Ann", speaker="Ann")
    quartz = corpus.turn("quartz", speaker="Ben")
    assert [hit.id for hit, _ in corpus.search("What quartz has Ann?")] == [quartz]
    (hit,) = (hit for hit, _ in corpus.search("Ann?"))
    assert hit.content == "Ann: Ann Ann Ann", "unless there is nothing else"


def test_another_tenant_is_out_of_reach(conn: psycopg.Connection[Any]) -> None:
    ours, theirs = Corpus(conn, "acme"), Corpus(conn, "other")
    ours.turn("quartz")
    theirs.turn("quartz")
    theirs.memory("quartz")
    vector = np.eye(DIMENSIONS)[0]
    assert len(ours.search("quartz", vector=vector)) == 1
    with conn.transaction():
        conn.execute("set local role reverie_reader")
        conn.execute("select set_config('reverie.tenant', 'acme', true)")
        question = read_question("quartz", policy=policy_with().recall, speakers=(), asked_at=LATER)
        wanted = Search(
            tenant_id="other", subject_id="ann", question=question, vector=vector, model="words", as_of=LATER
        )
        found = search(conn, wanted, policy_with())
    assert found == []


def test_a_message_has_its_own_weights_and_finds_what_stands(corpus: Corpus) -> None:
    axes = np.eye(DIMENSIONS)
    for _ in range(5):
        corpus.turn("We talked about dinner and all that", vectors=[axes[0]])
    dislikes = corpus.memory("Dislikes spicy food", kind="preference", vectors=[axes[0] * 0.7 + axes[1] * 0.7])
    likes = corpus.memory("Went to dinner", kind="episode", vectors=[axes[0] * 0.7 + axes[1] * 0.7])
    weights = {"message": {"similarity": 1.0, "standing": 0.5}}
    few = {"candidates": 2, "query_weights": weights}
    message = "I am cooking dinner for us tonight."
    found = corpus.search(message, vector=axes[0], policy=policy_with(standing=3, **few))
    assert found[0][0].id == dislikes
    assert likes not in {hit.id for hit, _ in found}, "only what stands is always a candidate"
    assert set(found[0][0].signals) == {"similarity", "standing"}
    without = corpus.search(message, vector=axes[0], policy=policy_with(standing=0, **few))
    assert dislikes not in {hit.id for hit, _ in without}
    asked = corpus.search("What did we cook?", vector=axes[0], policy=policy_with(standing=3, **few))
    assert dislikes not in {hit.id for hit, _ in asked}
    kinds = corpus.search(message, vector=axes[0], policy=policy_with(standing=3, **few), kinds=["episode"])
    assert {hit.id for hit, _ in kinds} == {likes}
    words = corpus.search(message, policy=policy_with(query_weights=weights))
    assert words, "without a vector a message is searched by its words"


def test_a_turn_of_the_assistant_must_be_nearer() -> None:
    def found(number: int, similarity: float, assistant: float) -> tuple[Hit, str | None]:
        signals = Signals((similarity, assistant), {"similarity": 0, "assistant": 1}, {})
        return Hit("turn", UUID(int=number), "turn", "x", LATER, 0.0, signals, {}, None, None, None), None

    rows = [found(1, 0.3, 0.0), found(2, 0.3, 1.0), found(3, 0.4, 1.0), found(4, 0.1, 0.0)]
    assert [reason for _, reason in near_enough(rows, 0.2, least_of_assistant=0.35)] == [
        None,
        "similarity",
        None,
        "similarity",
    ]
    assert [reason for _, reason in near_enough(rows, 0.2)] == [None, None, None, "similarity"]
    assert [reason for _, reason in near_enough(rows, -1.0)] == [None] * 4
