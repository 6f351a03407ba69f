"""Learned profiles beside true ones: by hand, and through a memory of what was said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.errors import InputError
from reverie.evaluate.conduct.truth import ProfileValue, agreement, leaves, measure_agreement, read_truths, verdict
from reverie.evaluate.evaluation import EvaluationPlan, evaluate
from reverie.evaluate.report import report_page
from reverie.model import Scope
from reverie.store.work import Work
from tests.promises.world import WordEmbedder

LEARNED = [
    ProfileValue(("location",), "Chennai"),
    ProfileValue(("Employer",), "Zoho, on the mail team"),
    ProfileValue(("dietary",), "vegetarian"),
    ProfileValue(("Pets", "Bruno"), "golden retriever"),
    ProfileValue(("Goals",), "to learn about queues"),
]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("City",), "Chennai", "correct"),  # under another key
        (("Work", "Employer"), "Zoho", "correct"),  # in a longer value
        (("Diet",), "vegetarian", "correct"),
        (("Pets",), "golden retrievers", "correct"),
        (("Pets",), "cat", "wrong"),
        (("employer",), "Infosys", "wrong"),
        (("Mother",), "queues", "missing"),  # no name, and under no such key
        (("Pronouns",), "he", "missing"),
    ],
)
def test_an_entry_is_correct_wrong_or_missing(path: tuple[str, ...], value: str, told: str) -> None:
    assert verdict(ProfileValue(path, value), LEARNED) == told


def test_shares() -> None:
    truths = {
        "ann": [
            ProfileValue(("City",), "Chennai"),
            ProfileValue(("employer",), "Infosys"),
            ProfileValue(("Shoe",), "43"),
        ],
        "bob": [ProfileValue(("City",), "Oslo")],
    }
    found = agreement(truths, {"ann": LEARNED})
    assert (found.subjects, found.correct, found.wrong, found.missing) == (2, 1, 1, 2)
    assert (found.accuracy, found.coverage) == (0.5, 0.25)
    nothing = agreement({"bob": truths["bob"]}, {})
    assert (nothing.accuracy, nothing.coverage) == (None, 0.0)


def test_leaves_of_a_nested_profile() -> None:
    profile = {"Role": "nurse", "Pets": {"Rex": ["dog", 3]}, "Goals": None, "Vegan": False}
    assert list(leaves(profile)) == [
        (("Role",), "nurse"), (("Pets", "Rex"), "dog"), (("Pets", "Rex"), "3"), (("Vegan",), "False"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"subject_id": "ann"}', "line 1: a true profile has"),
        ('{"subject_id": "ann", "profile": {}}', "line 1"),
        ('{"subject_id": "ann", "profile": {"a": 1}}\nnot json', "line 2: not JSON"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "true.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=why):
        read_truths(path)


def test_what_a_memory_learned_is_compared(work: Work, tmp_path: Path) -> None:
    path = tmp_path / "true.jsonl"
    path.write_text('{"subject_id": "ann", "profile": {"Home": "Lisbon", "Dog": "Rex"}}\n')
    assert measure_agreement(work.store, "acme", path, policy=work.policy, as_of=work.as_of).missing == 2
    told = tmp_path / "told.jsonl"
    told.write_text(
        '{"subject_id": "ann", "session_id": "s9", "source_id": "1", "role": "user", "text": "I live in Lisbon.",'
        ' "said_at": "2026-03-01T09:00:00Z"}\n'
    )
    import_file(work.store, told, tenant_id="mine")
    mine = replace(work, scope=Scope(tenant_id="mine"), embedder=WordEmbedder())
    for _ in (*ingest(mine), *catch_up(mine)):
        pass
    found = measure_agreement(work.store, "mine", path, policy=work.policy, as_of=work.as_of)
    assert (found.correct, found.wrong, found.missing) == (1, 0, 1)
    evaluation = evaluate(mine, EvaluationPlan(profiles=path, ablate=False))
    assert evaluation.agreement == found and evaluation.measures()["profile_coverage"] == 0.5
    assert "true profile entries that were learned" in report_page(evaluation, [])
