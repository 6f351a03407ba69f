"""The agreement of two labellers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from training.reader.agree import agreement, overlap, pairs_of_messages, pairs_of_statements
from training.reader.check import HERE, VOICES, read_voice

SECOND = sorted((HERE / "second").glob("*.jsonl"))


def message(*statements: dict[str, Any], text: str = "hi") -> dict[str, Any]:
    return {"t": text, "s": list(statements)}


@pytest.mark.parametrize("file", SECOND, ids=lambda file: file.stem)
def test_second_labels_have_no_mistakes_and_are_of_messages_of_the_voice(file: Path) -> None:
    head, messages, mistakes = read_voice(file)
    first, stored, _ = read_voice(VOICES / file.name)
    assert mistakes == []
    assert head == first
    assert len(list(pairs_of_messages(stored, messages))) == len(messages)


@pytest.mark.parametrize(
    ("one", "other", "part"),
    [("the van", "The van", 1), ("a blue van", "van", 0.5), ("the van", "the cat", 0), ("Bergen", "Oslo", 0)],
)
def test_objects_overlap_by_words(one: str, other: str, part: float) -> None:
    assert overlap(one, other) == part


def test_messages_are_paired_in_their_order() -> None:
    first = [message(text="a"), message({"r": "age", "o": "3"}, text="b"), message(text="a")]
    assert list(pairs_of_messages(first, [first[1], first[2]])) == [(first[1], first[1]), (first[2], first[2])]
    with pytest.raises(ValueError, match="in another order: 'b'"):
        list(pairs_of_messages(first, [first[2], first[2], first[1]]))


def test_the_closest_statements_of_a_relation_are_paired() -> None:
    van, blue, cat = ({"r": "owns", "o": o} for o in ("the van", "a blue van", "the cat"))
    likes = {"r": "likes", "o": "the van"}
    assert pairs_of_statements([van, cat], [blue, likes]) == [(van, blue)]
    assert pairs_of_statements([van, blue], [blue, van]) == [(van, van), (blue, blue)]


def test_agreement_is_counted() -> None:
    first = message({"r": "lives_in", "o": "Oslo", "p": "begins", "h": "Ann"}, {"r": "age", "o": "30"})
    second = message({"r": "lives_in", "o": "Oslo", "h": "my sister Ann"}, {"r": "has_pet", "o": "Pip"})
    found = agreement([(first, second), (message(), message()), (message(), second), (message(), message())])
    assert (found.messages, found.matched) == (4, 1)
    assert found.states == 0.75
    assert found.kappa == pytest.approx(0.5)
    assert found.overlapping == found.exact == pytest.approx(2 / 6)
    assert found.details == {"p": 0, "h": 1, "n": 1, "tp": 1}


def test_equal_labels_agree_fully() -> None:
    one = message({"r": "age", "o": "30"})
    assert agreement([(one, one), (message(), message())])[1:5] == (1, 1, 1, 1)
