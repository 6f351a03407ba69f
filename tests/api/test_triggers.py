"""Triggers, signals and webhooks over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey

NOW = datetime.now(UTC)


@pytest.fixture
def triggers(conn: psycopg.Connection[Any], make_key: MakeKey) -> list[UUID]:
    """Of ana: one that is over, two that are due, one that is withheld."""
    make_key()
    ids = []
    for place, (hours, until, withheld) in enumerate([(-9, -8, None), (-3, 3, None), (-2, 3, None), (-1, 3, "cap")]):
        ids.append(uuid4())
        conn.execute(
            """insert into memory.triggers (tenant_id, id, subject_id, kind, audience, happened_at, due_at, until_at,
                                            why, withheld, run_id)
               values ('acme', %s, 'ana', 'silence', 'caller', %s, %s, %s, '{"expected_hours": 9}', %s, %s)""",
            [ids[place], *(NOW + timedelta(hours=each) for each in (hours, hours, until)), withheld, UUID(int=0)],
        )
    return ids


def test_triggers_are_listed_and_acknowledged(api: TestClient, triggers: list[UUID]) -> None:
    first = api.get("/v1/triggers", params={"limit": 1}).json()
    assert [each["id"] for each in first["triggers"]] == [str(triggers[1])]
    assert first["triggers"][0]["why"] == {"expected_hours": 9}
    rest = api.get("/v1/triggers", params={"cursor": first["next_cursor"]}).json()
    assert ([each["id"] for each in rest["triggers"]], rest["next_cursor"]) == ([str(triggers[2])], None)
    done = api.post(f"/v1/triggers/{triggers[1]}/acknowledge", json={"action": "done", "actor": "dana"})
    assert done.json() == {"trigger_id": str(triggers[1]), "subject_id": "ana"}
    again = api.post(f"/v1/triggers/{triggers[1]}/acknowledge", json={"action": "dismissed"})
    assert again.status_code == 200
    assert [each["id"] for each in api.get("/v1/triggers").json()["triggers"]] == [str(triggers[2])]
    every = api.get("/v1/triggers", params={"every": True, "subject_id": "ana"}).json()["triggers"]
    assert [each["id"] for each in every] == [str(id_) for id_ in triggers]
    assert (every[1]["action"], every[1]["actor"], every[3]["withheld"]) == ("done", "dana", "cap")
    assert api.post(f"/v1/triggers/{uuid4()}/acknowledge", json={"action": "done"}).status_code == 404
    assert api.get("/v1/triggers", params={"cursor": "x"}).status_code == 422
    assert api.get("/v1/triggers", params={"subject_id": "ben"}).json()["triggers"] == []


def test_triggers_of_an_earlier_time_are_not_acknowledged_yet(api: TestClient, triggers: list[UUID]) -> None:
    assert api.post(f"/v1/triggers/{triggers[1]}/acknowledge", json={"action": "done"}).status_code == 200
    earlier = {"as_of": NOW.isoformat()}
    due = api.get("/v1/triggers", params=earlier).json()["triggers"]
    assert [each["id"] for each in due] == [str(triggers[1]), str(triggers[2])]
    every = api.get("/v1/triggers", params=earlier | {"every": True}).json()["triggers"]
    assert [each["acted_at"] for each in every] == [None] * 4
