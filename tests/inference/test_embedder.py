"""A setting becomes an embedder, or a sentence."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from reverie.errors import InferenceError
from reverie.inference import extras
from reverie.inference.embedder import Embedder
from reverie.inference.loading import load_embedder
from reverie.installing import install_command


def test_the_default_is_minilm() -> None:
    embedder: Embedder = load_embedder("minilm", threads=1)
    assert (embedder.model, embedder.dimensions, embedder.price_per_token) == ("minilm-l6-v2-int8", 384, 0.0)


@pytest.mark.parametrize("name", ["", "mini", "litellm", "litellm/", "sentence-transformers/", "openai/x"])
def test_an_unknown_name_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InferenceError, match=r"No embedding model is called .*; use minilm, .*\.$"):
        load_embedder(name)


@pytest.mark.parametrize(
    ("name", "extra"),
    [("litellm/openai/x", "litellm"), ("sentence-transformers/x", "sentence-transformers")],
)
def test_a_missing_extra_says_what_to_install(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(module: str) -> None:
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr(extras, "import_module", absent)
    with pytest.raises(InferenceError, match=rf"{re.escape(install_command(extra))}\.$"):
        load_embedder(name)


def test_nothing_heavy_is_imported_before_a_model_is_loaded() -> None:
    code = "import sys, reverie.inference.embedder; print({'onnxruntime', 'litellm', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
