"""What a predicate states is worded in the third person."""

import pytest

from reverie.language.statements.sentences import conjugated, in_phase, of_whom


@pytest.mark.parametrize(
    ("sentence", "phase", "worded"),
    [
        ("Lives in Oslo", "holds", "Lives in Oslo"),
        ("Lives in Oslo", "ends", "No longer lives in Oslo"),
        ("Is vegan", "ends", "Is no longer vegan"),
        ("Favorite color is blue", "ends", "Favorite color is no longer blue"),
        ("Favorite flowers are tulips", "past", "Favorite flowers were tulips"),
        ("Lives in Oslo", "past", "Used to live in Oslo"),
        ("Is a nurse", "past", "Used to be a nurse"),
        ("Works at Ikea", "adds", "Also works at Ikea"),
    ],
)
def test_phases(sentence: str, phase: str, worded: str) -> None:
    assert in_phase(sentence, phase) == worded  # type: ignore[arg-type]


def test_somebody_elses() -> None:
    assert of_whom("Lives in Lyon", "sister") == "their sister lives in Lyon"
    assert of_whom("Favorite color is blue", "sister") == "their sister's favorite color is blue"


def test_third_person() -> None:
    phrases = ["get up at five", "be late", "watch films", "study hard", "have tea", "can't stand noise"]
    assert [conjugated(phrase) for phrase in phrases] == [
        "gets up at five", "is late", "watches films", "studies hard", "has tea", "can't stand noise",
    ]  # fmt: skip
