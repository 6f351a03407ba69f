"""The sentence-transformers adapter with a small network of random weights, made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reverie.inference.minilm
from reverie.errors import InferenceError
from reverie.inference.loading import load_embedder

torch: Any = pytest.importorskip("torch", reason="the extra sentence-transformers is not installed")
library: Any = pytest.importorskip(
    "sentence_transformers", reason="the extra sentence-transformers is not installed", exc_type=ImportError
)

TEXTS = [f"{'very ' * (place % 4)}late train number {place}" for place in range(24)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers model of 32 dimensions that has learnt nothing."""
    import transformers

    root = tmp_path_factory.mktemp("models")
    tokenizer_file = Path(reverie.inference.minilm.__path__[0]) / "tokenizer.json"
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(tokenizer_file), **special).save_pretrained(root / "bert")
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    transformers.BertModel(transformers.BertConfig(**shape)).save_pretrained(root / "bert")
    network = library.SentenceTransformer(str(root / "bert"), device="cpu")  # adds the mean of the tokens
    network.max_seq_length = 64
    network.save(str(root / "tiny"))
    return root / "tiny"


def test_vectors_are_unit_rows_and_the_same_bits_in_any_company(folder: Path) -> None:
    embedder = load_embedder(f"sentence-transformers/{folder}", device="cpu")
    assert (embedder.model, embedder.dimensions) == ("sentence-transformers/tiny", 32)
    vectors = embedder.encode(TEXTS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    assert np.array_equal(alone.view(np.int32), vectors.view(np.int32))
    assert embedder.encode([]).shape == (0, 32)
    assert embedder.count_tokens("word " * 100) == 100


def test_a_model_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InferenceError, match="neither a folder of sentence-transformers nor available from its hub"):
        load_embedder("sentence-transformers/nobody/nothing", device="cpu")
