"""GET /v1/signals: how a subject stands, and its figures by day and week."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

import psycopg
from fastapi.testclient import TestClient

from tests.cli.conftest import insert


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
    past = {"subject_id": "ana", "weekly": True, "as_of": "2026-01-05T12:00:00Z"}
    (so_far,) = api.get("/v1/signals", params=past).json()["figures"]
    assert (so_far["day"], so_far["messages"], so_far["happy"]) == ("2026-01-05", 2, 1), "Tuesday is still to come"
