"""Results of evaluations are kept."""

from __future__ import annotations

from dataclasses import replace

from reverie.evaluate.evaluation import Evaluation
from reverie.evaluate.results import past_evaluations, record_evaluation
from reverie.store.work import Work
from tests.recall.conftest import LATER, day


def test_results_are_kept_for_plots(work: Work, evaluation: Evaluation) -> None:
    record_evaluation(work.store, replace(evaluation, answers=()), driver="test")
    record_evaluation(work.store, evaluation, driver="test")  # replaces it
    record_evaluation(work.store, replace(evaluation, as_of=day(3)), driver="test")
    first, second = past_evaluations(work.store, "acme", source="log")
    assert (first.as_of, second.as_of, second.questions) == (day(3), LATER, 1)
    assert second.measures == evaluation.measures() and second.against is None
    assert [each.as_of for each in past_evaluations(work.store, "acme", source="log", limit=1)] == [LATER]
    assert past_evaluations(work.store, "other", source="log") == []


def test_questions_of_a_file_are_no_points_of_the_line_of_the_log(work: Work, evaluation: Evaluation) -> None:
    record_evaluation(work.store, evaluation, driver="test")
    record_evaluation(work.store, replace(evaluation, as_of=day(3), source="labelled.jsonl"), driver="test")
    of_log, of_file = (past_evaluations(work.store, "acme", source=each) for each in ("log", "labelled.jsonl"))
    assert ([each.as_of for each in of_log], [each.as_of for each in of_file]) == ([LATER], [day(3)])


def test_many_evaluations_of_a_file_leave_those_of_the_log(work: Work, evaluation: Evaluation) -> None:
    record_evaluation(work.store, replace(evaluation, as_of=day(3)), driver="test")
    for number in range(4, 7):
        record_evaluation(work.store, replace(evaluation, as_of=day(number), source="labelled.jsonl"), driver="test")
    of_log, of_file = (past_evaluations(work.store, "acme", source=each, limit=2) for each in ("log", "labelled.jsonl"))
    assert ([each.as_of for each in of_log], [each.as_of for each in of_file]) == ([day(3)], [day(5), day(6)])
