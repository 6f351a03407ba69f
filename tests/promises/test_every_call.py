"""Promise 2 with models: the n-th call of the embedder or of the language model fails, hangs or brings garbage.

The run says so by its rule; repeated with a healthy model, memory is what an undisturbed run makes of it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import import_file
from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.stage import extract
from reverie.errors import InferenceError, UnansweredError
from reverie.inference.completions import HostedLanguageModel, Limits
from reverie.inference.hosted import HostedEmbedder, Patience
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import TableDigest, digest_of
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, database_name
from tests.conftest import Databases
from tests.inference.embeddings_server import DIMENSIONS, Answer, EmbeddingsServer
from tests.models.serving import Server, serving
from tests.promises.every import TENANT, policy
from tests.promises.world import SAMPLE, WordEmbedder, for_tenant, scope

pytestmark = [
    pytest.mark.timeout(1800),
    # looked for and not imported: the import is the engine's, which sees to it that nothing is fetched
    pytest.mark.skipif(find_spec("litellm") is None, reason="needs the extra litellm"),
]

#: Calls of a run that the suite disturbs; `make kills` disturbs each.
SPREAD = None if os.environ.get("REVERIE_KILL_EVERY") else 1
#: Six weeks of the sample history.
UNTIL = datetime(2026, 2, 16, 1, 30, tzinfo=UTC)
COMMON: dict[str, Any] = {"scope": scope(TENANT), "policy": policy(), "as_of": UNTIL}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return for_tenant(SAMPLE, TENANT, tmp_path_factory.mktemp("calls") / "history.jsonl", until=UNTIL)


@pytest.fixture(scope="module")
def chat() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def vectors() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield server
        server.shutdown()


def spread(calls: int) -> list[int]:
    """Numbers of calls, from 0."""
    step = max(calls // (SPREAD or calls), 1)
    return list(range(calls))[step // 2 :: step]


@pytest.fixture(scope="module")
def imported(databases: Databases, sample: Path) -> Iterator[str]:
    """The name of a database whose log has the sample: to copy."""
    with databases() as url:
        with Store.open(url, size=1) as store:
            import_file(store, sample, tenant_id=TENANT, now=UNTIL)
        yield database_name(url)


@pytest.fixture(scope="module")
def extracted(imported: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """The name of a database in which the sample was read, and nothing embedded: to copy."""
    with database_factory.copy(imported) as url:
        with Store.open(url, size=1) as store:
            extract(Work(store=store, embedder=WordEmbedder(), **COMMON))
        yield database_name(url)


def outcome(factory: DatabaseFactory, of: str, work: Callable[[Store], Any]) -> dict[str, TableDigest]:
    """The digest of a copy of a database after some work."""
    with factory.copy(of) as url, Store.open(url, size=4) as store, connect(url) as conn:
        work(store)
        return digest_of(conn, TENANT).tables


class Embedding:
    """The hosted embedder, and what it makes undisturbed."""

    def __init__(self, factory: DatabaseFactory, of: str, vectors: EmbeddingsServer) -> None:
        self._embedder = HostedEmbedder(
            "openai/ours", api_base=vectors.address, dimensions=DIMENSIONS, batch_size=24, threads=1,
            patience=Patience(attempts=1),
        )  # fmt: skip
        self._embedder.encode(["What a first call imports is not the server's fault."])
        self._embedder._patience = Patience(attempts=1, timeout_s=2.0)
        vectors.requests.clear()
        self.clean = outcome(factory, of, self.remember)
        self.calls = len(vectors.requests)

    def remember(self, store: Store) -> None:
        embed(Work(store=store, embedder=self._embedder, **COMMON))


class Reading:
    """The hosted language model, and what it makes undisturbed."""

    def __init__(self, factory: DatabaseFactory, of: str, chat: Server) -> None:
        limits = Limits(concurrency=1, per_request=10, attempts=1, timeout_s=2.0)
        self._model = HostedLanguageModel("openai/ours", api_base=chat.address, limits=limits, price=(0.0, 0.0))
        self._model.warm()
        chat.script()
        self.clean = outcome(factory, of, self.read)
        self.calls = len(chat.requests)

    def read(self, store: Store) -> dict[str, int | float]:
        return extract(Work(store=store, embedder=WordEmbedder(), language_model=self._model, **COMMON)).counts


@pytest.fixture(scope="module")
def key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "none")
        yield


@pytest.fixture(scope="module")
def embedding(key: None, extracted: str, database_factory: DatabaseFactory, vectors: EmbeddingsServer) -> Embedding:
    return Embedding(database_factory, extracted, vectors)


@pytest.fixture(scope="module")
def reading(key: None, imported: str, database_factory: DatabaseFactory, chat: Server) -> Reading:
    return Reading(database_factory, imported, chat)


@pytest.mark.parametrize(
    "fault",
    [Answer(status=500), Answer(delay_s=3), Answer(drip_s=0.02), Answer(drop=1), Answer(value=float("nan"))],
    ids=["fails", "hangs", "drips", "leaves one out", "garbles"],
)
def test_the_nth_call_of_the_embedder(
    fault: Answer, embedding: Embedding, extracted: str, database_factory: DatabaseFactory, vectors: EmbeddingsServer
) -> None:
    def disturbed(store: Store) -> None:
        vectors.script = [Answer()] * call + [fault]
        with pytest.raises(InferenceError):
            embedding.remember(store)
        assert not vectors.script
        embedding.remember(store)

    assert embedding.calls >= 4
    for call in spread(embedding.calls):
        assert outcome(database_factory, extracted, disturbed) == embedding.clean, call


@pytest.mark.parametrize(
    ("fault", "count"),
    [
        ({"status": 500}, "failed_unavailable"),
        ({"hang_s": 3}, "failed_timeout"),
        ({"drip_s": 0.05}, "failed_timeout"),
        ({"half": True}, "failed_broken"),
        ({"content": "I would rather talk."}, "asked_again"),
    ],
    ids=["fails", "hangs", "drips", "breaks off", "garbles"],
)
def test_the_nth_call_of_the_language_model(
    fault: dict[str, Any],
    count: str,
    reading: Reading,
    imported: str,
    database_factory: DatabaseFactory,
    chat: Server,
) -> None:
    def disturbed(store: Store) -> None:
        chat.script(*[{}] * call, fault)
        try:
            counts = reading.read(store)
            assert counts[count] > 0
        except UnansweredError:  # there was no other call
            assert reading.calls == 1
        if count == "asked_again":
            assert counts["waiting"] == 0, "asked again at once, it answered"
        assert reading.read(store)["waiting"] == 0

    assert reading.calls >= 4
    for call in spread(reading.calls):
        assert outcome(database_factory, imported, disturbed) == reading.clean, call
