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


def in_new(databases: Databases, sample: Path, work: Callable[[Store], None]) -> dict[str, TableDigest]:
    """The digest of a database of its own that has the history, after some work."""
    with databases() as url, Store.open(url, size=4) as store, connect(url) as conn:
        import_file(store, sample, tenant_id=TENANT, now=UNTIL)
        work(store)
        return digest_of(conn, TENANT).tables


@pytest.mark.parametrize(
    "fault",
    [Answer(status=500), Answer(delay_s=3), Answer(drip_s=0.02), Answer(drop=1), Answer(value=float("nan"))],
    ids=["fails", "hangs", "drips", "leaves one out", "garbles"],
)
def test_the_nth_call_of_the_embedder(
    fault: Answer, databases: Databases, sample: Path, vectors: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    embedder = HostedEmbedder(
        "openai/ours", api_base=vectors.address, dimensions=DIMENSIONS, batch_size=24, threads=1,
        patience=Patience(attempts=1),
    )  # fmt: skip
    embedder.encode(["What a first call imports is not the server's fault."])
    embedder._patience = Patience(attempts=1, timeout_s=2.0)

    def remember(store: Store) -> None:
        extract(Work(store=store, embedder=WordEmbedder(), **COMMON))
        embed(Work(store=store, embedder=embedder, **COMMON))

    def disturbed(store: Store) -> None:
        vectors.script = [Answer()] * call + [fault]
        with pytest.raises(InferenceError):
            remember(store)
        assert not vectors.script
        remember(store)

    vectors.requests.clear()
    clean, calls = in_new(databases, sample, remember), len(vectors.requests)
    assert calls >= 4
    for call in spread(calls):
        assert in_new(databases, sample, disturbed) == clean, call


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
    databases: Databases,
    sample: Path,
    chat: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    limits = Limits(concurrency=1, per_request=10, attempts=1, timeout_s=2.0)
    model = HostedLanguageModel("openai/ours", api_base=chat.address, limits=limits, price=(0.0, 0.0))

    model.warm()

    def read(store: Store) -> dict[str, int | float]:
        return extract(Work(store=store, embedder=WordEmbedder(), language_model=model, **COMMON)).counts

    def disturbed(store: Store) -> None:
        chat.script(*[{}] * call, fault)
        try:
            counts = read(store)
            assert counts[count] > 0
        except UnansweredError:  # there was no other call
            assert calls == 1
        if count == "asked_again":
            assert counts["waiting"] == 0, "asked again at once, it answered"
        assert read(store)["waiting"] == 0

    chat.script()
    clean = in_new(databases, sample, lambda store: read(store) and None)
    calls = len(chat.requests)
    assert calls >= 4
    for call in spread(calls):
        assert in_new(databases, sample, disturbed) == clean, call
