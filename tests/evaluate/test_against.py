"""The same questions under another policy, and with memory built again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.evaluate.against import Rival, comparing, require_no_fall
from reverie.evaluate.evaluation import EvaluationPlan, evaluate
from reverie.evaluate.retrieval.comparing import QualityError
from reverie.evaluate.retrieval.rebuilt import build_copy, copy_log
from reverie.model import Scope
from reverie.policy import EvaluationPolicy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.conftest import Databases
from tests.evaluate.test_references import EARLIER, FILLER
from tests.recall.conftest import FixedEmbedder

AS_OF = datetime(2026, 6, 1, tzinfo=UTC)
NUMBERS = EvaluationPolicy(shared_rarity=2.0, fewest=1)


@pytest.fixture
def work(database_url: str, tmp_path: Path) -> Iterator[Work]:
    path = tmp_path / "turns.jsonl"
    texts = [(text, "s1", 1) for text in (EARLIER, *FILLER)]
    texts += [("My golden retriever had a bath.", "s2", 9), ("Bruno, the golden retriever, barked.", "s3", 12)]
    rows = [
        {"subject_id": "ann", "session_id": session, "source_id": str(number), "role": "user",
         "said_at": f"2026-03-{day:02d}T09:{number:02d}:00Z", "text": text}
        for number, (text, session, day) in enumerate(texts)
    ]  # fmt: skip
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    policy = load_policy("reverie").model_copy(update={"evaluation": NUMBERS})
    with Store.open(database_url, size=2) as store:
        import_file(store, path, tenant_id="acme")
        work = Work(
            store=store, scope=Scope(tenant_id="acme"), policy=policy, as_of=AS_OF, embedder=FixedEmbedder()
        )  # fmt: skip
        assert [*ingest(work), *catch_up(work)]
        yield work


def blind(work: Work) -> Rival:
    """A policy that finds nothing."""
    recall = work.policy.recall.model_copy(update={"top_k": 1, "token_budget": 0})
    policy = work.policy.model_copy(update={"recall": recall})
    return Rival(policy=policy, embedder=work.embedder, name="blind", is_rebuilt=False)


def test_a_copy_built_by_the_same_numbers_is_the_same_memory(work: Work, databases: Databases) -> None:
    with databases() as url, Store.open(url, size=2) as copy:
        assert copy_log(work.store, copy, "acme", policy="reverie") == 9
        build_copy(copy, "acme", policy=work.policy, embedder=work.embedder, as_of=AS_OF)
        assert digest(copy, "acme") == digest(work.store, "acme")


def test_the_same_policy_does_not_differ(work: Work) -> None:
    same = replace(blind(work), policy=work.policy, name="same")
    drift = require_no_fall(work, same)
    assert drift is not None and {each.change for each in drift.differences} == {0}
    assert drift.differences[0].questions == 1 and not drift.is_rebuilt


def test_a_policy_that_finds_less_does_not_pass(work: Work) -> None:
    with pytest.raises(QualityError, match="recall_10 1.000 to 0.000"):
        require_no_fall(work, blind(work))
    found = evaluate(work, comparing(work, blind(work), EvaluationPlan(ablate=False)))
    assert found.comparison is not None and found.comparison.against == "blind"


def test_without_questions_there_is_nothing_to_judge(work: Work) -> None:
    assert require_no_fall(replace(work, scope=Scope(tenant_id="other")), blind(work)) is None


def test_the_gate_asks_nothing_after_its_time(work: Work) -> None:
    early = datetime(2026, 3, 5, tzinfo=UTC)
    assert require_no_fall(replace(work, as_of=early), blind(work)) is None, "the first reference is of 9 March"
