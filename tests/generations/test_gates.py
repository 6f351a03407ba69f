"""The gate on answers: a share of enough questions, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.evaluate.retrieval.comparing import QualityError
from reverie.generations.building import begin
from reverie.generations.catalog import LiveMemory, drop_generation, opened
from reverie.generations.gates import require_few_changes, require_memories, require_publishable
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.policy.publish import PublishPolicy
from reverie.store.database import Store
from reverie.store.work import Work
from reverie.testing import WordEmbedder
from tests.generations.conftest import plan
from tests.promises.compact import TENANT, UNTIL
from tests.promises.world import live as make_live

NUMBERS = PublishPolicy(most_changed=0.25, fewest=8)


def counts(questions: int, changed: int) -> dict[str, int]:
    return {"questions": questions, "first_answers_changed": changed}


@pytest.mark.parametrize(("questions", "changed"), [(8, 2), (7, 7), (0, 0)])
def test_few_changes_and_too_few_questions_pass(questions: int, changed: int) -> None:
    require_few_changes(counts(questions, changed), NUMBERS)


def test_more_than_the_share_is_refused() -> None:
    with pytest.raises(QualityError, match="3 of 8 logged questions; the policy allows 25%"):
        require_few_changes(counts(8, 3), NUMBERS)


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0, 3), (33, 1)])
def test_some_memories_pass(before: int, after: int) -> None:
    require_memories(before, after)


def test_a_generation_without_memories_is_refused_though_no_question_is_asked(
    database_url: str, history: Path, tmp_path: Path
) -> None:
    policy, embedder = load_policy("reverie"), WordEmbedder()
    (first := tmp_path / "first.jsonl").write_text("\n".join(history.read_text().splitlines()[:3]))
    with Store.open(database_url, size=4) as store:
        make_live(store, TENANT, policy, first, UNTIL)
        work = Work(store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=UNTIL, embedder=embedder)
        live = LiveMemory(work=work, url=database_url)
        generation = begin(live, plan())
        try:
            with opened(live, generation) as there, pytest.raises(QualityError, match="No memory would be left of the"):
                require_publishable(live, generation, there, policy, embedder)
        finally:
            drop_generation(live, generation)
