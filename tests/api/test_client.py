"""The client that ships with the package, against the app itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.client import ApiError, Client, Turn
from tests.api.conftest import MakeKey
from tests.recall.conftest import Corpus

BRUNO = Turn(role="user", speaker="Ana", text="I have a golden retriever named Bruno.", source_id="t1")


@pytest.fixture
def memory(app: TestClient, make_key: MakeKey) -> Iterator[Client]:
    with Client("http://testserver", make_key(), transport=app._transport) as client:
        yield client


def test_a_conversation(memory: Client) -> None:
    (heard,) = memory.append("ana", "s1", [BRUNO], embed=False)
    assert (heard.status, heard.source_id) == ("added", "t1")
    assert [each.content for each in heard.extracted if each.kind == "fact"] == ["Has a golden retriever named Bruno"]
    assert heard.mood is not None and heard.crisis is None
    assert memory.hold("ana", "s1", preferences=["Short answers"]).preferences == ["Short answers"]
    assert [turn["text"] for turn in memory.working_memory("ana", "s1").turns] == [BRUNO.text]
    assert BRUNO.text in memory.context("ana", session_id="s1", question="And today?").text
    assert memory.close_session("ana", "s1") == 1


def test_a_turn_without_an_id_gets_one(memory: Client) -> None:
    said_at = datetime(2026, 3, 1, tzinfo=UTC)
    first, second = (memory.append("ana", "s1", [Turn(role="user", text="Yes.", said_at=said_at)])[0] for _ in range(2))
    assert first.status == second.status == "added"
    assert first.source_id != second.source_id


def test_what_is_remembered(memory: Client, corpus: Corpus) -> None:
    ids = [corpus.memory(f"Found quartz number {number}") for number in range(3)]
    assert {hit.id for hit in memory.recall("ann", "quartz", why=True).hits} == set(ids)
    assert [each.id for each in memory.memories("ann", limit=1)] == ids[::-1], "three pages"
    assert memory.explain(ids[0])["memory"]["content"] == "Found quartz number 0"
    assert memory.profile("ann")["subject_id"] == "ann"


def test_what_comes_back(memory: Client, corpus: Corpus, conn: psycopg.Connection[Any]) -> None:
    wrong = corpus.memory("Is allergic to peanuts")
    memory.correct(wrong, content="Is allergic to walnuts")
    assert isinstance(memory.observe("ann", "Prefers tea", category="preference"), UUID)
    memory.record_outcome("ann", "s1", "1", metric="views", value=5, positive=True, observed_at=datetime.now(UTC))
    for table in ("corrections", "events", "outcomes"):
        assert conn.execute(f"select count(*) from log.{table}").fetchone() == (1,)  # noqa: S608


def test_a_refusal_names_the_field(memory: Client) -> None:
    with pytest.raises(ApiError, match="404") as missing:
        memory.working_memory("ana", "none")
    assert missing.value.status == 404
    with pytest.raises(ApiError) as wrong:
        memory.recall("ana", "x", top_k=0)
    assert [each["pointer"] for each in wrong.value.errors] == ["#/top_k"]


def test_what_passes_is_tried_again() -> None:
    asked: list[str] = []

    def busy(request: httpx.Request) -> httpx.Response:
        asked.append(request.content.decode())
        if len(asked) == 1:
            raise httpx.ConnectError("not yet")
        if len(asked) == 2:
            return httpx.Response(503, headers={"Retry-After": "0"}, json={"detail": "Busy."})
        return httpx.Response(200, json={"turns": []})

    with Client("http://x", "key", transport=httpx.MockTransport(busy)) as memory:
        memory.append("ana", "s1", [Turn(role="user", text="Yes.")])
        assert len(asked) == 3 and len(set(asked)) == 1, "the same request with the same id"


def test_what_does_not_pass_is_raised() -> None:
    asked = []

    def away(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(500, text="oops")

    with Client("http://x", "key", transport=httpx.MockTransport(away)) as memory, pytest.raises(ApiError, match="500"):
        memory.recall("ana", "x")
    assert len(asked) == 1
