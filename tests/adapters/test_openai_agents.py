"""`ReverieSession` held against `SQLiteSession`; memory in the instructions, with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

pytest.importorskip("agents.memory.session", reason="needs openai-agents: make test-adapters")
pytest.importorskip("reverie_openai_agents", reason="needs reverie-openai-agents: make test-adapters")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, set_tracing_disabled
from agents.memory import Session
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
from reverie_openai_agents import ReverieSession, memory_filter

from reverie_client import AsyncClient, InvalidRequestError
from tests.adapters.conftest import Server

set_tracing_disabled(True)

#: An item of each shape that the SDK keeps.
ITEMS: list[Any] = [
    {"role": "user", "content": "I have a dog named Rex."},
    {"type": "message", "role": "assistant", "id": "m1", "status": "completed",
     "content": [{"type": "output_text", "text": "Nice.", "annotations": [], "logprobs": None}]},
    {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": None},
    {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"q": "é"}'},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "none"}]},
    {"role": "user", "content": [{"type": "input_image", "image_url": "data:x", "detail": "auto"}]},
]  # fmt: skip

Use = Callable[[Session], Coroutine[Any, Any, None]]


@pytest.fixture(params=["sqlite", "reverie"])
def run(request: pytest.FixtureRequest, server: Server) -> Callable[[Use], None]:
    """Runs a test with a session, new and empty."""

    async def with_session(use: Use) -> None:
        if request.param == "sqlite":
            session = SQLiteSession("s1")
            await use(session)
            session.close()
            return
        async with AsyncClient(server.url, server.key) as client:
            ours = ReverieSession("s1", client, subject_id="ana")
            await ours.clear_session()
            await use(ours)

    return lambda use: asyncio.run(with_session(use))


def test_items_of_every_type_come_back_equal(run: Callable[[Use], None]) -> None:
    async def use(session: Session) -> None:
        assert await session.get_items() == []
        await session.add_items(ITEMS[:2])
        await session.add_items([])
        await session.add_items(ITEMS[2:])
        assert await session.get_items() == ITEMS
        assert await session.get_items(2) == ITEMS[-2:]
        assert await session.get_items(99) == ITEMS and await session.get_items(0) == []

    run(use)


def test_pop_and_clear(run: Callable[[Use], None]) -> None:
    async def use(session: Session) -> None:
        await session.add_items(ITEMS)
        assert [await session.pop_item() for _ in range(3)] == ITEMS[:2:-1]
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == [*ITEMS[:3], ITEMS[0]]
        await session.clear_session()
        assert await session.get_items() == [] and await session.pop_item() is None

    run(use)


def test_many_items_keep_their_order(run: Callable[[Use], None]) -> None:
    many: list[Any] = [{"role": "user", "content": str(number)} for number in range(1100)]

    async def use(session: Session) -> None:
        await session.add_items(many)
        assert await session.get_items() == many and await session.get_items(1050) == many[50:]

    run(use)


def test_a_long_conversation_is_remembered(server: Server) -> None:
    """A request takes 100 turns."""
    many: list[Any] = [{"role": "user", "content": f"Item {number} is on the shelf."} for number in range(120)]

    async def use() -> None:
        async with AsyncClient(server.url, server.key) as client:
            await ReverieSession("long", client, subject_id="ben", remember=True).add_items(many)
            turns = (await client.read_working_memory("ben", "long")).turns
            assert (turns[0].text, turns[-1].text) == (many[0]["content"], many[-1]["content"])

    asyncio.run(use())


class Scripted(Model):
    """Answers with what it was told, and keeps its instructions."""

    def __init__(self) -> None:
        self.instructions: list[str | None] = []

    async def get_response(self, system_instructions: str | None, *args: Any, **options: Any) -> ModelResponse:
        self.instructions.append(system_instructions)
        text = ResponseOutputText(type="output_text", text="Rex.", annotations=[])
        message = ResponseOutputMessage(id="o1", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    async def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield  # an async generator


def test_an_agent_remembers(server: Server) -> None:
    model = Scripted()
    agent = Agent(name="Helper", instructions="Be kind.", model=model)

    async def talk() -> None:
        async with AsyncClient(server.url, server.key) as client:
            first = ReverieSession("first", client, subject_id="eve", remember=True)
            await Runner.run(agent, "I have a golden retriever named Bruno.", session=first)
            second = ReverieSession("second", client, subject_id="eve")
            config = RunConfig(call_model_input_filter=memory_filter(client, "eve", session_id="second"))
            await Runner.run(agent, "What is the name of my golden retriever?", session=second, run_config=config)
            assert [item.get("role") for item in await second.get_items()] == ["user", "assistant"]

    asyncio.run(talk())
    assert model.instructions[0] == "Be kind."
    assert (told := model.instructions[1]) is not None and told.startswith("Be kind.") and "Bruno" in told


def test_odd_texts_end_no_run_and_the_conversation_is_in_no_instructions(server: Server) -> None:
    model = Scripted()
    agent = Agent(name="Helper", model=model)

    async def talk() -> None:
        async with AsyncClient(server.url, server.key) as client:
            session = ReverieSession("odd", client, subject_id="nina", remember=True)
            config = RunConfig(call_model_input_filter=memory_filter(client, "nina", session_id="odd"))
            for text in ("I'm so sad today.", "An in\0voice.", "\0", "x" * 20_001):
                await Runner.run(agent, text, session=session, run_config=config)
            assert "An invoice." in [item.get("content") for item in await session.get_items()]
            assert len((await client.read_working_memory("nina", "odd")).turns) == 7

    asyncio.run(talk())
    assert "Current mood: sad" in (model.instructions[1] or "")
    assert not any("CONVERSATION" in (told or "") for told in model.instructions)


def test_memory_keeps_the_text_of_items_that_are_too_long_for_the_store(server: Server) -> None:
    image = {"type": "input_image", "image_url": "data:" + "x" * 200_000, "detail": "auto"}
    items: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": "My dog Rex."}, image]}]

    async def use() -> None:
        async with AsyncClient(server.url, server.key) as client:
            with pytest.raises(InvalidRequestError, match="REVERIE_API_CHARACTERS"):
                await ReverieSession("image", client, subject_id="rex", remember=True).add_items(items)
            assert [turn.text for turn in (await client.read_working_memory("rex", "image")).turns] == ["My dog Rex."]

    asyncio.run(use())
