"""What every route has in common: errors that name the field, limits, figures, readiness."""

from __future__ import annotations

import logging
import re
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.api import turn_reader
from reverie.api.app import create_app
from tests.api.conftest import MakeKey, settings_for
from tests.recall.conftest import START, Corpus


def test_an_invalid_field_is_named_and_not_shown(api: TestClient) -> None:
    sent = {
        "outcomes": [{"subject_id": "hunter2\0", "session_id": "s", "metric": "m", "value": 1, "positive": "hunter2"}]
    }
    answer = api.post("/v1/outcomes", json=sent)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert [each["pointer"] for each in found["errors"]] == [
        "#/outcomes/0/subject_id",
        "#/outcomes/0/source_id",
        "#/outcomes/0/positive",
    ]
    assert (found["status"], found["title"]) == (422, "Not valid")
    assert "hunter2" not in answer.text


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("", "query/subject_id"),
        ("?subject_id=ann&limit=0", "query/limit"),
        ("?subject_id=ann&cursor=zzz", "query/cursor"),
        ("?subject_id=ann&kinds=opinion", "query/kinds/0"),
        ("?subject_id=ann&as_of=2026-01-01T00:00:00", "query/as_of"),
        ("?subject_id=ann&since=0001-01-01T00:00:00Z", "query/since"),
        ("?subject_id=%00", "query/subject_id"),
    ],
)
def test_a_wrong_parameter_is_named(api: TestClient, query: str, pointer: str) -> None:
    answer = api.get(f"/v1/memories{query}")
    assert (answer.status_code, [each["pointer"] for each in answer.json()["errors"]]) == (422, [pointer])


def test_a_misspelt_field_is_not_silently_ignored(api: TestClient) -> None:
    answer = api.post("/v1/recalls", json={"subject_id": "ann", "question": "x", "topk": 3})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/topk")


def test_what_is_no_json_is_said_to_be_none(api: TestClient) -> None:
    answer = api.post("/v1/recalls", content=b"{", headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["title"]) == (400, "The body is not JSON")


