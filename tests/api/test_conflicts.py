"""GET /v1/conflicts: memories that cannot both hold, page by page."""

from typing import Any
from uuid import UUID

import psycopg
from fastapi.testclient import TestClient

from tests.recall.conftest import Corpus, day


def test_conflicts_page_by_page(api: TestClient, conn: psycopg.Connection[Any], corpus: Corpus) -> None:
    for number in range(3):
        pair = corpus.memory(f"Lives in Oslo {number}"), corpus.memory(f"Lives in Bergen {number}")
        conn.execute(
            "insert into memory.conflicts (tenant_id, subject_id, memory_id, other_id, relation, reason, since, run_id)"
            " values (%s, %s, %s, %s, 'lives_in', 'same_session', %s, %s)",
            [corpus.tenant, corpus.subject, *pair, day(number), UUID(int=0)],
        )
    first = api.get("/v1/conflicts", params={"limit": 2}).json()
    assert [each["content"] for each in first["conflicts"]] == ["Lives in Oslo 2", "Lives in Oslo 1"]
    rest = api.get("/v1/conflicts", params={"cursor": first["next_cursor"], "subject_id": "ann"}).json()
    assert [each["other_content"] for each in rest["conflicts"]] == ["Lives in Bergen 0"]
    assert rest["next_cursor"] is None
    assert api.get("/v1/conflicts", params={"subject_id": "nobody"}).json()["conflicts"] == []
    assert api.get("/v1/conflicts", params={"cursor": "x"}).status_code == 422
