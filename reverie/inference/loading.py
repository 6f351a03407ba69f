"""Loads the embedder, the reranker and the language models that the environment names.

An adapter is imported on first use, since each brings a library that a run with another one must not pay for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reverie.errors import InferenceError

if TYPE_CHECKING:
    from reverie.inference.completions import LanguageModel, Limits
    from reverie.inference.embedder import Embedder
    from reverie.inference.reranker import Reranker
    from reverie.settings import Settings

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


def load_embedder(name: str, *, threads: int = 2, **options: Any) -> Embedder:
    """Return the embedder called `name`: `minilm`, `sentence-transformers/<name or folder>` or `litellm/<model>`.

    `threads` is the number of batches in work at once (requests, for a hosted model); `options` go to the adapter's
    constructor. Raises InferenceError if the name is unknown, or its extra or model is missing.
    """
    adapter, _, model = name.partition("/")
    if name == "minilm":
        from reverie.inference.minilm.onnx import MiniLM

        return MiniLM(threads=threads, **options)
    if adapter == "sentence-transformers" and model:
        from reverie.inference.local import LocalEmbedder

        return LocalEmbedder(model, threads=threads, **options)
    if adapter == "litellm" and model:
        from reverie.inference.hosted import HostedEmbedder

        return HostedEmbedder(model, threads=threads, **options)
    raise InferenceError(
        f"No embedding model is called {name}; use minilm, sentence-transformers/<name or folder> or litellm/<model>."
    )


def load_reranker(name: str) -> Reranker | None:
    """Return the reranker called `name`: `none`, or `sentence-transformers/<name or folder>` of a cross-encoder.

    Raises InferenceError if no adapter has that name; a missing model is only noticed on first use.
    """
    adapter, _, model = name.partition("/")
    if name == "none":
        return None
    if adapter == "sentence-transformers" and model:
        from reverie.inference.cross_encoder import CrossEncoder

        return CrossEncoder(model)
    raise InferenceError(f"No reranker is called {name}; use none or sentence-transformers/<name or folder>.")


def load_language_model(
    name: str,
    *,
    limits: Limits | None = None,
    api_base: str | None = None,
    price: tuple[float, float] | None = None,
) -> LanguageModel | None:
    """Return the model called `name`: `none`, `litellm/<provider>/<model>`, or `recorded/<file>`.

    `price`: US dollars per million tokens in and out, for a model that litellm's price map does not list. Raises
    InferenceError if no adapter has that name, or the file holds no recorded replies.
    """
    adapter, _, model = name.partition("/")
    if name == "none":
        return None
    from reverie.inference.completions import HostedLanguageModel, Limits

    if adapter == "litellm" and model:
        return HostedLanguageModel(model, limits=limits or Limits(), api_base=api_base, price=price)
    if adapter == "recorded" and model:
        from reverie.inference.recorded import load_recorded

        return load_recorded(Path(model), limits=limits or Limits())
    raise InferenceError(
        f"No language model is called {name}; use none, litellm/<provider>/<model> or recorded/<file>."
    )


def language_model_of(settings: Settings) -> LanguageModel | None:
    """Return the model that the environment names, with its limits; None for `none`. Raises InferenceError."""
    from reverie.inference.completions import Limits

    return load_language_model(
        settings.language_model,
        limits=Limits(
            per_second=_per_second(settings.language_model_rate),
            concurrency=settings.language_model_concurrency,
            per_request=settings.language_model_batch,
            attempts=settings.language_model_attempts,
            timeout_s=settings.language_model_seconds,
        ),
        api_base=settings.language_model_base,
        price=_dollars(settings.language_model_price),
    )


def mood_model_of(settings: Settings) -> LanguageModel | None:
    """Return the model for moods within requests: asked once, and never waiting for its turn. Raises InferenceError."""
    from reverie.inference.completions import Limits

    return load_language_model(
        settings.mood_model,
        limits=Limits(
            per_second=_per_second(settings.mood_model_rate),
            patience_s=0.0,
            concurrency=1,
            attempts=1,
            repeats=0,
            timeout_s=settings.mood_model_seconds,
        ),
        api_base=settings.mood_model_base,
        price=_dollars(settings.mood_model_price),
    )


def _per_second(rate: str | None) -> float | None:
    number, _, unit = (rate or "").partition("/")
    return int(number) / _SECONDS[unit] if rate else None


def _dollars(price: str | None) -> tuple[float, float] | None:
    dollars_in, _, dollars_out = (price or "").partition("/")
    return (float(dollars_in), float(dollars_out)) if price else None
