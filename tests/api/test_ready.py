"""Ready is who can serve: it is asked for on the path that requests take, and one caller's 404 is nobody else's 500."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import psycopg
import pytest
from fastapi.testclient import TestClient
from psycopg.sql import SQL, Identifier

from reverie.api.app import create_app
from tests.api.conftest import MakeKey, settings_for


def test_a_404_after_probes_harms_no_reader(app: TestClient, make_key: MakeKey) -> None:
    keys = {tenant: {"Authorization": f"Bearer {make_key(tenant)}"} for tenant in ("acme", "other")}
    for _ in range(8):
        assert app.get("/ready").status_code == 200
    assert app.get(f"/v1/memories/{uuid4()}", headers=keys["acme"]).status_code == 404
    for headers in keys.values():
        for _ in range(3):
            assert app.get("/v1/memories?subject_id=ann", headers=headers).status_code == 200


@pytest.mark.parametrize("role", ["reader", "worker"])
def test_ready_fails_where_requests_fail(app: TestClient, role: str, conn: psycopg.Connection[Any]) -> None:
    assert app.get("/ready").status_code == 200
    conn.execute(SQL("revoke select on memory.memories from {}").format(Identifier(f"reverie_{role}")))
    answer = app.get("/ready")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")


def test_ready_needs_the_schema(app: TestClient, conn: psycopg.Connection[Any]) -> None:
    conn.execute("drop schema memory cascade")
    answer = app.get("/ready")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")


def test_a_read_only_database_is_not_ready_and_no_bug(
    database_url: str, make_key: MakeKey, conn: psycopg.Connection[Any]
) -> None:
    """As after a failover to a standby."""
    key = {"Authorization": f"Bearer {make_key()}"}
    name = Identifier(conn.info.dbname)
    conn.execute(SQL("alter database {} set default_transaction_read_only = on").format(name))
    turn = {"subject_id": "ann", "session_id": "s", "turns": [{"role": "user", "text": "I like tea."}], "embed": False}
    with TestClient(create_app(settings_for(database_url)), headers=key) as app:
        ready, stored = app.get("/ready"), app.post("/v1/turns", json=turn)
        recalled = app.post("/v1/recalls", json={"subject_id": "ann", "question": "tea"})
    assert (ready.status_code, stored.status_code, recalled.status_code) == (503, 503, 200), recalled.text
    assert stored.json()["stored"] == "no"
    assert "accepts no writes" in ready.json()["detail"] and "accepts no writes" in stored.json()["detail"]
