"""The key-value store over HTTP: one batch, a result for each operation; erased with its subject."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey


def run(api: TestClient, *operations: dict[str, Any]) -> list[dict[str, Any]]:
    answer = api.post("/v1/store", json={"operations": operations})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["results"])


def put(key: str, value: dict[str, Any] | None, *namespace: str) -> dict[str, Any]:
    return {"op": "put", "namespace": namespace, "key": key, "value": value}


def test_a_batch(api: TestClient, make_key: MakeKey) -> None:
    get = {"op": "get", "namespace": ["ana", "pets"], "key": "a"}
    first = run(api, put("a", {"name": "Rex"}, "ana", "pets"), get, put("b", {"name": "Max"}, "ana", "pets"))
    assert [result["items"] for result in first] == [[], [], []]  # reads see the state before
    found, searched, listed, ended = run(
        api,
        get,
        {"op": "search", "prefix": ["ana"], "filter": {"name": "Max"}},
        {"op": "list_namespaces", "match_conditions": [{"match_type": "prefix", "path": ["*", "pets"]}]},
        {"op": "pop", "namespace": ["ana", "pets"]},
    )
    assert found["items"][0]["value"] == {"name": "Rex"} and [each["key"] for each in searched["items"]] == ["b"]
    assert listed["namespaces"] == [["ana", "pets"]] and ended["items"][0]["key"] == "b"
    run(api, {"op": "clear", "namespace": ["ana", "pets"]})
    assert run(api, get)[0]["items"] == []
    api.headers["Authorization"] = f"Bearer {make_key('other')}"
    assert run(api, {"op": "search"})[0]["items"] == []


def test_bad_operations_are_refused(api: TestClient) -> None:
    for operation in (
        {"op": "put", "namespace": [], "key": "a", "value": {}},
        {"op": "get", "namespace": ["x"], "key": "k" * 201},
        {"op": "drop"},
        put("a", {"text": "\x00"}, "x"),
    ):
        assert api.post("/v1/store", json={"operations": [operation]}).status_code in (400, 422), operation
    bad = {"op": "search", "filter": {"age": {"$near": 1}}}
    assert api.post("/v1/store", json={"operations": [bad]}).status_code == 422


def test_a_batch_that_is_refused_removes_nothing(api: TestClient) -> None:
    run(api, put("a", {"name": "Rex"}, "ana", "pets"))
    bad = put("b", {"text": "\x00"}, "x")
    for operation in ("pop", "clear"):
        batch = [{"op": operation, "namespace": ["ana", "pets"]}, bad]
        assert api.post("/v1/store", json={"operations": batch}).status_code == 422
        assert [item["key"] for item in run(api, {"op": "search"})[0]["items"]] == ["a"]


def test_an_erasure_takes_the_items_of_its_subject(app: TestClient, make_key: MakeKey) -> None:
    app.headers["Authorization"] = f"Bearer {make_key(scopes=['admin', 'read', 'write'])}"
    run(app, put("a", {"name": "Rex"}, "pets", "ana"), put("a", {"name": "Max"}, "pets", "ben"))
    answer = app.post("/v1/erasures", json={"kind": "subject", "subject_id": "ana"})
    assert answer.status_code == 200, answer.text
    assert [item["namespace"] for item in run(app, {"op": "search"})[0]["items"]] == [["pets", "ben"]]
