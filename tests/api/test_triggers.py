"""Triggers, signals and webhooks over HTTP."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import MakeKey
from tests.cli.conftest import insert

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


def test_signals_of_a_subject(api: TestClient, conn: psycopg.Connection[Any]) -> None:
    assert api.get("/v1/signals", params={"subject_id": "ana"}).status_code == 404
    counts = "received sessions begun own_begun words questions emoji formal happy sad anxious excited neutral angry"
    counts += " frustrated flirty bored grateful high_energy low_energy crises"
    for day in (5, 6):
        insert(
            conn, "memory.signals", subject_id="ana", counterpart="assistant", day=date(2026, 1, day),
            messages=2, **dict.fromkeys(counts.split(), 1), run_id=UUID(int=0),
        )  # fmt: skip
    conn.execute(
        """insert into memory.ties (tenant_id, subject_id, day, zone, churn_risk, strength, why, run_id)
           values ('acme', 'ana', '2026-01-06', 'UTC', 0.2, 0.5, '{"depth": 0.5}', %s)""",
        [UUID(int=0)],
    )
    found = api.get("/v1/signals", params={"subject_id": "ana"}).json()
    assert [row["day"] for row in found["figures"]] == ["2026-01-06", "2026-01-05"]
    assert (found["standing"]["churn_risk"], found["standing"]["difficult_since"]) == (0.2, None)
    (week,) = api.get("/v1/signals", params={"subject_id": "ana", "weekly": True}).json()["figures"]
    assert (week["day"], week["messages"]) == ("2026-01-05", 4)


def test_webhooks_are_for_administrators(app: TestClient, make_key: MakeKey) -> None:
    url = "https://example.org/hook"
    app.headers["Authorization"] = f"Bearer {make_key()}"
    assert app.get("/v1/webhooks").status_code == 403
    app.headers["Authorization"] = f"Bearer {make_key(scopes=('admin',))}"
    assert app.post("/v1/webhooks", json={"url": url, "events": ["all"]}).status_code == 422
    assert app.post("/v1/webhooks", json={"url": "ftp://x", "events": ["trigger.due"]}).status_code in (400, 422)
    made = app.post("/v1/webhooks", json={"url": url, "events": ["trigger.due"]}).json()
    assert made["secret"].startswith("whsec_")
    (listed,) = app.get("/v1/webhooks").json()["webhooks"]
    assert (listed["id"], listed["url"], listed["waiting"], "secret" in listed) == (made["id"], url, 0, False)
    assert app.post(f"/v1/webhooks/{made['id']}/replay").json() == {"messages": 0}
    assert app.delete(f"/v1/webhooks/{made['id']}").status_code == 200
    assert app.delete(f"/v1/webhooks/{uuid4()}").status_code == 404
