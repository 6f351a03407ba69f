"""The page of an evaluation."""

from __future__ import annotations

from dataclasses import replace

from reverie.evaluate.evaluation import Evaluation
from reverie.evaluate.report import report_page
from reverie.evaluate.results import past_evaluations, record_evaluation
from reverie.store.work import Work
from tests.evaluate.conftest import LATE


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
