"""Erasure through the API: previewed, done, received, and not taken in again."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey, until_logged
from tests.api.test_live import BRUNO, HERE, say

SUBJECT = {"kind": "subject", "subject_id": "ana"}


@pytest.fixture
def admin(app: TestClient, make_key: MakeKey) -> TestClient:
    """The app with a key of tenant acme that may do everything."""
    app.headers["Authorization"] = f"Bearer {make_key(scopes=['admin'])}"
    return app


def erase(api: TestClient, **body: Any) -> Any:
    return api.post("/v1/erasures", json=body)


def test_a_subject_is_erased_and_stays_so(admin: TestClient, conn: psycopg.Connection[Any]) -> None:
    say(admin, BRUNO, {"source_id": "t2", "role": "user", "text": "I live in Oslo."})
    admin.post("/v1/sessions/close", json=HERE)
    planned = erase(admin, **SUBJECT, preview=True).json()
    assert (planned["turns"], planned["receipt"], planned["preview"]) == (2, None, True)
    done = erase(admin, **SUBJECT, actor="privacy: Dana").json()
    assert (done["turns"], done["receipt"], done["left"]) == (2, 1, False)
    assert conn.execute("select count(*) from ops.sessions").fetchone() == (0,)
    assert erase(admin, **SUBJECT).json()["erased_before"] == 1
    (receipt,) = admin.get("/v1/erasures").json()["receipts"]
    assert (receipt["number"], receipt["kind"], receipt["actor"]) == (1, "subject", "privacy: Dana")
    (turn,) = say(admin, BRUNO).json()["turns"]
    assert (turn["status"], turn["reason"], turn["extracted"], turn["mood"]) == ("refused", "erased", [], None)
    (turn,) = say(admin, BRUNO | {"source_id": "t3"}).json()["turns"]
    assert turn["status"] == "added", "said again, it is new"
    assert conn.execute("select source_id from ops.pending_turns").fetchall() == [("t3",)]


def test_a_turn_and_a_session_are_erased(admin: TestClient, conn: psycopg.Connection[Any]) -> None:
    first, second = say(admin, BRUNO, {"source_id": "t2", "role": "user", "text": "I live in Oslo."}).json()["turns"]
    done = erase(admin, kind="turn", turn_id=first["turn_id"]).json()
    assert (done["turns"], done["receipt"]) == (1, 1)
    window = admin.get("/v1/working_memory", params=HERE).json()
    assert [each["text"] for each in window["turns"]] == ["I live in Oslo."]
    done = erase(admin, kind="session", **HERE).json()
    assert (done["turns"], done["counts"]["ops.sessions"]) == (1, 1)
    page = admin.get("/v1/erasures", params={"limit": 1}).json()
    assert [each["kind"] for each in page["receipts"]] == ["turn"]
    following = admin.get("/v1/erasures", params={"cursor": page["next_cursor"]}).json()["receipts"]
    assert [each["kind"] for each in following] == ["session"]
    assert second["status"] == "added"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"kind": "subject"}, "needs subject_id"),
        ({"kind": "session", "session_id": "s1"}, "needs session_id and subject_id"),
        ({"kind": "turn", "subject_id": "ana"}, "needs turn_id"),
    ],
)
def test_what_is_named_wrongly_is_told(admin: TestClient, body: dict[str, Any], said: str) -> None:
    answer = erase(admin, **body)
    assert answer.status_code == 422 and said in answer.json()["detail"]


def test_what_is_not_there_is_not_found_and_others_may_not(admin: TestClient, make_key: MakeKey) -> None:
    assert erase(admin, kind="subject", subject_id="nobody").status_code == 404
    admin.headers["Authorization"] = f"Bearer {make_key()}"
    assert erase(admin, **SUBJECT).status_code == admin.get("/v1/erasures").status_code == 403


def test_a_question_that_is_not_logged_yet_is_erased(
    admin: TestClient, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reverie.api.journal.PAUSE_SECONDS", 1.0)
    say(admin, BRUNO)
    for _ in range(2):  # the first is logged at once, the second with the next write
        asked = admin.post(
            "/v1/recalls", json={"subject_id": "ana", "question": "Delete all about me.", "embed": False}
        )
        assert asked.status_code == 200
    done = erase(admin, **SUBJECT).json()
    until_logged(admin)
    assert conn.execute("select count(*) from log.recalls").fetchone() == (0,)
    assert done["counts"]["log.recalls"] == 2
