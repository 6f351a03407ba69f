"""Which pairs a judge of ends is given."""

from pathlib import Path

import numpy as np
import pytest

from bench.end_pairs import NEVER, Old, own_words, pairs, parted, told, write_vectors
from reverie.policy import load_policy

LINES = [
    {"part": "dev"},
    {
        "day": "2026-01-12",
        "t": "Danny does the Mondays, Zoe the rest.",
        "s": [{"r": "has_colleague", "o": "Danny"}, {"r": "has_colleague", "o": "Zoe"}],
    },
    {"day": "2026-01-19", "q": "How is the team?", "t": "Danny's jacked it in.", "s": []},
    {"t": "Zoe does all.", "s": []},
]


@pytest.fixture
def olds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Old]:
    (tmp_path / "ann.tsv").write_text("2.0\t3\tsure\n", encoding="utf-8")
    monkeypatch.setattr("bench.end_pairs.ENDED", tmp_path)
    return list(told(LINES, "ann", load_policy("reverie")))


def test_labelled_statements_are_told_in_words(olds: list[Old]) -> None:
    assert olds == [
        Old("Works with Danny", 2, frozenset({3}), own="Danny does the Mondays"),
        Old("Works with Zoe", 2, frozenset(), own="Zoe the rest"),
    ]


def test_a_statement_meets_messages_until_one_ends_it(olds: list[Old]) -> None:
    vectors = {
        text: np.full(384, 384**-0.5, np.float32)
        for text in [*(old.content for old in olds), *(line.get("t") for line in LINES)]
    }
    found = [(pair["old"], pair["t"], pair["ended"]) for pair in pairs(LINES, olds, vectors)]
    assert found == [
        ("Works with Danny", "Danny's jacked it in.", True),
        ("Works with Zoe", "Danny's jacked it in.", False),
        ("Works with Zoe", "Zoe does all.", False),
    ]


def test_what_ends_in_part_gives_a_pair_a_part() -> None:
    own = "may 2900, june and september 3300, july august 3600. cook is extra 900"
    ended = dict(parted(own, ["july august 3600"]))
    assert ended == {
        "may 2900,": False, "june and september 3300,": False, "july august 3600.": True, "cook is extra 900": False,
    }  # fmt: skip


def test_own_words_are_those_that_end_at_once() -> None:
    line = {"t": "I teach labs on mondays, and I swim at noon.", "s": [{"o": "labs on mondays"}, {"o": "swim at noon"}]}
    both = frozenset({9})
    assert own_words(line, 1, {(1, 0): both, (1, 1): both}) == ["I teach labs on mondays, and I swim at noon"] * 2
    assert own_words(line, 1, {(1, 0): both}) == ["I teach labs on mondays", "and I swim at noon"]
    assert own_words(line | {"t": "labs on mondays plus swim at noon"}, 1, {(1, 0): both}) == ["", ""]


def test_single_messages_meet_what_was_told_to_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        {"t": "she's here", "ended": ["Is pregnant"], "stays": ["Sister: Ines"]},
        {"t": "160", "ended": [], "stays": [], "parts": [{"own": "150 a night, no dogs", "ends": ["150 a night"]}]},
    ]  # fmt: skip
    monkeypatch.setattr("bench.end_pairs.single_lines", lambda: lines)
    write_vectors(file := tmp_path / "vectors.npz", {}, {})
    with np.load(file) as read:
        assert {key: read[f"single 0/{key}"].tolist() for key in ("part", "line", "ended")} == {
            "part": "single", "line": [1, 1, 1], "ended": [2, NEVER, 3],
        }  # fmt: skip
        assert read["single 0/worded"].shape == (3, 384) and read["single 0/messages"].shape == (2, 384)
