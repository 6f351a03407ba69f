"""A conversation as an application has it: turns, working memory, the log, what is noticed beside them, a context."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.api import flusher
from tests.api.conftest import MakeKey, until_logged
from tests.recall.conftest import Corpus

BRUNO = {"source_id": "t1", "role": "user", "speaker": "Ana", "text": "This is my brother Bruno."}
HERE = {"subject_id": "ana", "session_id": "s1"}


def say(api: TestClient, *turns: dict[str, Any], **given: Any) -> Any:
    return api.post("/v1/turns", json=HERE | {"turns": list(turns)} | given)


def until(check: Callable[[], Any], *, seconds: float = 10.0) -> Any:
    """Wait for what another thread does."""
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
    return found


def test_a_turn_is_answered_with_what_it_gives(api: TestClient) -> None:
    rule = {"role": "user", "text": "Always ask about my dog Rex."}
    turn, second = say(api, BRUNO, rule).json()["turns"]
    assert (turn["status"], turn["source_id"], turn["reason"]) == ("added", "t1", None)
    (fact,) = [each for each in turn["extracted"] if each["kind"] == "fact"]
    assert (fact["content"], fact["entities"]) == ("Has brother Bruno", ["person:bruno"])
    (instruction,) = [each for each in second["extracted"] if each["kind"] == "instruction"]
    assert (instruction["content"], instruction["entities"]) == ("Always ask about my dog Rex", ["pet:rex"])
    assert turn["mood"]["method"] == "keywords"
    assert turn["crisis"] is None


def test_a_tool_call_is_an_episode_with_its_why(api: TestClient) -> None:
    call = {"name": "calendar.add", "arguments": {"day": "2026-07-02"}, "why": "Bruno is due for a check-up"}
    (turn,) = say(api, {"source_id": "t2", "role": "assistant", "tool_calls": [call]}).json()["turns"]
    (episode,) = turn["extracted"]
    assert (episode["kind"], episode["origin"]) == ("episode", "tool_call")
    assert "Bruno is due for a check-up" in episode["content"]


def test_a_crisis_brings_help_at_once(api: TestClient) -> None:
    said = {"source_id": "t1", "role": "user", "text": "I want to kill myself."}
    (turn,) = say(api, said, country="US").json()["turns"]
    assert turn["crisis"]["signs"] and turn["crisis"]["message"]
    assert any(line["contact"] for line in turn["crisis"]["helplines"])


def test_what_sounds_like_a_crisis_waits_for_a_person(app: TestClient, make_key: MakeKey) -> None:
    app.headers["Authorization"] = f"Bearer {make_key(scopes=['admin'])}"
    text = "I want to kill myself."
    for session in ("s1", "s2", "s3"):
        turn = {"source_id": "t1", "role": "user", "text": text}
        app.post("/v1/turns", json={"subject_id": "ana", "session_id": session, "turns": [turn]})
    first = app.get("/v1/reviews", params={"limit": 2}).json()
    rest = app.get("/v1/reviews", params={"cursor": first["next_cursor"]}).json()
    assert [(one["session_id"], one["text"]) for one in first["reviews"] + rest["reviews"]] == [
        ("s1", text),
        ("s2", text),
        ("s3", text),
    ]
    turn_id = first["reviews"][0]["turn_id"]
    for _ in range(2):
        assert app.post(f"/v1/reviews/{turn_id}/seen").json() == {"turn_id": turn_id}
    assert [one["session_id"] for one in app.get("/v1/reviews").json()["reviews"]] == ["s2", "s3"]
    every = app.get("/v1/reviews", params={"seen": True}).json()["reviews"]
    assert [one["seen_by"] for one in every] == ["test", None, None]
    app.headers["Authorization"] = f"Bearer {make_key()}"
    assert app.get("/v1/reviews").status_code == 403


def test_a_turn_sent_twice_counts_once_and_another_text_is_a_conflict(api: TestClient) -> None:
    first = say(api, BRUNO).json()["turns"][0]
    again = say(api, BRUNO).json()["turns"][0]
    assert (again["status"], again["turn_id"]) == ("repeated", first["turn_id"])
    answer = say(api, BRUNO | {"text": "I have a cat."})
    assert (answer.status_code, answer.json()["title"]) == (409, "Conflict")
    assert "t1" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ({"role": "user", "text": " "}, "text"),
        ({"role": "user", "text": "x", "said_at": "2150-01-01T00:00:00Z"}, "said_at"),
        ({"role": "user", "text": "x", "said_at": "2026-01-01T00:00:00"}, "said_at"),
        ({"role": "visitor", "text": "x"}, "role"),
    ],
)
def test_a_turn_that_is_none_is_refused_with_the_field(api: TestClient, turn: dict[str, Any], said: str) -> None:
    answer = say(api, BRUNO, turn)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert api.get("/v1/working_memory", params=HERE).status_code == 404, "all or none"


def test_working_memory_holds_the_window_and_what_is_put_there(api: TestClient) -> None:
    assert api.get("/v1/working_memory", params=HERE).status_code == 404
    say(api, BRUNO)
    held = api.patch("/v1/working_memory", json=HERE | {"preferences": ["Short answers"]}).json()
    assert held["preferences"] == ["Short answers"]
    api.patch("/v1/working_memory", json=HERE | {"confirmations": [{"book": "vet"}]})
    held = api.get("/v1/working_memory", params=HERE).json()
    assert [turn["text"] for turn in held["turns"]] == [BRUNO["text"]]
    assert (held["preferences"], held["confirmations"], held["waiting"]) == (["Short answers"], [{"book": "vet"}], 1)


def test_a_number_beyond_64_bits_comes_back(api: TestClient) -> None:
    held = api.patch("/v1/working_memory", json=HERE | {"tool_results": [{"views": 1e22}]})
    assert held.json()["tool_results"] == [{"views": 10**22}]


def test_a_closed_session_goes_to_the_log_at_once(api: TestClient, conn: psycopg.Connection[Any]) -> None:
    say(api, BRUNO)
    assert api.post("/v1/sessions/close", json=HERE).json() == {"waiting": 1}
    until(lambda: conn.execute("select source_id from log.turns").fetchall() == [("t1",)])
    until(lambda: api.get("/v1/working_memory", params=HERE).status_code == 404)
    assert conn.execute("select count(*) from ops.pending_turns").fetchone() == (0,)
    assert "reverie_flushed_turns_total 1.0" in api.get("/metrics").text
    assert api.post("/v1/sessions/close", json=HERE).status_code == 404


def test_a_flush_that_fails_is_counted_and_told_and_tried_again(
    api: TestClient, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(flusher, "PAUSE_SECONDS", 0.05)
    say(api, BRUNO)
    conn.execute("update ops.tenants set policy = 'nowhere.toml'")
    api.post("/v1/sessions/close", json=HERE)
    until(lambda: "There is no policy 'nowhere.toml'" in caplog.text)
    conn.execute("update ops.tenants set policy = 'reverie'")
    until(lambda: conn.execute("select source_id from log.turns").fetchall() == [("t1",)])
    assert "reverie_flush_failures_total 0.0" not in api.get("/metrics").text
    assert "Bruno" not in caplog.text


@pytest.mark.parametrize(
    ("path", "sent", "types"),
    [
        ("observations", {"category": "preference", "content": "Prefers tea"}, ["preference"]),
        ("documents", {"channel": "attachment", "name": "cv.pdf", "text": "Ana is a nurse."}, ["attachment"]),
        (
            "user_context",
            {"scaffold_updates": {"work.role": "nurse"}, "persistent_info_additions": ["Works nights"]},
            ["scaffold_update", "learned_fact"],
        ),
        ("connection_context", {"connection_id": "jira", "learned": {"project": "WARD"}}, ["connection_context"]),
    ],
)
def test_what_is_noticed_is_a_row_once(
    api: TestClient, conn: psycopg.Connection[Any], path: str, sent: dict[str, Any], types: list[str]
) -> None:
    sent = {"subject_id": "ana", "source_id": "o1", "metadata": {"by": "agent"}} | sent
    for status in ("added", "repeated"):
        answer = api.post(f"/v1/{path}", json=sent)
        assert [event["status"] for event in answer.json()["events"]] == [status] * len(types)
    rows = conn.execute("select type, subject_id from log.events order by id").fetchall()
    assert sorted(rows) == sorted((type_, "ana") for type_ in types)


def test_a_correction_is_on_record(api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]) -> None:
    memory = corpus.memory("Is allergic to peanuts")
    sent = {"memory_id": str(memory), "kind": "replace", "content": "Is allergic to walnuts"}
    found = api.post("/v1/corrections", json=sent).json()
    rows = conn.execute("select id, kind, memory_id, content from log.corrections").fetchall()
    assert rows == [(UUID(found["id"]), "replace", memory, "Is allergic to walnuts")]
    assert api.post("/v1/corrections", json=sent | {"content": None}).status_code == 422
    missing = {"memory_id": str(UUID(int=3)), "kind": "wrong"}
    assert api.post("/v1/corrections", json=missing).status_code == 404
    assert api.post("/v1/corrections", json=missing | {"kind": "keep_apart"}).status_code == 404


def test_an_acknowledged_memory_is_corrected_at_once(api: TestClient, conn: psycopg.Connection[Any]) -> None:
    conn.execute("update ops.tenants set policy = 'reverie'")
    (turn,) = say(api, {"role": "user", "text": "I bought a trombone"}).json()["turns"]
    (named,) = turn["extracted"]
    made = api.post("/v1/corrections", json={"memory_id": named["id"], "kind": "wrong"})
    assert made.status_code == 200, made.text
    corrected = "select m.content from log.corrections c join memory.memories m on m.id = c.memory_id"
    assert conn.execute(corrected).fetchall() == [(named["content"],)]


def test_a_correction_reaches_the_model_with_its_answer(
    api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]
) -> None:
    said = corpus.turn("I am allergic to peanuts, please remember that", session="s1")
    memory = corpus.memory("Is allergic to peanuts", turn=said)
    conn.execute(
        "insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)"
        " values (%s, %s, 'extracted', 'turn', %s, now(), %s)",
        [corpus.tenant, memory, said, UUID(int=0)],
    )

    def told() -> str:
        asked = {"subject_id": corpus.subject, "question": "Which allergy, peanuts?"}
        history = [{"role": "user", "content": "I am allergic to peanuts, please remember that"}]
        answers = [
            api.post("/v1/recalls", json=asked).json()["hits"],
            api.post("/v1/contexts", json=asked | {"history": history}).json()["text"],
            api.get("/v1/memories", params={"subject_id": corpus.subject}).json()["memories"],
        ]
        return json.dumps(answers)

    assert told().count("allergic to peanuts") >= 4
    sent = {"memory_id": str(memory), "kind": "replace", "content": "Is allergic to walnuts"}
    found = api.post("/v1/corrections", json=sent).json()
    assert found["effect"].startswith("From now on")
    assert "worker" in found["effect"]
    assert "allergic to peanuts" not in told()
    assert told().count("Is allergic to walnuts") >= 3
    explained = api.get(f"/v1/memories/{memory}").json()
    assert [(one["kind"], one["worked_in"]) for one in explained["corrections"]] == [("replace", False)]
    assert [one["mark"] for one in explained["turns"]] == ["replaced"]
    replacement = api.get(f"/v1/memories/{found['replacement_id']}").json()
    assert replacement["memory"]["content"] == "Is allergic to walnuts"
    undo = {"memory_id": found["replacement_id"], "kind": "retract"}
    undone = api.post("/v1/corrections", json=undo).json()
    assert undone["effect"].startswith("From now on") and undone["replacement_id"] is None
    assert told().count("allergic to peanuts") >= 4 and "Is allergic to walnuts" not in told()
    explained = api.get(f"/v1/memories/{memory}").json()
    seen = [(one["kind"], one["retracted"]) for one in explained["corrections"]]
    assert seen == [("replace", True), ("retract", False)]
    assert api.post("/v1/corrections", json=undo).status_code == 404


@pytest.mark.parametrize(("given", "recorded"), [({}, "test"), ({"actor": "support: Dana"}, "support: Dana")])
def test_who_corrected_is_on_record(
    api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any], given: dict[str, str], recorded: str
) -> None:
    memory = corpus.memory("Is allergic to peanuts")
    for kind in ("wrong", "forget", "pin", "unpin"):
        assert api.post("/v1/corrections", json={"memory_id": str(memory), "kind": kind} | given).status_code == 200
    assert conn.execute("select distinct actor from log.corrections").fetchall() == [(recorded,)]
    long = {"memory_id": str(memory), "kind": "wrong", "actor": "x" * 201}
    assert api.post("/v1/corrections", json=long).status_code == 422


def test_a_context_takes_history_and_mood_from_the_session(
    api: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]
) -> None:
    conn.execute("update ops.tenants set policy = 'reverie'")
    memory = corpus.memory("Found quartz in the garden")
    here = {"subject_id": "ann", "session_id": "s9"}
    api.post("/v1/turns", json=here | {"turns": [BRUNO]})
    sent = here | {"question": "quartz?", "system": "You are kind.", "request_id": "r1"}
    found = api.post("/v1/contexts", json=sent).json()
    assert "Found quartz in the garden" in found["text"] and BRUNO["text"] in found["text"]
    assert "You are kind." in found["text"]
    assert {row["section"] for row in found["budget"]} >= {"system", "memories", "history", "total"}
    assert found["total_tokens"] <= found["token_budget"]
    until_logged(api)
    logged = conn.execute("select id, request_id, item_ids from log.contexts").fetchall()
    assert [(row[0], row[1], memory in row[2]) for row in logged] == [(UUID(found["id"]), "r1", True)]
    bare = api.post("/v1/contexts", json=sent | {"history": []}).json()
    assert BRUNO["text"] not in bare["text"]


def test_facts_profile_and_staged_recall_of_a_stranger(api: TestClient) -> None:
    assert api.get("/v1/facts", params={"subject_id": "zed"}).json() == {"facts": []}
    profile = api.get("/v1/profile", params={"subject_id": "zed"}).json()
    assert (profile["facts"], profile["relationship"]["stage"]) == ([], "new")
    staged = api.post("/v1/recalls/staged", json={"subject_id": "zed", "question": "Who?"}).json()
    assert (staged["facts"], staged["summaries"]) == ([], [])
    assert staged["notes"]


def recalled(api: TestClient, question: str = "Who is Bruno?", **given: Any) -> list[dict[str, Any]]:
    answer = api.post("/v1/recalls", json={"subject_id": "ana", "question": question} | given)
    assert answer.status_code == 200, answer.text
    hits: list[dict[str, Any]] = answer.json()["hits"]
    return hits


def test_what_was_said_is_recalled_with_the_next_request(api: TestClient) -> None:
    (turn,) = say(api, BRUNO | {"metadata": {"connection_id": "mail-1"}}).json()["turns"]
    (hit,) = recalled(api, why=True)
    assert (hit["id"], hit["fresh"], hit["kind"]) == (turn["turn_id"], True, "turn")
    assert hit["attributes"][0]["connection_id"] == "mail-1"
    assert recalled(api, connections=[]) == []
    told = api.post("/v1/contexts", json={"subject_id": "ana", "question": "Who is Bruno?", "session_id": "s2"}).json()
    assert f"Ana: {BRUNO['text']} (said just now)" in told["text"]
    again = api.post("/v1/contexts", json={"subject_id": "ana", "question": "Who is Bruno?", "session_id": "s1"}).json()
    assert "said just now" not in again["text"]
    assert BRUNO["text"] in again["text"]


def test_what_was_said_a_moment_ago_is_corrected(api: TestClient, conn: psycopg.Connection[Any]) -> None:
    (turn,) = say(api, BRUNO).json()["turns"]
    (fact,) = [each for each in turn["extracted"] if each["kind"] == "fact"]
    correction = {"memory_id": fact["id"], "kind": "replace", "content": "Has a cousin Bruno"}
    made = api.post("/v1/corrections", json=correction)
    assert made.status_code == 200, made.text
    assert not any("brother" in hit["content"] for hit in recalled(api))
    assert conn.execute("select count(*) from log.turns").fetchone() == (1,)
    assert api.post("/v1/corrections", json=correction | {"memory_id": turn["turn_id"]}).status_code == 404


def test_names_that_an_import_takes_are_taken_here(api: TestClient) -> None:
    turn = {"source_id": "t9", "role": "human", "speaker": "Ana", "content": BRUNO["text"]}
    (said,) = say(api, turn).json()["turns"]
    assert [each["content"] for each in said["extracted"] if each["kind"] == "fact"] == ["Has brother Bruno"]
    history = [{"role": "ai", "text": "What is his name?"}]
    asked = api.post("/v1/contexts", json=HERE | {"question": "Which name?", "history": history})
    assert asked.status_code == 200, asked.text
    assert say(api, turn | {"role": "wizard"}).status_code == 422


def test_an_answer_without_vectors_says_who_wanted_that(api: TestClient) -> None:
    say(api, BRUNO)
    asked = api.post("/v1/recalls", json={"subject_id": "ana", "question": "Which brother?", "embed": False}).json()
    assert "Found by words and entities alone, as asked (`embed` is false)." in asked["notes"]
    assert not [note for note in asked["notes"] if "configured" in note]
    told = api.post("/v1/contexts", json={"subject_id": "ana", "question": "Which brother?", "embed": False}).json()
    assert "Found by words and entities alone, as asked (`embed` is false)." in told["notes"]
    assert not [note for note in told["notes"] if "configured" in note]


def test_an_unknown_attribute_is_refused(api: TestClient) -> None:
    refused = say(api, BRUNO | {"metadata": {"context_type": "user_profil"}})
    assert refused.status_code == 422
    assert "context_type must be one of user_profile, user_persistent" in refused.text
    assert say(api, BRUNO | {"metadata": {"context_type": "user_persistent", "page": 7}}).status_code == 200
    document = {"subject_id": "ana", "channel": "tool", "text": "A page about Bruno."}
    refused = api.post("/v1/documents", json=document | {"metadata": {"source": "nowhere"}})
    assert refused.status_code == 422 and "source must be one of" in refused.text


def test_the_third_conversation_is_not_the_first(api: TestClient) -> None:
    told = []
    for number in range(3):
        turn = {"source_id": f"t{number}", "role": "user", "text": f"I like tea number {number}."}
        api.post("/v1/turns", json={"subject_id": "cleo", "session_id": f"s{number}", "turns": [turn]})
        asked = {"subject_id": "cleo", "session_id": f"s{number}", "question": "What do I like?"}
        told.append("first conversation" in api.post("/v1/contexts", json=asked).json()["text"])
    assert told == [True, False, False]


def test_the_oldest_turns_of_a_running_session_are_summarised_at_once(
    api: TestClient, conn: psycopg.Connection[Any]
) -> None:
    """Chat flow 1, with nothing flushed."""
    conn.execute("update ops.tenants set policy = 'chat'")
    turns = [{"source_id": f"t{n}", "role": "user", "text": f"We saw the old house number {n}."} for n in range(1, 26)]
    assert say(api, *turns).status_code == 200
    found = api.post("/v1/contexts", json=HERE | {"question": "Which house?", "why": True}).json()
    assert "# Recent Conversation\n(earlier, turns 1-10) " in found["text"]
    (line,) = [each for each in found["lines"] if each["label"] == "summary of turns 1-10"]
    assert len(line["ids"]) == 10
    assert conn.execute("select count(*) from log.turns").fetchone() == (0,)
