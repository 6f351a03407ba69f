"""Exports of other systems, as their documentation or code writes them: ids and times kept, memory as statements."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.formats.foreign import FOREIGN
from reverie.capture.history.importing import FileOptions, ImportSummary, import_file
from reverie.capture.history.reading import FORMATS
from reverie.cli.operate.importing import FORMATS as CHOICES
from reverie.errors import InputError
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT, jsonl

AT = "2026-03-01T09:00:00+00:00"


def spoken(kind: str, text: str) -> dict[str, Any]:
    """A serialized message of LangChain."""
    return {"lc": 1, "id": ["langchain", "schema", "messages", kind], "kwargs": {"content": text, "type": "x"}}


MEM0 = {
    "count": 3,
    "results": [
        {
            "id": "m1",
            "memory": "Lives in Porto",
            "user_id": "ana",
            "run_id": "r1",
            "created_at": "2026-02-01T10:00:00-07:00",
            "updated_at": AT,
            "hash": "f00",
            "metadata": {"mood": "calm"},
            "categories": ["personal_details"],
            "score": 0.4,
        },
        {
            "id": "m2",
            "memory": "Likes oat milk",
            "user_id": "ana",
            "created_at": AT,
            "updated_at": None,
            "categories": ["user_preferences"],
            "expiration_date": "2026-12-31",
        },
        {"id": "m3", "memory": None, "user_id": "ana", "created_at": AT},
    ],
}
OPENMEMORY = {
    "user": {"id": "u-1", "user_id": "ana"},
    "memories": [
        {
            "id": "o1",
            "user_id": "u-1",
            "content": "Has a sister",
            "state": "active",
            "created_at": AT,
            "updated_at": AT,
        },
        {"id": "o2", "user_id": "u-1", "content": "Old flat", "state": "archived", "created_at": AT, "archived_at": AT},
        {"id": "o3", "user_id": "u-1", "content": "Gone", "state": "deleted", "created_at": AT, "deleted_at": AT},
    ],
}
ZEP = {
    "user_id": "ana",
    "thread_id": "t9",
    "edges": [
        {
            "uuid": "e1",
            "fact": "Ana works at Infosys",
            "name": "WORKS_AT",
            "created_at": AT,
            "valid_at": "2026-01-01T00:00:00Z",
            "invalid_at": "2026-02-01T00:00:00Z",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "episodes": ["p1"],
        },
    ],
    "messages": [
        {"uuid": "z1", "role": "user", "name": "Ana", "content": "I moved.", "created_at": AT},
        {"uuid": "z2", "role": "Helper", "role_type": "assistant", "content": "Where to?", "created_at": AT},
    ],
    "nodes": [{"uuid": "n1", "name": "Ana", "summary": "Ana moved.", "labels": ["User"]}],
}
GRAPHITI = [
    {
        "uuid": "g1",
        "group_id": "ana",
        "name": "e",
        "source": "message",
        "content": "Ana (user): I have a cat.",
        "source_description": "chat",
        "valid_at": AT,
        "created_at": AT,
    },
    {
        "uuid": "g2",
        "group_id": "ana",
        "name": "e",
        "source": "text",
        "content": "Ana adopted a cat named Miso.",
        "valid_at": AT,
    },
]
LETTA = {
    "agents": [
        {
            "id": "agent-0",
            "name": "ana",
            "block_ids": ["block-0"],
            "messages": [
                {
                    "id": "message-0",
                    "role": "system",
                    "content": [{"type": "text", "text": "You are Sam."}],
                    "created_at": AT,
                },
                {
                    "id": "message-1",
                    "role": "user",
                    "created_at": AT,
                    "content": [{"type": "text", "text": '{"type": "user_message", "message": "Hi!", "time": "9 AM"}'}],
                },
                {
                    "id": "message-2",
                    "role": "assistant",
                    "created_at": AT,
                    "content": [],
                    "tool_calls": [
                        {"id": "c", "function": {"name": "send_message", "arguments": '{"message": "Hello."}'}}
                    ],
                },
            ],
        }
    ],
    "blocks": [{"id": "block-0", "label": "human", "value": "Name: Ana\n\nLives in Porto", "limit": 5000}],
}
INTERCOM = {
    "type": "conversation.list",
    "conversations": [
        {
            "id": "77",
            "created_at": 1772352000,
            "source": {
                "id": "s1",
                "body": "<p>My order is <b>late</b>.</p>",
                "author": {"type": "user", "id": "i1", "name": "Ana"},
            },
            "contacts": {"contacts": [{"id": "i1", "external_id": "ana"}]},
            "conversation_parts": {
                "conversation_parts": [
                    {
                        "id": "p1",
                        "part_type": "comment",
                        "body": "<p>Sorry &amp; soon.</p>",
                        "created_at": 1772352060,
                        "author": {"type": "admin", "id": "9", "name": "Bo"},
                    },
                    {
                        "id": "p2",
                        "part_type": "note",
                        "body": "vip",
                        "created_at": 1772352070,
                        "author": {"type": "admin"},
                    },
                    {
                        "id": "p3",
                        "part_type": "close",
                        "body": None,
                        "created_at": 1772352080,
                        "author": {"type": "admin"},
                    },
                ]
            },
        }
    ],
}
ZENDESK = {
    "tickets": [
        {
            "id": 35,
            "requester_id": 7,
            "created_at": "2026-03-01T09:00:00Z",
            "description": "It broke.",
            "comments": [
                {"id": 1, "author_id": 7, "body": "It broke.", "public": True, "created_at": "2026-03-01T09:00:00Z"},
                {
                    "id": 2,
                    "author_id": 8,
                    "plain_body": "We look.",
                    "public": True,
                    "created_at": "2026-03-01T09:05:00Z",
                },
                {"id": 3, "author_id": 8, "body": "ask ops", "public": False, "created_at": "2026-03-01T09:06:00Z"},
            ],
        },
        {"id": 36, "requester_id": 7, "created_at": "2026-03-02T09:00:00Z", "description": "Thanks!"},
    ],
    "users": [{"id": 8, "name": "Bo", "role": "agent"}],
}
CLAUDE = [
    {
        "uuid": "c1",
        "name": "Trip",
        "created_at": AT,
        "account": {"uuid": "ana"},
        "chat_messages": [
            {"uuid": "k1", "sender": "human", "text": "I moved to Porto.", "created_at": "2026-03-01T09:00:00.123456Z"},
            {
                "uuid": "k2",
                "sender": "assistant",
                "text": "",
                "content": [{"type": "text", "text": "Lovely."}],
                "created_at": AT,
            },
        ],
    },
    {"account_uuid": "ana", "conversations_memory": "Ana is a nurse.", "project_memories": {}},
]
LANGSMITH = [
    {
        "id": "run1",
        "trace_id": "run1",
        "run_type": "chain",
        "start_time": "2026-03-01T09:00:00.5",
        "parent_run_id": None,
        "inputs": {"messages": [spoken("HumanMessage", "I moved.")]},
        "outputs": {"messages": [spoken("HumanMessage", "I moved."), spoken("AIMessage", "Where to?")]},
        "extra": {"metadata": {"thread_id": "t1", "user_id": "ana"}},
    },
    {
        "id": "run2",
        "trace_id": "run1",
        "run_type": "llm",
        "start_time": "2026-03-01T09:00:01",
        "parent_run_id": "run1",
        "inputs": {},
        "outputs": {},
    },
]
LANGFUSE = {
    "data": [
        {
            "id": "t1",
            "timestamp": "2026-03-01 09:00:00.000000",
            "userId": "ana",
            "sessionId": "s1",
            "input": '{"messages": [{"role": "user", "content": "I moved."}]}',
            "output": {"role": "assistant", "content": "Where?"},
        },
        {
            "id": "t2",
            "timestamp": "2026-03-01T09:01:00.000Z",
            "userId": "ana",
            "sessionId": "s1",
            "input": "To Porto.",
            "output": "Nice.",
        },
    ],
    "meta": {"page": 1},
}

#: By format: content, turns, statements, dead letters by reason, skipped.
CASES: dict[str, tuple[Any, int, int, dict[str, int], dict[str, int]]] = {
    "mem0": (MEM0, 0, 2, {"missing_field": 1}, {}),
    "openmemory": (OPENMEMORY, 0, 2, {}, {"deleted": 1}),
    "zep": (ZEP, 2, 1, {}, {"node": 1}),
    "graphiti": (GRAPHITI, 1, 1, {}, {}),
    "letta": (LETTA, 2, 2, {}, {"no_text": 1}),
    "intercom": (INTERCOM, 2, 0, {}, {"note": 1, "close": 1}),
    "zendesk": (ZENDESK, 3, 0, {}, {"private": 1}),
    "claude": (CLAUDE, 2, 0, {"missing_field": 1}, {}),
    "langsmith": (LANGSMITH, 2, 0, {}, {"child_run": 1}),
    "langfuse": (LANGFUSE, 4, 0, {}, {}),
}


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)


@pytest.fixture
def imported(store: Store, tmp_path: Path) -> dict[str, ImportSummary]:
    """Every format, imported into one tenant."""
    found = {}
    for format, (content, *_) in CASES.items():
        (path := tmp_path / f"{format}.json").write_text(json.dumps(content, indent=1))
        found[format] = load(store, path, format=format)
    return found


def test_each_format(
    imported: dict[str, ImportSummary], store: Store, conn: psycopg.Connection, tmp_path: Path
) -> None:
    assert set(CASES) == set(FOREIGN) and CHOICES == FORMATS
    for format, (_, turns, statements, dead, skipped) in CASES.items():
        found = imported[format]
        shown = (format, found.imported, found.statements, dict(found.dead_by_reason), dict(found.skipped))
        assert shown == (format, turns, statements, dead, skipped)
        assert found.read == found.imported + found.repeated + found.outcomes + found.statements + found.dead
        again = load(store, tmp_path / f"{format}.json", format=format)
        assert (again.imported, again.statements, again.repeated) == (0, 0, turns + statements), format

    turns = conn.execute("select source_id, subject_id, session_id, role, speaker, text from log.turns").fetchall()
    by_id = {row[0]: row[1:] for row in turns}
    assert by_id["z2"] == ("ana", "t9", "assistant", "Helper", "Where to?")
    assert by_id["g1"] == ("ana", "ana", "user", "Ana", "I have a cat.")
    assert by_id["message-1"][-1] == "Hi!" and by_id["message-2"][-1] == "Hello."
    assert by_id["s1"] == ("ana", "77", "user", "Ana", "My order is late.")
    assert by_id["p1"][2:] == ("assistant", "Bo", "Sorry & soon.")
    assert by_id["2"] == ("7", "35", "assistant", "Bo", "We look.")
    assert by_id["description"][1:3] == ("36", "user") and by_id["k2"][-1] == "Lovely."
    events = conn.execute(
        "select source_id, subject_id, session_id, type, channel, content, observed_at::text, ends_at::text, metadata"
        " from log.events"
    ).fetchall()
    known = {row[0]: row[1:] for row in events}
    assert known["m1"][:5] == ("ana", "r1", "fact", "import", "Lives in Porto")
    assert known["m1"][7]["fields"]["metadata"] == {"mood": "calm"} and "score" not in known["m1"][7]["fields"]
    assert known["m2"][2] == "preference" and known["m2"][6].startswith("2026-12-31")
    assert known["e1"][5].startswith("2026-01-01") and known["e1"][6].startswith("2026-02-01")
    assert known["g2"][2] == "attachment" and known["block-0/3"][4] == "Lives in Porto"


@pytest.mark.parametrize("format", ["langsmith", "langfuse"])
def test_the_newest_trace_may_come_first(store: Store, tmp_path: Path, conn: psycopg.Connection, format: str) -> None:
    """As both APIs return them by default."""
    spoken = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(("Dog", "Ok", "Cat"))]
    traces = []
    for at, messages in (("2026-03-01T10:00:00.5Z", spoken), ("2026-03-01T09:00:00Z", spoken[:2])):
        smith = {"inputs": {"messages": messages}, "start_time": at}
        smith["extra"] = {"metadata": {"thread_id": "t", "user_id": "ana"}}
        fuse = {"input": messages, "timestamp": at, "userId": "ana", "sessionId": "t"}
        traces.append({"id": at} | (smith if format == "langsmith" else fuse))
    (path := tmp_path / "x.json").write_text(json.dumps([*traces, 7]))
    found = load(store, path, format=format)
    assert (found.imported, found.dead_by_reason, found.skipped) == (3, {"not_an_object": 1}, {"history": 2})
    rows = conn.execute("select source_id, text, extract(hour from said_at)::int from log.turns order by said_at")
    assert rows.fetchall() == [("m0", "Dog", 9), ("m1", "Ok", 9), ("m2", "Cat", 10)]


def test_what_claude_remembers_needs_a_time(store: Store, tmp_path: Path, conn: psycopg.Connection) -> None:
    path = tmp_path / "claude.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps(CLAUDE[:1]))
        archive.writestr("memories.json", json.dumps(CLAUDE[1:]))
    found = load(store, path, format="claude", subject="ana", start=NOW)
    assert (found.imported, found.statements, found.dead) == (2, 1, 0)
    assert conn.execute("select source_id, type from log.events").fetchall() == [
        ("claude/conversations_memory", "attachment")
    ]
    with pytest.raises(InputError, match="no file of the format zep"):
        load(store, path, format="zep")


def test_a_cut_emoji_costs_no_other_conversation(store: Store, tmp_path: Path, conn: psycopg.Connection) -> None:
    talk: dict[str, Any] = {"account": {"uuid": "ana"}, "chat_messages": [{"sender": "human", "created_at": AT}]}
    texts = ("Hi \ud83d", "Bye")
    talks = [
        talk | {"uuid": text[:2], "chat_messages": [talk["chat_messages"][0] | {"uuid": "m", "text": text}]}
        for text in texts
    ]
    with zipfile.ZipFile(path := tmp_path / "claude.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(talks))
    found = load(store, path, format="claude")
    assert (found.imported, found.dead, found.mended) == (2, 0, 1)
    assert conn.execute("select text from log.turns order by 1").fetchall() == [("Bye",), ("Hi \ufffd",)]


def test_an_item_that_changed_there_is_a_dead_letter(store: Store, tmp_path: Path) -> None:
    (path := tmp_path / "m.jsonl").write_text(json.dumps(MEM0["results"][0]))  # type: ignore[index]
    assert load(store, path, format="mem0").statements == 1
    path.write_text(json.dumps(MEM0["results"][0] | {"memory": "Lives in Lisbon"}))  # type: ignore[index]
    assert load(store, path, format="mem0").dead_by_reason == {"conflict": 1}


def test_an_item_of_another_form_is_a_dead_letter_of_its_own(store: Store, write: Callable[[bytes], Path]) -> None:
    comment = {"id": 1, "author_id": 7, "body": "Hi", "created_at": AT}
    tickets = [{"id": 1, "requester_id": 7, "comments": of_ticket} for of_ticket in (3, [comment])]
    found = load(store, write(jsonl(*tickets)), format="zendesk")
    assert (found.read, found.imported, found.dead_by_reason) == (2, 1, {"wrong_type": 1})
