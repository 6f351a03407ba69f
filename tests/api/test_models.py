"""What the API does with models that cost money, that re-rank, and that cannot be had."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.api.app import create_app
from tests.api.conftest import MakeKey, settings_for
from tests.inference.embeddings_server import Answer, EmbeddingsServer
from tests.recall.conftest import Corpus
from tests.recall.test_booked import PricedEmbedder
from tests.recall.test_rerank import WordReranker

ASKED = {"subject_id": "ann", "question": "rose quartz", "why": True}


def serve_with(app: TestClient, **models: Any) -> None:
    state = app.app.state  # type: ignore[attr-defined]
    state.services = replace(state.services, **models)


def test_a_recall_is_reranked_unless_it_says_no(api: TestClient, corpus: Corpus) -> None:
    corpus.turn("quartz quartz quartz quartz")
    corpus.turn("rose quartz and more of it")
    serve_with(api, reranker=WordReranker())
    found = api.post("/v1/recalls", json=ASKED).json()
    assert found["reranker"] == "sentence-transformers/words"
    assert {hit["ranks"]["weighed"] for hit in found["hits"]} == {1, 2}
    rerank = found["hits"][0]["signals"]["rerank"]
    assert rerank["contribution"] == pytest.approx(rerank["value"] * rerank["weight"], rel=1e-5)
    for without in ({"rerank": False}, {"embed": False}):
        plain = api.post("/v1/recalls", json=ASKED | without).json()
        assert plain["reranker"] is None and "rerank" not in plain["hits"][0]["signals"]
    assert api.post("/v1/contexts", json={"subject_id": "ann", "question": "rose quartz"}).status_code == 200


def test_a_reranker_that_cannot_be_had_is_said_in_each_answer(
    database_url: str, make_key: MakeKey, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    corpus.turn("rose quartz")
    settings = settings_for(database_url, reranker="sentence-transformers/nobody/nothing")
    with TestClient(create_app(settings), headers={"Authorization": f"Bearer {make_key()}"}) as client:
        assert any("nobody/nothing" in note for note in client.get("/ready").json()["notes"])
        found = client.post("/v1/recalls", json=ASKED).json()
        context = client.post("/v1/contexts", json={"subject_id": "ann", "question": "rose quartz"}).json()
    assert (len(found["hits"]), found["reranker"]) == (1, None)
    for answer in (found, context):
        assert any("ranked by weighed signals alone" in note for note in answer["notes"])


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingsServer]:
    """The server that litellm calls."""
    if find_spec("litellm") is None:
        pytest.skip("the extra litellm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with EmbeddingsServer() as running:
        monkeypatch.setenv("OPENAI_API_BASE", running.address)
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}).start()
        yield running
        running.shutdown()


@pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")
@pytest.mark.parametrize("answer", [Answer(status=500), Answer(status=429), Answer(delay_s=6)])
def test_a_question_that_a_provider_does_not_embed_is_answered_by_words(
    database_url: str, make_key: MakeKey, corpus: Corpus, provider: EmbeddingsServer, answer: Answer
) -> None:
    corpus.turn("rose quartz")
    settings = settings_for(database_url, embedding_model="litellm/openai/ours", api_seconds=5)
    with TestClient(create_app(settings), headers={"Authorization": f"Bearer {make_key()}"}) as client:
        for path in ("recalls", "contexts"):
            provider.script = [answer] * 9
            began = time.monotonic()
            found = client.post(f"/v1/{path}", json={"subject_id": "ann", "question": "rose quartz"})
            assert (found.status_code, time.monotonic() - began < 5) == (200, True), found.text
            assert any("The embedding model gave no answer" in note for note in found.json()["notes"])


def test_what_a_question_costs_is_booked(api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]) -> None:
    corpus.turn("rose quartz")
    serve_with(api, embedder=PricedEmbedder())
    assert api.post("/v1/recalls", json=ASKED).json()["notes"] == []
    api.post("/v1/contexts", json={"subject_id": "ann", "question": "rose quartz"})
    api.post("/v1/recalls", json=ASKED | {"embed": False})
    booked = conn.execute("select tenant_id, stage, kind, state, cost_usd from ops.calls").fetchall()
    assert booked == [("acme", "recall", "embedding", "done", pytest.approx(0.02))] * 2
    conn.execute("insert into ops.credits (tenant_id, balance_usd) values ('acme', 0)")
    found = api.post("/v1/recalls", json=ASKED).json()
    assert len(found["hits"]) == 1
    assert any("The credit of tenant acme does not allow" in note for note in found["notes"])
