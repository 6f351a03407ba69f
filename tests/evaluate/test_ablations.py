"""Parts of memory are left out, and each finds what it should."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

from reverie.evaluate.evaluation import asked_memory
from reverie.evaluate.retrieval.ablations import ablate, cover, covered_share
from reverie.evaluate.retrieval.question import HeldQuestion
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.work import Work
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day


@pytest.fixture
def work(database_url: str) -> Work:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        corpus.turn("Zanzibar with Naomi was wonderful", at=day(0))
        corpus.memory("Went to Zanzibar in spring", at=day(1))
        for number in range(12):
            corpus.turn(f"Small talk number {number}", at=day(2 + number / 100), session="s2")
    with Store.open(database_url, size=2) as store:
        yield Work(  # type: ignore[misc]
            store=store, scope=Scope(tenant_id="acme"), policy=load_policy("reverie"), as_of=LATER,
            embedder=FixedEmbedder(),
        )  # fmt: skip


def test_each_part_finds_its_own(work: Work) -> None:
    with work.transaction() as conn:
        ((turn,),) = conn.execute("select id from log.turns where text like 'Zanz%'").fetchall()
        ((memory,),) = conn.execute("select id from memory.memories").fetchall()
        ((last,),) = conn.execute("select id from log.turns where text like '% 11'").fetchall()
    asked = [
        HeldQuestion(
            id=str(number), source="file", subject_id="ann", text="When was Zanzibar?",
            asked_at=day(2.11) + timedelta(hours=1), needs=frozenset((needed,)),
        )
        for number, needed in enumerate((turn, memory, last))
    ]  # fmt: skip
    memory_of = asked_memory(work, asked, embedder=work.embedder, policy=work.policy)
    full = memory_of.answers()
    found = {each.name: each.differences[2] for each in ablate(memory_of, full)}
    assert list(found) == ["no memory", "without vectors", "turns alone", "memories alone"]
    assert {each.questions for each in found.values()} == {3}
    assert found["no memory"].before == pytest.approx(1 / 3), "the latest ten turns hold the last one alone"
    assert found["memories alone"].before == pytest.approx(1 / 3)
    assert found["turns alone"].before < found["turns alone"].after
    covered = {each.name: each for each in cover(memory_of, full)}
    assert covered["schema-free keys"].covered is None
    assert covered["all of recall"].covered and covered["all of recall"].covered > (covered["no memory"].covered or 0)


def test_coverage_is_a_share_of_words() -> None:
    assert covered_share("We saw lions and zebras", {"lion", "giraffe"}) == 0.5
    assert covered_share("", {"lion"}) == 0
