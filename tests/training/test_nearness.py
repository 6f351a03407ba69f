"""The nearness of ends learns from voices, and is measured beside the cosine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reverie.inference.judge.nearness import LearnedNearness


def test_it_learns_what_ends_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax", reason="trains the nearness: training/reader/GUIDE.md")
    from training.reader import nearness

    # each statement is ended by the message whose vector is the statement's turned by one place, unlike itself
    vectors = np.eye(384, dtype=np.float16)[:12]
    turned = np.roll(vectors, 1, axis=0)
    arrays = {
        "part": np.array("train"), "line": np.ones(12, int), "ended": np.arange(2, 14), "worded": vectors,
        "own": vectors, "messages": turned,
    }  # fmt: skip
    file = tmp_path / "vectors.npz"
    np.savez(file, **{f"ann/{name}": values for name, values in arrays.items()})
    voices = list(nearness.voices(file, "train"))
    assert [voice.meets[0].sum() for voice in voices] == [1, 1] and voices[0].meets[11].all()
    numbers = nearness.train(voices, epochs=400)
    learned = nearness.log_odds(numbers, vectors.astype(np.float32), turned.astype(np.float32))
    # what is written gives what was trained, less the weight of an end, which training corrects
    read = LearnedNearness({name: np.float32(values) for name, values in numbers.items()})
    np.testing.assert_allclose(
        read.log_odds(vectors.astype(np.float32), turned.astype(np.float32)).T, learned, atol=2e-3
    )
    by_cosine = vectors @ turned.T
    for title, score in (("learned", learned), ("by cosine", by_cosine)):
        nearness.measure(title, voices, [np.asarray(score)] * 2)
    first, second = capsys.readouterr().out.splitlines()
    assert "24 ends; 1.00 among 1" in first and "1.00 among 1," not in second
