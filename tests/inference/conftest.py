"""The default embedder, loaded once, and a server to call."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from reverie.inference.minilm.onnx import MiniLM
from tests.inference.embeddings_server import EmbeddingsServer


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    """Listening on a free port of the loopback interface."""
    with EmbeddingsServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def minilm() -> MiniLM:
    """On two threads, the default."""
    return MiniLM(threads=2)
