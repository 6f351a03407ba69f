"""Which pairs a judge of ends is given."""

from pathlib import Path

import numpy as np
import pytest

from bench.end_pairs import Old, pairs, told
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
    assert olds == [Old("Works with Danny", 2, frozenset({3})), Old("Works with Zoe", 2, frozenset())]


def test_a_statement_meets_messages_until_one_ends_it(olds: list[Old]) -> None:
    vectors = {
        text: np.ones(2, np.float32) / 2**0.5
        for text in [*(old.content for old in olds), *(line.get("t") for line in LINES)]
    }
    found = [(pair["old"], pair["t"], pair["ended"]) for pair in pairs(LINES, olds, vectors)]
    assert found == [
        ("Works with Danny", "Danny's jacked it in.", True),
        ("Works with Zoe", "Danny's jacked it in.", False),
        ("Works with Zoe", "Zoe does all.", False),
    ]
