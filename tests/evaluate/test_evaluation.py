"""An evaluation of a small memory: its numbers, its row in the database, its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from reverie.evaluate.evaluation import Evaluation, EvaluationPlan, evaluate
from reverie.evaluate.report import report_page
from reverie.evaluate.results import past_evaluations, record_evaluation
from reverie.model import Scope
from reverie.policy import EvaluationPolicy, load_policy
from reverie.store.database import Store
from reverie.store.work import Work
from tests.evaluate.test_references import EARLIER, FILLER
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day

LATE = "My golden retriever had a bath."


@pytest.fixture
def work(database_url: str) -> Iterator[Work]:
    with psycopg.connect(database_url, autocommit=True) as conn:
        corpus = Corpus(conn)
        for number, text in enumerate((EARLIER, *FILLER)):
            corpus.turn(text, at=day(number / 100), session="s1")
        corpus.turn(LATE, at=day(5), session="s2")
    policy = load_policy("reverie").model_copy(update={"evaluation": EvaluationPolicy(shared_rarity=2.0)})
    with Store.open(database_url, size=2) as store:
        yield Work(
            store=store, scope=Scope(tenant_id="acme"), policy=policy, as_of=LATER, embedder=FixedEmbedder()
        )  # fmt: skip


@pytest.fixture
def evaluation(work: Work) -> Evaluation:
    return evaluate(work, EvaluationPlan())


def test_the_numbers_of_one_question(evaluation: Evaluation) -> None:
    measures = evaluation.measures()
    assert evaluation.questions == 1 and evaluation.sources[0].source == "reference"
    assert (measures["recall_10"], measures["found_10"], measures["precision_5"]) == (1.0, 1.0, 0.2)
    assert measures["utilisation"] is None and measures["correction_rate"] == 0
    assert [each.sessions for each in evaluation.bands] == [1]
    assert evaluation.ablations[0].differences[2].before == 1.0, "all is within the latest ten turns"
    assert "1 questions are fewer than 30" in evaluation.notes[0]
    assert evaluation.conduct.sessions == 2


def test_nothing_is_asked_after_the_time(work: Work) -> None:
    early = evaluate(replace(work, as_of=day(4)), EvaluationPlan())
    assert early.questions == 0 and early.measures()["recall_10"] is None and early.conduct.sessions == 1
    assert "What recall finds" not in report_page(early, [])


def test_a_tenant_without_a_turn_has_nothing_to_measure(work: Work) -> None:
    empty = evaluate(replace(work, scope=Scope(tenant_id="other")), EvaluationPlan())
    assert empty.questions == 0 and empty.measures()["observation_rate"] is None


def test_results_are_kept_for_plots(work: Work, evaluation: Evaluation) -> None:
    record_evaluation(work.store, evaluation, driver="test")
    record_evaluation(work.store, replace(evaluation, seconds=9.0), driver="test")  # replaces it
    record_evaluation(work.store, replace(evaluation, as_of=day(3)), driver="test")
    first, second = past_evaluations(work.store, "acme")
    assert (first.as_of, second.as_of, second.questions) == (day(3), LATER, 1)
    assert second.measures == evaluation.measures() and second.against is None
    assert [each.as_of for each in past_evaluations(work.store, "acme", limit=1)] == [LATER]
    assert past_evaluations(work.store, "other") == []


def test_the_page_opens_offline_and_has_no_text_unless_asked(work: Work, evaluation: Evaluation) -> None:
    record_evaluation(work.store, evaluation, driver="test")
    past = past_evaluations(work.store, "acme")
    page = report_page(evaluation, past)
    assert "Plotly.newPlot" in page and "Quality over time" in page and "Ablations" in page
    assert '<script src="http' not in page and "cdn.plot.ly/plotly-" not in page
    assert LATE not in page and "retriever" not in page and "golden retriever" not in page
    assert str(evaluation.answers[0].question.id) in page
    assert LATE in report_page(evaluation, past, with_texts=True)


def test_what_a_user_wrote_is_escaped(evaluation: Evaluation) -> None:
    page = report_page(replace(evaluation, tenant_id="<script>alert(1)</script>"), [])
    assert "<script>alert" not in page


def test_questions_of_a_file_are_asked_instead(work: Work, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"question": "Which dog?", "subject_id": "ann", "evidence": [["s1", "1"]]}\n')
    found = evaluate(work, EvaluationPlan(file=path, ablate=False))
    assert (found.source, found.questions, found.sources[0].source) == ("mine.jsonl", 1, "file")
    assert found.ablations == found.coverage == ()
