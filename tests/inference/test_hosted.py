"""The litellm adapter against a real server on this machine: good replies, and each way in which one goes wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from reverie.errors import InferenceError
from reverie.inference.embedder import EmbeddingError, collect_lost_texts
from reverie.inference.hosted import HostedEmbedder, Patience
from reverie.inference.loading import load_embedder
from tests.inference.embeddings_server import DIMENSIONS, Answer, EmbeddingsServer, vector_of

if find_spec("litellm") is None:  # imported by what it is tested with, which keeps it from fetching its price map
    pytest.skip("the extra litellm is not installed", allow_module_level=True)

# litellm declares a type of its own in a way that pydantic comments on when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

Load = Callable[..., Any]


@pytest.fixture
def load(server: EmbeddingsServer) -> Load:
    """Load an embedder whose server is ours and whose patience is short."""

    def load_one(**options: Any) -> HostedEmbedder:
        patience = Patience(timeout_s=options.pop("timeout_s", 5.0), attempts=3, backoff_s=0.01)
        where = {"api_base": server.address, "api_key": "none", "dimensions": DIMENSIONS}
        embedder = load_embedder("litellm/openai/ours", **where | options, patience=patience)
        assert isinstance(embedder, HostedEmbedder)
        return embedder

    return load_one


def test_texts_go_in_batches_and_come_back_in_order(server: EmbeddingsServer, load: Load) -> None:
    texts = ["a" * length for length in range(1, 11)]
    vectors = load(batch_size=4).encode(texts)
    expected = np.array([vector_of(text) for text in texts])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert vectors.dtype == np.float32
    assert sorted(len(request["input"]) for request in server.requests) == [2, 4, 4]
    assert load().encode([]).shape == (0, DIMENSIONS)


def test_dimensions_are_found_out_when_nobody_says_them(server: EmbeddingsServer, load: Load) -> None:
    server.script = [Answer(dimensions=5)]
    embedder = load(dimensions=None)
    assert (embedder.model, embedder.dimensions, embedder.price_per_token) == ("litellm/openai/ours", 5, 0.0)
    assert load().model == f"litellm/openai/ours/{DIMENSIONS}"


def test_a_known_model_is_priced_and_measured_without_a_request() -> None:
    embedder = load_embedder("litellm/text-embedding-3-small")
    assert embedder.dimensions == 1536
    assert embedder.price_per_token == pytest.approx(2e-8)
    assert embedder.count_tokens("Hello there, friend") == 4


def test_a_rate_limit_is_waited_out_as_the_server_asks(server: EmbeddingsServer, load: Load) -> None:
    server.script = [Answer(status=429, headers={"Retry-After": "1"})]
    started = time.monotonic()
    assert load().encode(["a"]).shape == (1, DIMENSIONS)
    assert time.monotonic() - started >= 1
    assert len(server.requests) == 2


def test_a_failure_that_passes_is_retried(server: EmbeddingsServer, load: Load) -> None:
    server.script = [Answer(status=500), Answer(status=503)]
    assert load().encode(["a"]).shape == (1, DIMENSIONS)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("answer", "requests", "billed", "sentence"),
    [
        (Answer(status=429, headers={"Retry-After": "0"}), 3, False, "still limited our rate at attempt 3"),
        (Answer(status=500), 3, False, r"failed with InternalServerError \(HTTP 500\)"),
        (Answer(status=401), 1, False, "refused the API key"),
        (Answer(status=400), 1, False, r"failed with BadRequestError \(HTTP 400\)"),
        (Answer(delay_s=1.0), 3, True, "gave no reply within 0.3 s, 3 times"),
        (Answer(drip_s=0.02), 3, True, "gave no reply within 0.3 s, 3 times"),
        (Answer(dimensions=5), 1, True, "answered with 5 dimensions instead of 8"),
        (Answer(drop=1), 1, True, "did not answer with one vector for each of 2 texts"),
        (Answer(value=0.0), 1, True, "a zero or infinite vector"),
        (Answer(value=math.nan), 1, True, "a zero or infinite vector"),
    ],
)
def test_a_failure_that_stays_is_one_sentence_without_the_text(
    server: EmbeddingsServer, load: Load, answer: Answer, requests: int, billed: bool, sentence: str
) -> None:
    server.script = [answer] * requests
    with pytest.raises(EmbeddingError, match=sentence) as caught:
        load(timeout_s=0.3 if answer.delay_s or answer.drip_s else 5.0).encode(["a secret", "another"])
    assert len(server.requests) == requests
    assert "secret" not in str(caught.value) and caught.value.__cause__ is None
    assert caught.value.billed is billed


def test_no_server_is_one_sentence_and_costs_nothing(load: Load) -> None:
    with pytest.raises(EmbeddingError, match="failed with") as caught:
        load(api_base="http://127.0.0.1:9/v1").encode(["a"])
    assert not caught.value.billed


def test_a_request_that_was_answered_is_billed_if_another_fails(server: EmbeddingsServer, load: Load) -> None:
    server.script = [Answer(), Answer(status=401)]
    with pytest.raises(EmbeddingError, match="refused the API key") as caught:
        load(threads=1, batch_size=1).encode(["a", "b"])
    assert caught.value.billed
    server.script = [Answer(delay_s=1.0), Answer(status=401)]
    with pytest.raises(EmbeddingError, match="refused the API key") as caught:
        load(timeout_s=0.3).encode(["a"])
    assert caught.value.billed, "so is one that may have been, if its repetition fails"


def test_a_request_that_was_lost_and_repeated_is_known(server: EmbeddingsServer, load: Load) -> None:
    """The provider may charge for it; not for one that it refused."""
    server.script = [Answer(delay_s=1.0), Answer(status=500)]
    embedder = load(timeout_s=0.3, threads=2, batch_size=1)
    with collect_lost_texts() as lost:
        assert len(embedder.encode(["a", "a"])) == 2
    assert lost == ["a"] and len(server.requests) == 4
    server.script = [Answer(delay_s=1.0)]
    assert len(embedder.encode(["a"])) == 1, "nobody needs to ask"


def test_an_unknown_provider_is_one_sentence() -> None:
    with pytest.raises(InferenceError, match="No provider is known for the model nobody-knows-it"):
        load_embedder("litellm/nobody-knows-it")
