"""What routes answer about a small memory, written row by row."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.store.database import Store
from reverie.testing import conversation, remember
from tests.api.conftest import until_logged
from tests.promises.world import lively
from tests.recall.conftest import LATER, Corpus, day

NOBODY = {"memories": [], "next_cursor": None}


def link(conn: psycopg.Connection[Any], memory: UUID, *mentions: str) -> None:
    """Say that a memory of ann speaks of these."""
    for mention in mentions:
        type_, slug = mention.split(":")
        conn.execute(
            "insert into memory.entities (tenant_id, id, subject_id, type, slug, label, terms, first_seen_at)"
            " values ('acme', ops.entity_id('acme', 'ann', %s), 'ann', %s, %s, %s, %s, %s) on conflict do nothing",
            [mention, type_, slug, slug.title(), [slug], day(1)],
        )
        conn.execute(
            "insert into memory.links (tenant_id, memory_id, entity_id, subject_id, run_id)"
            " values ('acme', %s, ops.entity_id('acme', 'ann', %s), 'ann', %s)",
            [memory, mention, UUID(int=0)],
        )


def test_a_recall_answers_with_its_reasons(api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]) -> None:
    turn = corpus.turn("I found quartz", speaker="Ann")
    memory = corpus.memory("Found quartz", turn=turn)
    corpus.memory("Likes the river")
    sent = {"subject_id": "ann", "question": "quartz?", "as_of": LATER.isoformat(), "why": True}
    found = api.post("/v1/recalls", json=sent).json()
    (hit,) = found["hits"]
    assert UUID(hit["id"]) in (turn, memory)
    assert hit["ranks"] == {"lexical": hit["ranks"]["lexical"]}
    assert hit["signals"]["lexical"]["value"] == pytest.approx(1.0)
    assert sum(each["contribution"] for each in hit["signals"].values()) == pytest.approx(hit["score"], rel=1e-4)
    assert [drop["reason"] for drop in found["dropped"]] == ["same_turn"]
    assert any("words and entities alone" in note for note in found["notes"])
    until_logged(api)
    logged = conn.execute("select id, question, item_ids, dropped from log.recalls").fetchall()
    assert logged == [(UUID(found["id"]), "quartz?", [UUID(hit["id"])], 1)]
    bare = api.post("/v1/recalls", json=sent | {"why": False}).json()
    assert "dropped" not in bare and "signals" not in bare["hits"][0]


def test_a_recall_takes_limits_and_kinds(api: TestClient, corpus: Corpus) -> None:
    for number in range(4):
        corpus.memory(f"Found quartz number {number}", kind="episode" if number % 2 else "fact")

    def hits(**given: Any) -> list[dict[str, Any]]:
        answer = api.post("/v1/recalls", json={"subject_id": "ann", "question": "quartz"} | given)
        found: list[dict[str, Any]] = answer.json()["hits"]
        return found

    assert len(hits()) == 4
    assert len(hits(top_k=1)) == 1
    assert {hit["kind"] for hit in hits(kinds=["episode"])} == {"episode"}
    assert hits(token_budget=0) == []
    assert hits(as_of=day(-1).isoformat()) == []


def test_only_a_summary_says_that_it_compresses_what_was_said(
    api: TestClient, database_url: str, conn: psycopg.Connection[Any]
) -> None:
    """Spec F7, `compression_source`: of memories that the stages made."""
    turns = [
        turn
        for number, name in enumerate(("Bruno", "Maya", "Chandra", "Dov"))
        for turn in conversation(
            f"Yesterday I walked around the quartz mine with {name}.",
            f"{name} found a blue quartz last week.",
            tenant_id="acme",
            subject_id="ann",
            session_id=f"s{number}",
            start=day(number),
        )
    ]
    with Store.open(database_url) as store:
        remember(store, turns, policy=lively("logic"), until=LATER)
    asked = {"subject_id": "ann", "question": "quartz mine", "as_of": LATER.isoformat(), "top_k": 20}
    hits = api.post("/v1/recalls", json=asked | {"include_compressed": True}).json()["hits"]
    states = {"subject_id": "ann", "states": ["active", "compressed"]}
    listed = api.get("/v1/memories", params=states).json()["memories"]
    summaries = conn.execute("select array_agg(id::text) from memory.memories where kind = 'summary'").fetchone()
    assert summaries is not None and len(summaries[0]) >= 2
    for memories in (hits, listed):
        marked = {each["id"]: each["compression_source"] for each in memories}
        assert {id_ for id_, is_source in marked.items() if is_source} == {*summaries[0]} < {*marked}
    compressed = [each for each in listed if each["state"] == "compressed"]
    assert compressed and not any(each["compression_source"] for each in compressed)


def test_a_recall_that_cannot_be_logged_is_answered_and_counted(
    api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any], caplog: pytest.LogCaptureFixture
) -> None:
    corpus.turn("quartz and hunter2")
    conn.execute("revoke insert on log.recalls from reverie_reader")
    answer = api.post("/v1/recalls", json={"subject_id": "ann", "question": "quartz hunter2"})
    assert (answer.status_code, len(answer.json()["hits"])) == (200, 1)
    until_logged(api)
    assert "reverie_unlogged_total 1.0" in api.get("/metrics").text
    assert "InsufficientPrivilege" in caplog.text and "hunter2" not in caplog.text


def test_pages_give_each_memory_once_whatever_comes_in_between(api: TestClient, corpus: Corpus) -> None:
    ids = [corpus.memory(f"Fact {number}") for number in range(7)]
    seen: list[str] = []
    cursor = None
    for _ in range(4):
        given = {"subject_id": "ann", "limit": 2} | ({"cursor": cursor} if cursor else {})
        page = api.get("/v1/memories", params=given).json()
        seen += [memory["id"] for memory in page["memories"]]
        cursor = page["next_cursor"]
        corpus.memory("Later", at=LATER)
    assert cursor is None
    assert seen == [str(id_) for id_ in reversed(ids)]


def test_memories_are_filtered(api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]) -> None:
    bruno = corpus.memory("Has a dog named Bruno", at=day(1))
    tea = corpus.memory("Likes tea", kind="preference", at=day(5))
    gone = corpus.memory("Has a dog", state="merged", at=day(2))
    link(conn, bruno, "pet:bruno")

    def ids(**given: Any) -> set[UUID]:
        answer = api.get("/v1/memories", params={"subject_id": "ann"} | given)
        return {UUID(memory["id"]) for memory in answer.json()["memories"]}

    assert ids() == {bruno, tea}
    assert ids(kinds=["preference", "episode"]) == {tea}
    assert ids(states=["merged"]) == {gone}
    assert ids(since=day(3).isoformat()) == {tea}
    assert ids(until=day(3).isoformat()) == {bruno}
    assert ids(entity="pet:bruno") == {bruno}
    assert ids(session_id="other") == set()
    assert ids(subject_id="nobody") == set()


def test_importance_is_as_of_the_time_asked_for(api: TestClient, corpus: Corpus) -> None:
    corpus.memory("Likes tea", importance=0.7, at=day(0))

    def importance(at: Any) -> float:
        given = {"subject_id": "ann", "as_of": at.isoformat()}
        found: float = api.get("/v1/memories", params=given).json()["memories"][0]["importance"]
        return found

    assert importance(day(0)) == pytest.approx(0.7)
    assert importance(day(60)) < importance(day(30)) < 0.7


def test_one_memory_with_its_lineage(api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]) -> None:
    turn = corpus.turn("I have a dog named Bruno")
    memory = corpus.memory("Has a dog named Bruno", turn=turn)
    link(conn, memory, "pet:bruno")
    conn.execute(
        "insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)"
        " values ('acme', %s, 'extracted', 'turn', %s, %s, %s)",
        [memory, turn, day(1), UUID(int=0)],
    )
    found = api.get(f"/v1/memories/{memory}").json()
    assert [UUID(each["id"]) for each in found["turns"]] == [turn]
    assert found["turns"][0]["text"] == "I have a dog named Bruno"
    assert [each["id"] for each in found["entities"]] == ["pet:bruno"]
    assert (found["forgotten"], found["memory"]["content"]) == (False, "Has a dog named Bruno")
    missing = api.get(f"/v1/memories/{UUID(int=7)}")
    assert missing.status_code == 404


def test_entities_page_by_page_and_as_a_graph(api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]) -> None:
    both = corpus.memory("Walks Bruno in Pune")
    link(conn, both, "pet:bruno", "place:pune")
    link(conn, corpus.memory("Lives in Pune"), "place:pune")
    first = api.get("/v1/entities", params={"subject_id": "ann", "limit": 1}).json()
    second = api.get("/v1/entities", params={"subject_id": "ann", "cursor": first["next_cursor"]}).json()
    assert [(each["id"], each["memories"]) for each in first["entities"] + second["entities"]] == [
        ("pet:bruno", 1),
        ("place:pune", 2),
    ]
    assert second["next_cursor"] is None
    typed = api.get("/v1/entities", params={"subject_id": "ann", "type": "place"}).json()
    assert [each["id"] for each in typed["entities"]] == ["place:pune"]
    graph = api.get("/v1/graph", params={"subject_id": "ann"}).json()
    assert [each["id"] for each in graph["entities"]] == ["place:pune", "pet:bruno"]
    assert graph["edges"] == [{"source": "pet:bruno", "target": "place:pune", "memories": 1}]


def test_outcomes_are_logged_once(api: TestClient, conn: psycopg.Connection[Any]) -> None:
    outcome = {"subject_id": "ann", "session_id": "s1", "source_id": "t1", "metric": "views", "value": 5.0,
               "positive": True, "observed_at": "2026-03-01T09:00:00+01:00"}  # fmt: skip
    other = outcome | {"metric": "likes"}
    assert api.post("/v1/outcomes", json={"outcomes": [outcome]}).json() == {"added": 1, "repeated": 0, "refused": 0}
    assert api.post("/v1/outcomes", json={"outcomes": [outcome, other]}).json() == {
        "added": 1,
        "repeated": 1,
        "refused": 0,
    }
    answer = api.post("/v1/outcomes", json={"outcomes": [other | {"source_id": "t2"}, outcome | {"value": 6.0}]})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (409, "#/outcomes/1")
    rows = conn.execute("select tenant_id, metric, value from log.outcomes order by source_id, metric").fetchall()
    assert rows == [("acme", "likes", 5.0), ("acme", "views", 5.0), ("acme", "likes", 5.0)]
