"""`ReverieMemoryService` held against `InMemoryMemoryService`, and an agent of ADK with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

pytest.importorskip("google.adk.memory", reason="needs google-adk: make test-adapters")
pytest.importorskip("reverie_google_adk", reason="needs reverie-google-adk: make test-adapters")

from google.adk.agents import Agent
from google.adk.events import Event
from google.adk.memory import BaseMemoryService, InMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory, preload_memory
from google.genai import types
from reverie_google_adk import ReverieMemoryService

from reverie_client import Client, PermissionDeniedError
from tests.adapters.conftest import DOUBTED, Server, doubting

BRUNO = "I have a golden retriever named Bruno."


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, server.admin_key) as opened:
        yield opened


@pytest.fixture(params=["memory", "reverie"])
def service(request: pytest.FixtureRequest, client: Client) -> BaseMemoryService:
    """A service in which nothing is remembered of the app that the test is named by."""
    return InMemoryMemoryService() if request.param == "memory" else ReverieMemoryService(client)


@pytest.fixture
def app(request: pytest.FixtureRequest) -> str:
    return request.node.originalname


def event(text: str, author: str = "user", **given: Any) -> Event:
    role = "user" if author == "user" else "model"
    return Event(author=author, content=types.Content(role=role, parts=[types.Part(text=text)]), **given)


def session(app: str, *events: Event, user_id: str = "ana", session_id: str = "s1") -> Session:
    return Session(id=session_id, app_name=app, user_id=user_id, events=list(events))


async def search(service: BaseMemoryService, app: str, query: str, user_id: str = "ana") -> list[MemoryEntry]:
    return (await service.search_memory(app_name=app, user_id=user_id, query=query)).memories


def texts(found: list[MemoryEntry]) -> list[str]:
    return ["".join(part.text or "" for part in entry.content.parts or ()) for entry in found]


def test_a_session_is_found_by_its_user_in_its_app(service: BaseMemoryService, app: str) -> None:
    async def use() -> None:
        await service.add_session_to_memory(session(app, event(BRUNO), event("A lovely name.", "helper")))
        (first, *_) = found = await search(service, app, "What is my golden retriever called?")
        assert "Bruno" in texts(found)[0] and first.id and first.timestamp
        assert await search(service, app, "golden retriever", user_id="ben") == []
        assert await search(service, f"{app}-2", "golden retriever") == []

    asyncio.run(use())


def test_a_session_that_is_added_again_adds_what_is_new(service: BaseMemoryService, app: str) -> None:
    events = [event(BRUNO)]

    async def use() -> None:
        await service.add_session_to_memory(session(app, *events))
        await service.add_session_to_memory(session(app, *events))
        events.append(event("My sister plays the oboe."))
        await service.add_session_to_memory(session(app, *events))
        assert sum("Bruno" in text for text in texts(await search(service, app, "golden retriever Bruno"))) == 1
        assert "oboe" in texts(await search(service, app, "Who plays the oboe?"))[0]

    asyncio.run(use())


def test_events_are_a_delta(service: BaseMemoryService, app: str) -> None:
    said = event(BRUNO)

    async def use() -> None:
        await service.add_session_to_memory(session(app, event("My sister plays the oboe.")))
        for session_id in ("s1", "s1", None):
            await service.add_events_to_memory(app_name=app, user_id="ana", events=[said], session_id=session_id)
        assert any("oboe" in text for text in texts(await search(service, app, "oboe sister")))
        assert any("Bruno" in text for text in texts(await search(service, app, "golden retriever")))

    asyncio.run(use())


def test_events_without_text_are_no_memory(service: BaseMemoryService, app: str) -> None:
    call = types.Part(function_call=types.FunctionCall(name="find", args={"retriever": "golden"}))
    silent = [
        Event(author="helper"),
        Event(author="helper", content=types.Content(role="model", parts=[])),
        Event(author="helper", content=types.Content(role="model", parts=[call])),
    ]

    async def use() -> None:
        await service.add_session_to_memory(session(app, *silent))
        await service.add_session_to_memory(session(app))
        assert await search(service, app, "golden retriever") == []
        assert await search(service, app, "  ") == []

    asyncio.run(use())


def test_what_is_deleted_does_not_come_back(service: BaseMemoryService, app: str) -> None:
    told = session(app, event(BRUNO))

    async def use() -> None:
        await service.add_session_to_memory(told)
        (entry,) = await search(service, app, "golden retriever")
        await service.delete_memory(app_name=app, user_id="ana", memory_id=entry.id)
        assert await search(service, app, "golden retriever") == []
        await service.add_session_to_memory(told)
        assert await search(service, app, "golden retriever") == []
        await service.delete_memory(app_name=app, user_id="ana", memory_id=entry.id)
        await service.delete_memory(app_name=app, user_id="ana")

    asyncio.run(use())


def test_a_long_session_is_added_in_parts(client: Client, app: str) -> None:
    events = [event(f"Item {number} is on the shelf.") for number in range(250)]
    asyncio.run(ReverieMemoryService(client).add_session_to_memory(session(app, *events)))
    turns = client.read_working_memory(f"{app}/ana", "s1").turns
    assert (turns[0].text, turns[-1].text) == ("Item 0 is on the shelf.", "Item 249 is on the shelf.")


def test_entries_are_observations_and_only_an_admin_erases_a_turn(client: Client, server: Server, app: str) -> None:
    """`InMemoryMemoryService` takes no entries."""
    content = types.Content(role="user", parts=[types.Part(text="Prefers tea.")])
    entry = MemoryEntry(
        id="m1", content=content, timestamp="2026-01-02T03:04:05", custom_metadata={"category": "preference"}
    )

    async def use() -> None:
        service = ReverieMemoryService(client, subject=lambda app_name, user_id: f"{user_id} of {app_name}")
        await service.add_memory(app_name=app, user_id="ana", memories=[entry, MemoryEntry(content=types.Content())])
        (again,) = client.record_observation(f"ana of {app}", "preference", "Prefers tea.", source_id="m1").events
        assert again.status == "repeated"
        await service.add_session_to_memory(session(app, event(BRUNO)))
        (found,) = await search(service, app, "golden retriever")
        with Client(server.url, server.key) as writer:
            theirs = ReverieMemoryService(writer)
            with pytest.raises(PermissionDeniedError, match="admin"):
                await theirs.delete_memory(app_name=app, user_id="ana", memory_id=found.id)

    asyncio.run(use())


class Scripted(BaseLlm):
    """Answers, searches memory once if it may, and keeps the messages that it was told."""

    model: str = "scripted"
    told: list[list[str]]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.told.append([str(content.model_dump()) for content in llm_request.contents])
        answered = any(part.function_response for part in (llm_request.contents[-1].parts or ()))
        may_search = "load_memory" in llm_request.tools_dict
        call = types.FunctionCall(name="load_memory", args={"query": "golden retriever"})
        part = types.Part(function_call=call) if may_search and not answered else types.Part(text="Very well.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def test_an_agent_remembers(service: BaseMemoryService, app: str) -> None:
    async def remember(callback_context: Any) -> None:
        await callback_context.add_session_to_memory()

    async def talk(text: str, *tools: Any) -> list[list[str]]:
        model = Scripted(told=[])
        agent = Agent(name="helper", model=model, tools=list(tools), after_agent_callback=remember)
        runner = Runner(app_name=app, agent=agent, session_service=InMemorySessionService(), memory_service=service)
        conversation = await runner.session_service.create_session(app_name=app, user_id="ana")
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="ana", session_id=conversation.id, new_message=message):
            pass
        return model.told

    async def use() -> None:
        await talk(BRUNO)
        (preloaded,) = await talk("What is my golden retriever called?", preload_memory)
        assert "<PAST_CONVERSATIONS>" in str(preloaded) and "Bruno" in str(preloaded)
        asked, answered = await talk("What is my golden retriever called?", load_memory)
        assert "Bruno" not in str(asked) and "Bruno" in answered[-1]

    asyncio.run(use())


def test_a_search_tells_a_doubt(app: str) -> None:
    with Client("http://x", "key", transport=doubting()) as doubtful:
        assert texts(asyncio.run(search(ReverieMemoryService(doubtful), app, "Coffee?"))) == [DOUBTED]


def test_a_user_deletes_nothing_of_another(client: Client, app: str) -> None:
    async def use() -> None:
        service = ReverieMemoryService(client)
        await service.add_session_to_memory(session(app, event(BRUNO)))
        await service.add_session_to_memory(session(app, event("Good day."), user_id="ben", session_id="s2"))
        (entry,) = await search(service, app, "golden retriever")
        for user_id in ("ben", "nobody"):
            await service.delete_memory(app_name=app, user_id=user_id, memory_id=entry.id)
        for memory_id in ("turn:nothing", "nothing"):
            await service.delete_memory(app_name=app, user_id="ana", memory_id=memory_id)
        assert [found.id for found in await search(service, app, "golden retriever")] == [entry.id]
        await service.delete_memory(app_name=app, user_id="ana", memory_id=entry.id)
        assert await search(service, app, "golden retriever") == []

    asyncio.run(use())


def test_metadata_that_reverie_does_not_know_loses_nothing(client: Client, app: str) -> None:
    content = types.Content(role="user", parts=[types.Part(text="Prefers tea.")])
    metadata = {"source": "crm", "category": "hobby"}
    entry = MemoryEntry(id="m1", content=content, custom_metadata=metadata)

    async def use() -> None:
        service = ReverieMemoryService(client)
        await service.add_events_to_memory(
            app_name=app, user_id="ana", events=[event(BRUNO)], custom_metadata={"source": "crm"}
        )
        assert "Bruno" in texts(await search(service, app, "golden retriever"))[0]
        await service.add_memory(app_name=app, user_id="ana", memories=[entry])
        (again,) = client.record_observation(f"{app}/ana", "fact", "Prefers tea.", source_id="m1").events
        assert again.status == "repeated"

    asyncio.run(use())


def test_texts_that_the_server_refuses_are_made_acceptable(client: Client, app: str) -> None:
    async def use() -> list[MemoryEntry]:
        service = ReverieMemoryService(client)
        entry = MemoryEntry(content=types.Content(role="user", parts=[types.Part(text="Prefers\0 tea.")]))
        await service.add_memory(app_name=app, user_id="ana", memories=[entry])
        await service.add_session_to_memory(session(app, event("An in\0voice.")))
        assert await search(service, app, "\0") == []
        return await search(service, app, "invoice\0")

    assert "An invoice" in str(asyncio.run(use())[0].content)
