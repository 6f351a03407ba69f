"""The judge of ends reads pairs, learns from them, and is measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from training.reader.check import ENDED


@pytest.mark.parametrize("name", ["single", "held"])
def test_single_messages_say_what_ends_and_what_stays(name: str) -> None:
    lines = [json.loads(line) for line in (ENDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len({(line["t"], line.get("q")) for line in lines}) == len(lines)
    for line in lines:
        assert line.keys() - {"q", "parts"} == {"t", "ended", "stays"}
        assert line["ended"] or line["stays"] or line["parts"]
        assert all(each in told["own"] for told in line.get("parts", ()) for each in told["ends"])
        assert set(line["ended"]).isdisjoint(line["stays"])


def test_a_judge_learns_which_statement_a_message_ends(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="trains the judge: training/reader/GUIDE.md")
    from training.reader import judge
    from training.reader.published import averaged

    said = {"part": "train", "near": 0.5, "q": ""}
    lines = [
        said | {"old": f"Works with {name}", "t": f"{left} left us", "ended": name == left}
        for name in ("Ann", "Bo")
        for left in ("Ann", "Bo")
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    pairs = judge.read_pairs(file)
    assert [side for side, _, _ in pairs[0].shown] == [1]
    texts = judge.Texts(2)
    parameters = judge.train(texts, pairs, 60, labelled=())
    chance = judge.chances(texts, parameters, pairs)
    assert chance[[0, 3]].min() > chance[[1, 2]].max()
    assert judge.average_precision(np.array([pair.ended for pair in pairs]), chance) == 1.0
    more = judge.train(texts, pairs, 1, labelled=(), trained=parameters)
    after = judge.chances(texts, averaged(parameters, more, 0.4), pairs)
    assert judge.average_precision(np.array([pair.ended for pair in pairs]), after) == 1.0


def test_average_precision_counts_what_stands_above_an_end() -> None:
    pytest.importorskip("jax", reason="trains the judge: training/reader/GUIDE.md")
    from training.reader.judge import average_precision

    ended = np.array([True, False, True, False])
    assert average_precision(ended, np.array([0.9, 0.8, 0.7, 0.1])) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision(np.zeros(2, bool), np.array([0.9, 0.8])) == 0.0
