"""Consent through the API: what is refused is answered, and what is not recalled is empty."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey, until_logged
from tests.api.test_live import BRUNO, say
from tests.recall.conftest import Corpus

NOTE = "Recall is off for ann by consent: nothing from memory is returned."


@pytest.fixture
def admin(app: TestClient, make_key: MakeKey) -> TestClient:
    """The app with a key of tenant acme that may do everything."""
    app.headers["Authorization"] = f"Bearer {make_key(scopes=['admin'])}"
    return app


def agree(api: TestClient, subject: str = "ann", **change: Any) -> dict[str, Any]:
    answer = api.put("/v1/consent", json={"subject_id": subject} | change)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_what_is_not_captured_is_refused(admin: TestClient, conn: psycopg.Connection[Any]) -> None:
    agree(admin, "ana", capture=False)
    (turn,) = say(admin, BRUNO).json()["turns"]
    assert (turn["status"], turn["reason"], turn["extracted"]) == ("refused", "capture_off", [])
    given = {"subject_id": "ana", "category": "fact", "content": "Is tall."}
    (event,) = admin.post("/v1/observations", json=given).json()["events"]
    assert (event["status"], event["reason"]) == ("refused", "capture_off")
    outcome = {
        "subject_id": "ana",
        "session_id": "s1",
        "source_id": "t1",
        "metric": "views",
        "value": 1,
        "positive": True,
    }
    assert admin.post("/v1/outcomes", json={"outcomes": [outcome]}).json() == {"added": 0, "repeated": 0, "refused": 1}
    for table in ("log.turns", "log.events", "log.outcomes", "ops.pending_turns", "ops.sessions", "ops.embeddings"):
        assert conn.execute(f"select count(*) from {table}").fetchone() == (0,), table  # noqa: S608
    agree(admin, "ana", capture=True)
    assert say(admin, BRUNO).json()["turns"][0]["status"] == "added"


def test_the_words_of_who_is_not_captured_are_stored_nowhere(
    admin: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]
) -> None:
    corpus.memory("Found quartz in the garden")
    agree(admin, capture=False)
    asked = {"subject_id": "ann", "question": "quartz and hidden words"}
    assert admin.post("/v1/recalls", json=asked).json()["hits"], "recall is another setting"
    assert admin.post("/v1/contexts", json=asked).status_code == 200
    lessons = {"subject_id": "ann", "session_id": "s1", "message": asked["question"]}
    assert admin.post("/v1/lessons", json=lessons).status_code == 200
    assert admin.post("/v1/recalls", json=asked | {"subject_id": "eva"}).status_code == 200
    until_logged(admin)
    logged = conn.execute("select distinct subject_id, question from log.recalls order by 1").fetchall()
    assert logged == [("ann", ""), ("eva", asked["question"])]
    place = {"subject_id": "ann", "session_id": "s1"}
    refused = admin.patch("/v1/working_memory", json=place | {"preferences": ["Hidden words"]})
    assert refused.status_code == 409 and "Capture is off" in refused.json()["detail"]
    assert conn.execute("select from ops.sessions").fetchall() == []
    assert admin.patch("/v1/working_memory", json=place | {"preferences": []}).status_code == 200


def test_a_refused_crisis_brings_help_without_a_review(admin: TestClient, conn: psycopg.Connection[Any]) -> None:
    agree(admin, "ana", capture=False)
    (turn,) = say(admin, {"role": "user", "text": "I want to die"}).json()["turns"]
    assert turn["crisis"]["helplines"] and turn["crisis"]["review"] is False
    assert conn.execute("select from ops.reviews").fetchall() == []


def test_what_is_not_recalled_is_empty(admin: TestClient, corpus: Corpus) -> None:
    quartz = str(corpus.memory("Found quartz in the garden"))
    asked = {"subject_id": "ann", "question": "quartz"}

    def hits() -> list[str]:
        return [hit["id"] for hit in admin.post("/v1/recalls", json=asked).json()["hits"]]

    assert hits() == hits() == [quartz], "the second time from the cache"
    agree(admin, recall=False)
    found = admin.post("/v1/recalls", json=asked).json()
    assert (found["hits"], found["notes"][-1]) == ([], NOTE)
    context = admin.post("/v1/contexts", json=asked).json()
    assert "quartz in the garden" not in context["text"] and NOTE in context["notes"]
    staged = admin.post("/v1/recalls/staged", json=asked).json()
    assert staged["facts"] == [] and NOTE in staged["notes"]
    agree(admin, recall=True)
    assert hits() == [quartz]


def test_a_consent_is_read_and_changed_by_who_may(admin: TestClient, make_key: MakeKey) -> None:
    assert admin.get("/v1/consent", params={"subject_id": "ann"}).json()["changed_at"] is None
    assert agree(admin, retain_days=30, actor="sam")["retain_days"] == 30
    changed = agree(admin, recall=False)
    assert (changed["retain_days"], changed["recall"], changed["actor"]) == (30, False, "test")
    assert agree(admin, retain_days=0)["retain_days"] is None
    assert admin.put("/v1/consent", json={"subject_id": "ann", "retain_days": -1}).status_code == 422
    admin.headers["Authorization"] = f"Bearer {make_key()}"
    assert admin.put("/v1/consent", json={"subject_id": "ann"}).status_code == 403
    assert admin.get("/v1/consent", params={"subject_id": "ann"}).json()["recall"] is False
