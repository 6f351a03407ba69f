"""The judge as Reverie runs it gives what was trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reverie.inference.judge import EndPair
from reverie.inference.judge import judge as module


def test_the_written_model_gives_the_chances_of_the_trained_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("jax", reason="trains the judge: training/reader/GUIDE.md")
    import jax

    from training.reader import judge, judge_export
    from training.reader.export import ranges_of
    from training.reader.whole import in_whole_numbers

    pairs = [
        judge.Pair("Works with Danny", "", "Danny's jacked it in", True),
        judge.Pair("Works with Zoe", "", "Danny's jacked it in", False),
        judge.Pair("Lives in Leeds", "still in Leeds?", "not any more", True),
        judge.Pair("Workshop rate: 65", "", "how do I write an invoice for 4 hours of the workshop?", False),
    ]
    texts = judge.Texts(judge.LOWER)
    parameters = judge.start(jax.random.key(1), judge.LOWER)
    wanted = judge.chances(texts, parameters, pairs)
    plain = jax.tree.map(np.asarray, parameters)
    ranges = ranges_of(
        judge_export.judge_model(plain, watched=True), (judge_export.given(texts, pair) for pair in pairs)
    )
    for number, (written, tolerance) in enumerate(
        ((plain, 0.01), (in_whole_numbers(plain, ranges), 0.08)),
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "judge.onnx").write_bytes(judge_export.judge_model(written))
        (folder / "judge.json").write_text('{"model": "judge-new"}', encoding="utf-8")
        monkeypatch.setattr(module, "files", lambda _, folder=folder: folder)
        found = module.TrainedJudge(threads=1).chances([EndPair(one.old, one.text, one.question) for one in pairs])
        assert found == pytest.approx(wanted, abs=tolerance)
