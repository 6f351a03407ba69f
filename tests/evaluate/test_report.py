"""The page of an evaluation."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from reverie.evaluate.evaluation import Evaluation, EvaluationPlan, evaluate
from reverie.evaluate.report import report_page
from reverie.evaluate.results import past_evaluations, record_evaluation
from reverie.store.work import Work
from tests.evaluate.conftest import LATE


def test_the_page_opens_offline_and_has_no_text_unless_asked(work: Work, evaluation: Evaluation) -> None:
    record_evaluation(work.store, evaluation, driver="test")
    past = past_evaluations(work.store, "acme", source="log")
    page = report_page(evaluation, past)
    assert "Plotly.newPlot" in page and "What recall finds" in page and "Ablations" in page
    assert '<script src="http' not in page and "cdn.plot.ly/plotly-" not in page
    assert LATE not in page and "retriever" not in page and "golden retriever" not in page
    assert str(evaluation.answers[0].question.id) in page
    assert "1 question from the log, each asked" in page
    assert LATE in report_page(evaluation, past, with_texts=True)


def test_what_a_user_wrote_is_escaped(evaluation: Evaluation) -> None:
    page = report_page(replace(evaluation, tenant_id="<script>alert(1)</script>"), [])
    assert "<script>alert" not in page


def test_it_says_what_too_few_questions_tell(evaluation: Evaluation) -> None:
    few = len(evaluation.answers)
    assert few == 1
    page = report_page(evaluation, [])
    assert f'<p class="warning">1 question is fewer than {evaluation.numbers.fewest}' in page
    assert page.count("<td>too few questions</td>") == len(evaluation.ablations) > 3
    enough = replace(evaluation, numbers=evaluation.numbers.model_copy(update={"fewest": 1}), notes=())
    page = report_page(enough, [])
    assert "too few questions" not in page and 'class="warning"' not in page
    assert "more is found by all of recall" in page
    assert "95 % confidence interval" in page and '"error_y"' in page


def test_evaluations_of_one_moment_have_no_axis_of_time(work: Work, evaluation: Evaluation) -> None:
    record_evaluation(work.store, evaluation, driver="test")
    past = past_evaluations(work.store, "acme", source="log")
    page = report_page(evaluation, past)
    assert "1 evaluation so far, as of" in page and "Quality over time" not in page
    earlier = replace(past[0], as_of=past[0].as_of - timedelta(minutes=5))
    page = report_page(evaluation, [earlier, *past])
    assert "Quality over time" in page and "2 evaluations." in page
    ranges = re.findall(r'"range":\["(\d{4}-\d\d-\d\d)T[^"]*","(\d{4}-\d\d-\d\d)T', page)
    assert ranges and all(first < last for first, last in ranges), "an axis of less than a day"


def test_the_number_of_questions_is_that_of_the_parts_without_ablations(work: Work) -> None:
    page = report_page(evaluate(work, EvaluationPlan(ablate=False, ablate_each=True)), [])
    assert "The same questions (1) without one pass" in page
