"""Connections as a caller meets them: their cached tools, in lists and in contexts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
from fastapi.testclient import TestClient

from tests.recall.conftest import LATER


def test_tools_of_active_connections_are_cached_until_they_are_out_of_date(
    api: TestClient, conn: psycopg.Connection[Any]
) -> None:
    def put(name: str, tools: list[Any], **given: Any) -> Any:
        return api.put(
            "/v1/connection_tools", json={"subject_id": "ann", "connection_id": name, "tools": tools} | given
        )

    assert put("jira-1", ["jira.search"]).status_code == 200
    assert put("jira-1", ["jira.search", {"name": "jira.create", "description": "Create."}]).status_code == 200
    assert put("mail-1", ["mail.send"], ttl_hours=1).status_code == 200
    assert put("x", ["a"], ttl_hours=0).status_code == 422

    def context(**given: Any) -> dict[str, Any]:
        answer: dict[str, Any] = api.post("/v1/contexts", json={"subject_id": "ann", "mode": "active"} | given).json()
        return answer

    assert "jira" not in context()["text"] + context(connections=[])["text"]
    both = context(connections=["jira-1", "mail-1"], tools=["jira.search"])
    assert both["text"].count("jira.search") == 1 and "jira.create" in both["text"] and "mail.send" in both["text"]
    assert "mail.send" not in context(connections=["jira-1"])["text"]
    conn.execute(
        "update ops.connection_tools set read_at = read_at - interval '2 hours',"
        " expires_at = expires_at - interval '2 hours'"
    )
    later = context(connections=["jira-1", "mail-1"])
    assert "mail.send" not in later["text"] and "jira.create" in later["text"]
    assert any(note.startswith("The tools of mail-1 were read at") for note in later["notes"])
    listed = api.get("/v1/connections?subject_id=ann").json()["connections"]
    assert [(one["connection_id"], one["is_fresh"]) for one in listed] == [("jira-1", True), ("mail-1", False)]
    assert api.get("/v1/connections?subject_id=bob").json() == {"connections": []}


def test_another_subjects_and_tenants_tools_are_their_own(api: TestClient, make_key: Callable[..., str]) -> None:
    api.put("/v1/connection_tools", json={"subject_id": "ann", "connection_id": "jira-1", "tools": ["mine"]})
    assert api.get("/v1/connections?subject_id=ann").json()["connections"]
    api.headers["Authorization"] = f"Bearer {make_key('other')}"
    assert api.get("/v1/connections?subject_id=ann").json() == {"connections": []}
    asked = {"subject_id": "ann", "connections": ["jira-1"]}
    assert "mine" not in api.post("/v1/contexts", json=asked).json()["text"]


def test_a_stale_answer_does_not_replace_a_newer_one(api: TestClient, conn: psycopg.Connection[Any]) -> None:
    conn.execute(
        "insert into ops.connection_tools values ('acme', 'ann', 'jira-1', '[\"later\"]', %s, %s)",
        [LATER + timedelta(days=36_500), LATER + timedelta(days=36_501)],
    )
    api.put("/v1/connection_tools", json={"subject_id": "ann", "connection_id": "jira-1", "tools": ["now"]})
    (one,) = api.get("/v1/connections?subject_id=ann").json()["connections"]
    assert one["tools"]["tools"] == ["later"]
