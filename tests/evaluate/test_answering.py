"""Many questions are asked at once, each as of its own time."""

from __future__ import annotations

from uuid import UUID

import psycopg

from reverie.evaluate.retrieval.answering import KnownQuestions, ask_all, embedded, subjects_known
from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.policy import load_policy
from reverie.store.database import Store
from tests.cli.conftest import insert
from tests.recall.conftest import Corpus, FixedEmbedder, day


def question(text: str, at: float, *needs: UUID, avoids: frozenset[UUID] = frozenset()) -> HeldQuestion:
    return HeldQuestion(
        id=text, source="file", subject_id="ann", text=text, asked_at=day(at), needs=frozenset(needs), avoids=avoids
    )


def test_only_what_came_before_may_answer(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        early = corpus.turn("Bruno the dog likes the beach in Bergen", at=day(0))
        late = corpus.turn("Bruno the dog likes the forest in Oslo", at=day(5), session="s2")
    with Store.open(database_url, role="reader", size=2) as store:
        asked = [question("Where is Bruno the dog?", when, early, late) for when in (1, 9)]
        known = subjects_known(store, "acme", asked)
        first, second = ask_all(
            store,
            "acme",
            asked,
            known=known,
            policy=load_policy("reverie"),
            embedder=embedded(asked, known, Counting()),
        )
    assert first.ranks.recall_10 == 0.5 and second.ranks.recall_10 == 1.0
    assert "Bergen" in first.text and "Oslo" not in first.text
    assert first.ranks.precision_5 == 1 / 5 and second.ranks.ndcg_5 == 1


def test_a_memory_stands_for_the_turns_behind_it(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        turn, merged_turn = UUID(int=1), UUID(int=2)  # turns that recall itself does not find
        memory = corpus.memory("Bruno the dog likes the beach", at=day(0))
        merged = corpus.memory("Bruno likes beaches", at=day(1), state="merged")
        conn.execute("update memory.memories set into_id = %s where id = %s", [memory, merged])
        for memory_id, source in ((memory, turn), (merged, merged_turn)):
            insert(
                conn, "memory.lineage", memory_id=memory_id, relation="extracted", source="turn", source_id=source,
                as_of=day(0), run_id=UUID(int=0),
            )  # fmt: skip
    with Store.open(database_url, role="reader", size=2) as store:
        asked = [question("Does Bruno the dog like the beach?", 9, turn, merged_turn, avoids=frozenset((merged_turn,)))]
        known = subjects_known(store, "acme", asked)
        (answer,) = ask_all(store, "acme", asked, known=known, policy=load_policy("reverie"), embedder=None)
    assert answer.ranks.recall_10 == 1 and answer.is_wrong and answer.tokens > 0


def test_nothing_is_logged_and_an_unknown_subject_finds_nothing(database_url: str) -> None:
    with Store.open(database_url, size=2) as store:
        asked = [question("Anything?", 1, UUID(int=1))]
        known = subjects_known(store, "acme", asked)
        (answer,) = ask_all(store, "acme", asked, known=known, policy=load_policy("reverie"), embedder=None)
        assert answer.ranks.recall_10 == 0
        with store.transaction("acme") as conn:
            assert conn.execute("select count(*) from log.recalls").fetchone() == (0,)


class Counting(FixedEmbedder):
    """Counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def encode(self, texts):  # type: ignore[no-untyped-def]
        self.calls += 1
        return super().encode(texts)


def test_texts_are_embedded_once_and_together() -> None:
    model = Counting()
    known = KnownQuestions(model, ["a", "b", "a"])
    assert known.encode(["a"]).shape == known.encode(["b"]).shape == (1, model.dimensions)
    assert model.calls == 1 and known.count_tokens("two words") == 2
    assert known.encode(["c"]).shape == (1, model.dimensions) and model.calls == 2
    assert KnownQuestions(model, []).price_per_token == 0
