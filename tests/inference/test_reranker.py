"""A cross-encoder by name: none, one that cannot be had, and a tiny one of random weights, made here."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reverie.inference.minilm
from reverie.errors import InferenceError
from reverie.inference.loading import load_reranker

TEXTS = [f"{'very ' * (place % 4)}late train number {place}" for place in range(40)]


def test_a_name_that_no_adapter_has() -> None:
    assert load_reranker("none") is None
    for name in ("words", "litellm/x", "sentence-transformers/"):
        with pytest.raises(InferenceError, match=f"No reranker is called {name};"):
            load_reranker(name)


def test_one_that_cannot_be_had_is_one_sentence_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    reranker = load_reranker("sentence-transformers/nobody/nothing")
    assert reranker is not None
    assert reranker.model == "sentence-transformers/nobody/nothing"
    assert reranker.score("Who?", []).shape == (0,)
    there = importlib.util.find_spec("sentence_transformers") is not None
    sentence = "neither a folder of a cross-encoder nor to be had" if there else "needs an extra; install it with: pip"
    for _ in range(2):
        with pytest.raises(InferenceError, match=sentence):
            reranker.score("Who?", ["me"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder that has learnt nothing."""
    torch: Any = pytest.importorskip("torch", reason="the extra sentence-transformers is not installed")
    pytest.importorskip(
        "sentence_transformers", reason="the extra sentence-transformers is not installed", exc_type=ImportError
    )
    import transformers

    root = tmp_path_factory.mktemp("models") / "tiny"
    tokenizer_file = Path(reverie.inference.minilm.__path__[0]) / "tokenizer.json"
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(tokenizer_file), **special).save_pretrained(root)
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.BertConfig(**shape, num_labels=1, initializer_range=0.5)
    transformers.BertForSequenceClassification(config).save_pretrained(root)
    return root


def test_a_cross_encoder_gives_each_text_a_number(folder: Path) -> None:
    reranker = load_reranker(f"sentence-transformers/{folder}")
    assert reranker is not None
    assert reranker.model == "sentence-transformers/tiny"
    scores = reranker.score("When does the train leave?", TEXTS)
    assert scores.shape == (40,) and scores.dtype == np.float32
    assert (scores > 0).all() and (scores < 1).all() and len(set(scores.tolist())) > 1
    alone = [float(reranker.score("When does the train leave?", [text])[0]) for text in TEXTS[:5]]
    assert scores[:5] == pytest.approx(alone, abs=1e-5)
    assert not np.allclose(scores, reranker.score("Who is there?", TEXTS))
    long = reranker.score("When?", ["word " * 2_000])
    assert long.shape == (1,)
