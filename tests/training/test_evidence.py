"""The evidence about an end is weighed by voices that the judge did not learn from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reverie.inference.judge.evidence import PairEvidence
from training.reader import evidence as module


def test_weights_are_of_what_tells_ends_apart() -> None:
    random = np.random.default_rng(3)
    read = random.normal(size=(800, len(PairEvidence._fields)))
    # by the judge and, half as much, by the vectors
    ended = read[:, 0] + 0.5 * read[:, 1] + random.normal(scale=0.3, size=800) > 1
    weights = module.fitted(read, ended)["weights"]
    assert list(weights) == list(PairEvidence._fields)
    assert weights["near"] / weights["judged"] == pytest.approx(0.5, abs=0.1)
    assert all(abs(weights[name]) < 0.1 * weights["judged"] for name in ("alike", "days", "is_lasting", "is_silent"))
    chance = module.by_folds(read, ended, [f"voice {number % 7}" for number in range(800)])
    assert chance[ended].mean() > 0.7 > 0.3 > chance[~ended].mean()


def test_it_writes_what_the_judge_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"old": old, "q": "", "t": text, "ended": ended, "near": near, "part": part, "alike": 0.3, "days": 4.0,
         "lasting": True, "silent": False, "rank": rank, "voice": voice}
        for voice in ("ann", "bo", "cy")
        for old, text, ended, near, part, rank in (
            ("Works at the quay", "I quit the quay, never again", True, 1.0, "dev", 0),
            ("Takes metformin", "They took me off metformin", True, 2.0, "test", 11),
            ("Has a dog, Rex", "What's for dinner?", False, -4.0, "dev", 1),
            ("Lives in Leeds", "The bus was late again", False, -5.0, "test", 2),
            # the judge has learned from it, and the stage leaves out what is too far
            ("Lives in Leeds", "I moved to York", True, 1.0, "train", 0),
            ("Lives in Leeds", "I moved to York", True, 1.0, "dev", 12),
            ("Lives in Leeds", "I moved to York", True, -7.0, "dev", 0),
        )
    ]  # fmt: skip
    file, written = tmp_path / "pairs.jsonl", tmp_path / "evidence.json"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    monkeypatch.setattr(module, "FILE", written)
    monkeypatch.setattr("sys.argv", ["evidence", str(file)])
    module.main()
    found = json.loads(written.read_text(encoding="utf-8"))
    assert set(found["weights"]) == set(PairEvidence._fields) and found["weights"]["judged"] > 0
    assert capsys.readouterr().out.startswith("12 pairs, 6 ended, average precision: judge 1.000, evidence 1.000")