@pytest.mark.parametrize(
    ("content", "kind", "status", "pointer"),
    [
        (b"\xff", "application/json", 400, None),
        (b"[" * 100_000, "application/json", 400, None),
        (b"", "application/json", 422, "#/"),
        (b"null", "application/json", 422, "#/"),
        (b"[]", "application/json; charset=utf-8", 422, "#/"),
        (b"{}", "application/merge+json", 422, "#/subject_id"),
        (b"{}", "text/plain", 415, None),
        (b"{}", "", 415, None),
    ],
)
def test_a_body_that_is_no_object(api: TestClient, content: bytes, kind: str, status: int, pointer: str | None) -> None:
    answer = api.post("/v1/recalls", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status
    assert [each["pointer"] for each in answer.json()["errors"]][:1] == ([pointer] if pointer else [])


def test_who_has_no_key_is_told_nothing_of_the_body(api: TestClient) -> None:
    answer = api.post("/v1/recalls", json={"subject": "ann"}, headers={"Authorization": "Basic YTpi"})
    assert (answer.status_code, answer.json()["errors"]) == (401, [])


def test_paths_and_methods_that_are_none(api: TestClient) -> None:
    assert api.get("/v1/nothing").json()["detail"] == "There is no such path."
    answer = api.delete("/v1/recalls")
    assert (answer.status_code, answer.json()["status"]) == (405, 405)
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("announced", [True, False])
def test_a_large_request_is_refused(database_url: str, make_key: MakeKey, announced: bool) -> None:
    body = b'{"subject_id": "ann", "question": "' + b"x" * 3000 + b'"}'
    with TestClient(create_app(settings_for(database_url, api_bytes=2048))) as app:
        headers = {"Authorization": f"Bearer {make_key()}", "Content-Type": "application/json"}
        sent: Any = body if announced else iter([body[:1500], body[1500:]])
        answer = app.post("/v1/recalls", content=sent, headers=headers)
        assert (answer.status_code, answer.json()["status"]) == (413, 413)


def test_a_slow_request_is_given_up(database_url: str, make_key: MakeKey, conn: psycopg.Connection[Any]) -> None:
    with TestClient(create_app(settings_for(database_url, api_seconds=0.5))) as app:
        headers = {"Authorization": f"Bearer {make_key()}"}
        assert app.get("/v1/memories?subject_id=ann", headers=headers).status_code == 200
        with conn.transaction():
            conn.execute("lock table memory.memories")
            answer = app.get("/v1/memories?subject_id=ann", headers=headers)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert app.get("/v1/memories?subject_id=ann", headers=headers).status_code == 200


def test_a_mistake_of_ours_tells_nothing(
    api: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said = "hunter2"

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(said)

    monkeypatch.setattr("reverie.api.routes.memories.page_memories", broken)
    with caplog.at_level(logging.ERROR, "reverie.api"):
        answer = api.get("/v1/memories?subject_id=ann")
    assert (answer.status_code, answer.json()["detail"]) == (500, "This is a bug in Reverie; it is logged.")
    assert "RuntimeError in GET /v1/memories" in caplog.text
    assert said not in caplog.text + answer.text


def test_metrics_count_by_template_and_hold_no_text(api: TestClient) -> None:
    api.get("/v1/memories?subject_id=hunter2")
    api.get("/v1/memories/019b8d6a-7f10-8c41-9a2b-1c6a3f1d2e4f")
    api.get("/hunter2")
    text = api.get("/metrics").text
    assert 'reverie_answers_total{method="GET",route="/v1/memories",status="200"} 1.0' in text
    assert 'reverie_answers_total{method="GET",route="/v1/memories/{memory_id}",status="404"} 1.0' in text
    assert 'reverie_answers_total{method="GET",route="none",status="404"} 1.0' in text
    assert re.search(r'reverie_request_seconds_count\{method="GET",route="/v1/memories"\} 1.0', text)
    assert "reverie_pool_reader_connections 1.0" in text
    assert "hunter2" not in text and "019b8d6a" not in text and "acme" not in text


def test_health_and_readiness_need_no_key(app: TestClient) -> None:
    assert app.get("/health").json() == {"status": "ok"}
    ready = app.get("/ready").json()
    assert (ready["status"], ready["embedding_model"]) == ("ready", None)
    assert ready["notes"] == [
        "No embedding model is called none; use minilm, sentence-transformers/<name or folder> or litellm/<model>."
    ]


def test_the_documentation_needs_nothing_from_elsewhere(app: TestClient) -> None:
    page = app.get("/docs")
    assert page.status_code == 200
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(loaded) >= 3 and "http" not in page.text
    for each in loaded:
        answer = app.get(each)
        assert answer.status_code == 200 and len(answer.content) > 500, each
    assert re.search(r"url: '/openapi.json'", page.text)


def test_the_root_says_what_serves(app: TestClient) -> None:
    found = app.get("/").json()
    assert found["name"] == "Reverie"
    for name in ("documentation", "openapi", "ready"):
        assert app.get(found[name]).status_code == 200


@pytest.mark.parametrize("kind", [None, "", "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_must_say_that_it_is_json(api: TestClient, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = api.post("/v1/recalls", content=b'{"subject_id": "ann", "question": "x"}', headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (415, "application/problem+json")
    assert answer.json()["detail"] == "The body must be JSON, with Content-Type: application/json."


def test_numbers_are_rounded_to_what_they_mean(api: TestClient, corpus: Corpus) -> None:
    corpus.memory("Likes quartz", at=START, importance=0.8)
    (listed,) = api.get("/v1/memories", params={"subject_id": "ann", "as_of": START.isoformat()}).json()["memories"]
    assert listed["importance"] == 0.8
    recalled = api.post("/v1/recalls", json={"subject_id": "ann", "question": "quartz", "why": True}).text
    assert not re.search(r"\d\.\d{7,}", recalled)
    explained = api.get(f"/v1/memories/{listed['id']}").text
    assert not re.search(r"\d\.\d{7,}", re.sub(r'"[^"]*"', "", explained))


def test_the_app_counts_tokens_without_keeping_texts(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(create_app(settings_for(database_url, embedding_model="minilm"))) as client:
        services = client.app.state.services  # type: ignore[attr-defined]
        assert services.count_tokens == services.embedder.count_tokens
    monkeypatch.setattr(turn_reader.os, "nice", lambda _: 0)
    monkeypatch.setattr(turn_reader, "_end_with_parent", lambda: None)
    monkeypatch.setattr(turn_reader, "_count_tokens", None, raising=False)
    turn_reader._begin("minilm")
    assert turn_reader._count_tokens.__name__ == "count_tokens", "nor does the process that reads long texts"
