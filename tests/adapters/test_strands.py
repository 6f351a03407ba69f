"""`ReverieMemoryStore` held against Strands' `TestMemoryStore`, and an agent with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

pytest.importorskip("strands.memory", reason="needs strands-agents: make test-adapters")
pytest.importorskip("reverie_strands", reason="needs reverie-strands: make test-adapters")

from reverie_strands import ReverieMemoryStore
from strands import Agent
from strands.memory import AddMessagesContext, MemoryManager, MemoryStore
from strands.models import Model
from strands.types.content import Message
from strands.vended_memory_stores.test_memory_store import TestMemoryStore

from reverie_client import Client
from tests.adapters.conftest import DOUBTED, Server, doubting

BRUNO = "I have a golden retriever named Bruno."


def message(text: str, role: Any = "user") -> Message:
    return {"role": role, "content": [{"text": text}]}


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, server.key) as opened:
        yield opened


@pytest.fixture(params=["strands", "reverie"])
def store(request: pytest.FixtureRequest, client: Client) -> MemoryStore:
    """A store that was told of a dog, a cat and a sister."""
    told = [BRUNO, "My cat is called Miso.", "My sister plays the oboe."]
    if request.param == "strands":
        theirs = TestMemoryStore(name="test", persist=False)
        for text in told:
            asyncio.run(theirs.add(text))
        return theirs
    ours = ReverieMemoryStore(client, request.node.originalname, session_id="s1")
    asyncio.run(ours.add_messages([message(text) for text in told]))
    return ours


def test_a_search_is_ordered_and_bounded(store: MemoryStore) -> None:
    found = asyncio.run(store.search("golden retriever"))
    assert "Bruno" in found[0].content and found[0].metadata
    assert len(asyncio.run(store.search("my golden retriever cat sister", {"max_search_results": 2}))) == 2
    assert asyncio.run(store.search(" ")) == []


def test_the_manager_searches_and_adds(store: MemoryStore) -> None:
    async def use() -> None:
        manager = MemoryManager(stores=[store], add_tool_config=True)
        (first, *_) = await manager.search("golden retriever")
        assert first.store_name == store.name and "Bruno" in first.content
        await manager.add("Prefers tea.", {"metadata": {"category": "preference"}})
        assert [tool.tool_name for tool in manager.tools] == ["search_memory", "add_memory"]

    asyncio.run(use())


def test_a_batch_that_is_tried_again_is_stored_once(client: Client) -> None:
    said = [message("ok"), message("ok"), message("Nice.", "assistant")]
    call: Any = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {}}}]}

    async def use() -> None:
        store = ReverieMemoryStore(client, "ana", session_id="again")
        for _ in range(2):
            await store.add_messages([*said, call], AddMessagesContext(sequence_numbers=[0, 1, 3, 4]))
        other = ReverieMemoryStore(client, "ana", session_id="many")
        await other.add_messages([message(str(number)) for number in range(120)])

    asyncio.run(use())
    turns = client.read_working_memory("ana", "again").turns
    assert [(turn.role, turn.text) for turn in turns] == [("user", "ok"), ("user", "ok"), ("assistant", "Nice.")]
    turns = client.read_working_memory("ana", "many").turns
    assert (turns[0].text, turns[-1].text) == ("0", "119")


class Scripted(Model):
    """Answers, and keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def update_config(self, **model_config: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, tool_specs: Any = None, *args: Any, **options: Any) -> AsyncIterator[Any]:
        self.told.append((str(messages), [spec["name"] for spec in tool_specs or ()]))
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": "Very well."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def test_an_agent_remembers(client: Client) -> None:
    model = Scripted()

    def agent(session_id: str) -> Agent:
        store = ReverieMemoryStore(client, "eve", session_id=session_id)
        return Agent(model=model, memory_manager=MemoryManager(stores=[store]), callback_handler=None)

    agent("first")(BRUNO)
    second = agent("second")
    for _ in range(2):  # each blocking call has an event loop of its own
        second("What is my golden retriever called?")
    assert "Bruno" in model.told[1][0] and model.told[1][1] == ["search_memory"]
    assert "Bruno" not in str(second.messages), "memory is told to the model and not kept in the conversation"
    turns = client.read_working_memory("eve", "first").turns
    assert [(turn.role, turn.text) for turn in turns] == [("user", BRUNO), ("assistant", "Very well.")]


def test_a_search_tells_a_doubt() -> None:
    with Client("http://x", "key", transport=doubting()) as client:
        (entry,) = asyncio.run(ReverieMemoryStore(client, "ana", session_id="s1").search("Coffee?"))
    assert entry.content == DOUBTED


def test_metadata_that_reverie_does_not_know_loses_nothing() -> None:
    sent: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(200, json={"events": []})

    with Client("http://x", "key", transport=httpx.MockTransport(answer)) as client:
        store = ReverieMemoryStore(client, "ana", session_id="s1")
        for category in ("hobby", "preference"):
            asyncio.run(store.add("Plays chess.", {"category": category, "source": "crm", "tool_id": "t"}))
    custom = {"custom_source": "crm", "tool_id": "t"}
    assert [(body["category"], body["metadata"]) for body in sent] == [
        ("fact", {"category": "hobby"} | custom),
        ("preference", custom),
    ]


def test_texts_that_the_server_refuses_are_made_acceptable(client: Client) -> None:
    store = ReverieMemoryStore(client, "nina", session_id="s1")
    assert asyncio.run(store.search("\0")) == []
    asyncio.run(store.add("Prefers\0 tea.", {"note": "a\0"}))
    asyncio.run(store.add_messages([message("An in\0voice \ud83d")]))
    assert "An invoice" in asyncio.run(store.search("invoice\0"))[0].content
