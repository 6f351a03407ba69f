"""A question that asks for a relation is answered by what states it, of whom it asks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import orjson
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.recall.places.asked import asked_first, asked_relations
from reverie.recall.query import RecallQuery
from reverie.recall.question import read_question
from reverie.recall.recall import recall
from reverie.recall.result import Hit
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.work import Work
from tests.conftest import Databases

POLICY = load_policy("reverie")
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
#: What people said, each history with distractors that share the question's words.
HISTORIES = {
    "job": (
        "Hi, I'm Ann, a paramedic in Leeds.",
        "Work was awful today.",
        "My friend wants a new job.",
        "A job well done!",
    ),
    "pets": (
        "I have a golden retriever named Bruno.",
        "My neighbour's pets escaped.",
        "Pets are expensive these days.",
    ),
    "diet": ("I'm vegetarian.", "My mom is vegan.", "This diet culture is annoying."),
    "lena": ("I am Lena and I live in Zurich.", "My friend Łukasz lives in Łódź.", "Ольга lives in Riga."),
    "home": ("My brother Omar lives in Cairo.", "I live in Madrid.", "Living with noise is hard."),
}


@pytest.fixture(scope="module")
def remembered(databases: Databases, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    turns = [
        {
            "subject_id": subject, "session_id": f"{subject}-{day}", "source_id": f"{subject}-{day}", "role": "user",
            "said_at": (START + timedelta(days=day)).isoformat(), "text": text,
        }
        for subject, texts in HISTORIES.items()
        for day, text in enumerate(texts)
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("asked") / "turns.jsonl"
    path.write_bytes(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
    with databases() as url, Store.open(url, size=1) as store:
        import_file(store, path, tenant_id="acme", policy="reverie")
        work = Work(store=store, scope=Scope(tenant_id="acme"), policy=POLICY, as_of=NOW, embedder=embedder)
        assert list(ingest(work))
        assert list(catch_up(work))
        yield store


def first(store: Store, embedder: Embedder, subject: str, question: str) -> str:
    asked = recall(
        store.session("acme"),
        RecallQuery(text=question, subject_id=subject, as_of=NOW),
        policy=POLICY,
        embedder=embedder,
    )
    return perform(asked).hits[0].content


def test_what_is_asked_for_stands_first(remembered: Store, embedder: Embedder) -> None:
    asked = {
        ("job", "What do I do for a living?"): "paramedic",
        ("job", "What's her profession?"): "paramedic",
        ("pets", "Do I have any pets?"): "Bruno",
        ("diet", "Is she vegetarian or vegan?"): "vegetarian",
        ("home", "Where do I live?"): "Madrid",
        ("home", "Where does my brother live?"): "Cairo",
        ("home", "Where does Omar live?"): "Cairo",
        ("lena", "Where does Łukasz live?"): "Łódź",
        ("lena", "Where does Ольга live?"): "Riga",
        ("lena", "Where do I live?"): "Zurich",
    }
    wrong = {key: found for key, said in asked.items() if said not in (found := first(remembered, embedder, *key))}
    assert wrong == {}


def test_a_question_for_all_that_is_known_gets_what_lasts_first(remembered: Store, embedder: Embedder) -> None:
    def told(question: str) -> list[tuple[str, str]]:
        asked = RecallQuery(text=question, subject_id="home", as_of=NOW)
        found = perform(recall(remembered.session("acme"), asked, policy=POLICY, embedder=embedder))
        return [(hit.kind, hit.content) for hit in found.hits]

    mine = told("What do you know about me?")
    assert "Madrid" in mine[0][1] and "Cairo" not in mine[0][1], "it is about me, not about my brother"
    assert "Cairo" in told("What do you know about Omar?")[0][1]


@pytest.mark.parametrize(
    ("question", "relations"),
    [
        ("What does he do for work?", {"works_as", "works_at"}),
        ("Where did he live before?", set()),
        ("I live for weekends and I love it", set()),
        ("How old is the dog now?", set()),
        ("What should I cook tonight?", set()),
        ("How should you write to me?", {"answer_in", "standing_rule"}),
        ("How do you write a haiku?", set()),
        ("What do you know about me?", None),
        ("tell me everything you remember about me", None),
        ("What have you learned about Omar?", None),
        ("who am i?", None),
        ("What do you know about physics?", set()),
        ("What do we have on Monday?", set()),
        ("What did we talk about?", set()),
    ],
)
def test_only_clear_questions_about_the_present_ask_for_a_relation(question: str, relations: set[str] | None) -> None:
    read = read_question(question, policy=POLICY.recall, speakers=("Ana",), asked_at=NOW)
    assert asked_relations(read, POLICY.recall) == relations


def test_only_the_ends_of_a_long_text_are_searched() -> None:
    def asked(text: str) -> frozenset[str]:
        found = asked_relations(read_question(text, policy=POLICY.recall, speakers=(), asked_at=NOW), POLICY.recall)
        assert found is not None
        return found

    filling = "I walked on and on. " * 400
    job, home = "What is my job? ", "Where do I live?"
    assert asked(job + filling + home) == asked(job) | asked(home)
    assert asked(filling + job + filling + home) == asked(home)
    began = time.process_time()
    asked("what is " * 2_490 + "?")
    assert time.process_time() - began < 2, "the whole text takes six seconds"


def hit(number: int, score: float, turn: int | None = None, item: str = "turn") -> Hit:
    turn_id = UUID(int=turn) if turn else None
    return Hit(item, UUID(int=number), "fact", str(number), NOW, score, {}, {}, turn_id, None, None)  # type: ignore[arg-type]


def order(hits: Sequence[Hit]) -> list[tuple[int, float]]:
    return [(one.id.int, one.score) for one in hits]


def test_a_memory_is_raised_by_itself_or_by_its_turn_and_added_where_it_was_not_found() -> None:
    ranked = [hit(1, 0.9), hit(2, 0.5), hit(3, 0.4, turn=9, item="memory")]
    stated = [hit(3, 0.0, turn=9, item="memory"), hit(8, 0.0, turn=2, item="memory"), hit(7, 0.0, item="memory")]
    assert order(asked_first(ranked, stated, may_add=False)) == [(3, 0.9), (2, 0.9), (1, 0.9)]
    assert order(asked_first(ranked, stated, may_add=True)) == [(3, 0.9), (2, 0.9), (7, 0.9), (1, 0.9)]
    assert order(asked_first(ranked, [], may_add=True)) == order(ranked)
