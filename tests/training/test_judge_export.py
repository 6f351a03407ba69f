"""The judge as Reverie runs it gives what was trained."""

from __future__ import annotations

import numpy as np
import pytest


def test_the_written_model_gives_the_chances_of_the_trained_one() -> None:
    pytest.importorskip("jax", reason="trains the judge: training/reader/GUIDE.md")
    import jax
    import onnxruntime

    from training.reader import judge, judge_export
    from training.reader.whole import in_whole_numbers

    pairs = [
        judge.Pair("Works with Danny", "", "Danny's jacked it in", True),
        judge.Pair("Lives in Leeds", "still in Leeds?", "not any more", True),
        judge.Pair("Workshop rate: 65", "", "how do I write an invoice for 4 hours of the workshop?", False),
    ]
    texts = judge.Texts(judge.LOWER)
    parameters = judge.start(jax.random.key(1), judge.LOWER)
    wanted = judge.chances(texts, parameters, pairs)
    plain = jax.tree.map(np.asarray, parameters)
    for written, tolerance in (
        (judge_export.judge_model(plain), 0.01),
        (judge_export.judge_model(in_whole_numbers(plain, judge_export.ranges(plain, texts, pairs))), 0.08),
    ):
        session = onnxruntime.InferenceSession(written, providers=["CPUExecutionProvider"])
        logits = [session.run(["ends"], judge_export.given(texts, pair))[0][0, 0] for pair in pairs]
        assert 1 / (1 + np.exp(-np.array(logits))) == pytest.approx(wanted, abs=tolerance)
