"""An evaluation of a small memory, by numbers known by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reverie.evaluate.evaluation import Evaluation, EvaluationPlan, evaluate
from reverie.evaluate.report import report_page
from reverie.model import Scope
from reverie.store.work import Work
from tests.recall.conftest import day


def test_the_numbers_of_one_question(evaluation: Evaluation) -> None:
    measures = evaluation.measures()
    assert evaluation.questions == 1 and evaluation.sources[0].source == "reference"
    assert (measures["recall_10"], measures["found_10"], measures["precision_5"]) == (1.0, 1.0, 0.2)
    assert measures["utilisation"] is None and measures["correction_rate"] == 0
    assert [each.sessions for each in evaluation.bands] == [1]
    assert evaluation.ablations[0].differences[2].before == 1.0, "all is within the latest ten turns"
    assert "1 question is fewer than 30" in evaluation.notes[0]
    assert evaluation.conduct.sessions == 2


def test_nothing_is_asked_after_the_time(work: Work) -> None:
    early = evaluate(replace(work, as_of=day(4)), EvaluationPlan())
    assert early.questions == 0 and early.measures()["recall_10"] is None and early.conduct.sessions == 1
    assert "What recall finds" not in report_page(early, [])


def test_a_tenant_without_a_turn_has_nothing_to_measure(work: Work) -> None:
    empty = evaluate(replace(work, scope=Scope(tenant_id="other")), EvaluationPlan())
    assert empty.questions == 0 and empty.measures()["observation_rate"] is None


def test_questions_of_a_file_are_asked_instead(work: Work, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"question": "Which dog?", "subject_id": "ann", "evidence": [["s1", "1"]]}\n')
    found = evaluate(work, EvaluationPlan(file=path, ablate=False))
    assert (found.source, found.questions, found.sources[0].source) == ("mine.jsonl", 1, "file")
    assert found.ablations == found.coverage == ()
    assert found.notes == ("1 question is fewer than 30: too few to judge a difference, so a gate lets it pass.",)


def test_all_questions_of_a_file_are_asked_unless_limited(work: Work, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    asked = '{"question": "Which dog?", "subject_id": "ann", "evidence": [["s1", "%s"]]}\n'
    path.write_text(asked % "1" * 3 + asked % "none")
    numbers = work.policy.evaluation.model_copy(update={"questions": 2})
    few = replace(work, policy=work.policy.model_copy(update={"evaluation": numbers}))
    plan = EvaluationPlan(file=path, ablate=False)
    found = evaluate(few, plan)
    assert (found.questions, found.left_out) == (3, 1)
    assert found.notes[1] == (
        "1 questions of the file were left out: the log lacks a turn that they need, or several sessions have its id."
    )
    limited = evaluate(few, replace(plan, limit=1))
    assert limited.questions == 1 and limited.policy_hash == few.policy.hash, "the limit is no number of the policy"
