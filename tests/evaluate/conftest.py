"""A small memory whose log has one message that refers back, and its evaluation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import psycopg
import pytest

from reverie.evaluate.evaluation import Evaluation, EvaluationPlan, evaluate
from reverie.model import Scope
from reverie.policy import EvaluationPolicy, load_policy
from reverie.store.database import Store
from reverie.store.work import Work
from tests.evaluate.test_references import EARLIER, FILLER
from tests.recall.conftest import DIMENSIONS, LATER, Corpus, FixedEmbedder, day

LATE = "My golden retriever had a bath."


@pytest.fixture
def work(database_url: str) -> Iterator[Work]:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        near, far = np.eye(DIMENSIONS, dtype=np.float32)[:2]
        for number, text in enumerate((EARLIER, *FILLER)):
            corpus.turn(text, at=day(number / 100), session="s1", vectors=[near if text == EARLIER else far])
        corpus.turn(LATE, at=day(5), session="s2")
    policy = load_policy("reverie").model_copy(update={"evaluation": EvaluationPolicy(shared_rarity=2.0)})
    with Store.open(database_url, size=2) as store:
        yield Work(
            store=store, scope=Scope(tenant_id="acme"), policy=policy, as_of=LATER, embedder=FixedEmbedder()
        )  # fmt: skip


@pytest.fixture
def evaluation(work: Work) -> Evaluation:
    return evaluate(work, EvaluationPlan())
