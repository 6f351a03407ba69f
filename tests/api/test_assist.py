"""Tools, lessons, inboxes and states over the API: what they answer without a model, and what they refuse."""

from __future__ import annotations

from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey
from tests.recall.conftest import Corpus


def test_without_a_model_the_answers_say_so(api: TestClient, corpus: Corpus) -> None:
    corpus.memory("Loves tea", kind="preference")
    asked = {"subject_id": "ann", "message": "What about a cup of tea in the garden?"}
    for path in ("tool_suggestions", "lessons"):
        found = api.post(f"/v1/{path}", json=asked).json()
        assert "No embedding model" in found["notes"][0]
    found = api.post("/v1/inbox_rankings", json={"subject_id": "ann", "items": [{"id": "1", "text": "Tea"}]}).json()
    assert [each["id"] for each in found["items"]] == ["1"] and "No embedding model" in found["notes"][0]


def test_states_are_polled_with_a_cursor(api: TestClient, corpus: Corpus) -> None:
    for name in ("ann", "bob"):
        Corpus(corpus.conn, subject=name).memory("Loves tea", kind="preference")
    first = api.get("/v1/states", params={"limit": 1}).json()
    assert ([each["subject_id"] for each in first["states"]], first["more"]) == (["ann"], True)
    second = api.get("/v1/states", params={"cursor": first["cursor"]}).json()
    assert ([each["subject_id"] for each in second["states"]], second["more"]) == (["bob"], False)
    third = api.get("/v1/states", params={"cursor": second["cursor"]}).json()
    assert (third["states"], third["cursor"]) == ([], second["cursor"])
    only = api.get("/v1/states", params={"subject_id": "bob"}).json()["states"]
    assert [rule["content"] for rule in only[0]["state"]["rules"]] == ["Loves tea"]


def test_what_is_no_cursor_or_no_item_is_refused(api: TestClient) -> None:
    assert api.get("/v1/states", params={"cursor": "WyItMSJd"}).status_code == 422
    refused = api.post("/v1/inbox_rankings", json={"subject_id": "ann", "items": [{"id": "1", "txt": "Tea"}]})
    assert refused.status_code == 422 and "#/items/0/txt" in str(refused.json()["errors"])
    assert api.post("/v1/inbox_rankings", json={"subject_id": "ann", "items": []}).status_code == 422


def test_a_key_that_may_only_write_is_refused(app: TestClient, make_key: MakeKey) -> None:
    app.headers["Authorization"] = f"Bearer {make_key(scopes=['write'])}"
    assert app.get("/v1/states").status_code == 403
    assert app.post("/v1/lessons", json={"subject_id": "ann", "message": "x"}).status_code == 403
