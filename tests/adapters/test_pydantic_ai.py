"""Message history, instructions and toolset, with Pydantic AI's own `FunctionModel` and `TestModel`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs pydantic-ai-slim: make test-adapters")
pytest.importorskip("reverie_pydantic_ai", reason="needs reverie-pydantic-ai: make test-adapters")

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextContent,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from reverie_pydantic_ai import MessageHistory, memory_instructions, memory_toolset

from reverie_client import AsyncClient, InvalidRequestError
from tests.adapters.conftest import DOUBTED, Server, doubting

Use = Callable[[AsyncClient], Coroutine[Any, Any, None]]


@pytest.fixture
def run(server: Server) -> Callable[[Use], None]:
    async def with_client(use: Use) -> None:
        async with AsyncClient(server.url, server.key) as client:
            await use(client)

    return lambda use: asyncio.run(with_client(use))


def test_a_history_comes_back_equal(run: Callable[[Use], None]) -> None:
    """Prompts, tool calls, returns and answers, as `TestModel` makes them."""
    agent = Agent(TestModel(custom_output_text="Done."), instructions="Be kind.")

    @agent.tool_plain
    def find(query: str) -> dict[str, Any]:
        return {"found": [query, None, 1.5]}

    async def use(client: AsyncClient) -> None:
        history = MessageHistory("c1", client, subject_id="ana")
        first = await agent.run("Find it.", message_history=await history.load())
        await history.add(first.new_messages())
        assert await history.load() == first.all_messages() and len(first.all_messages()) == 4
        second = await agent.run("Again.", message_history=await history.load())
        await history.add(second.new_messages())
        assert await history.load() == second.all_messages()
        assert await history.load(2) == second.all_messages()[-2:]
        assert await MessageHistory("c2", client, subject_id="ana").load() == []
        await history.clear()
        assert await history.load() == []

    run(use)


def test_a_long_conversation_is_remembered(run: Callable[[Use], None]) -> None:
    """A request takes 100 turns."""
    many: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(f"Item {number} is on the shelf.")]) for number in range(120)
    ]

    async def use(client: AsyncClient) -> None:
        await MessageHistory("long", client, subject_id="ben", remember=True).add(many)
        turns = (await client.read_working_memory("ben", "long")).turns
        assert (turns[0].text, turns[-1].text) == ("Item 0 is on the shelf.", "Item 119 is on the shelf.")

    run(use)


def test_memory_is_in_the_instructions_and_not_in_the_history(run: Callable[[Use], None]) -> None:
    told: list[str | None] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(info.instructions)
        return ModelResponse(parts=[TextPart("Bruno.")])

    async def use(client: AsyncClient) -> None:
        history = MessageHistory("c3", client, subject_id="eve", remember=True)
        first = await Agent(FunctionModel(answer)).run("I have a golden retriever named Bruno.")
        await history.add(first.new_messages())
        agent = Agent(
            FunctionModel(answer), instructions=memory_instructions(client, lambda ctx: ctx.deps), deps_type=str
        )
        await agent.run("What is the name of my golden retriever?", deps="eve")

    run(use)
    assert not told[0] and "Bruno" in (told[1] or "")


def test_a_model_uses_the_tools(run: Callable[[Use], None]) -> None:
    returned: list[Any] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {tool.name for tool in info.function_tools} == {"recall_memory", "remember"}
        returned.extend(part.content for part in messages[-1].parts if part.part_kind == "tool-return")
        steps = [
            ToolCallPart("remember", {"fact": "Has a cat named Miso."}),
            ToolCallPart("recall_memory", {"question": "Which cat?"}),
        ]
        step = len(messages) // 2
        return ModelResponse(parts=[steps[step] if step < len(steps) else TextPart("Done.")])

    async def use(client: AsyncClient) -> None:
        agent = Agent(FunctionModel(script), toolsets=[memory_toolset(client, "kim")])
        assert (await agent.run("Note my cat.")).output == "Done."

    run(use)
    assert returned[0] == "Noted." and isinstance(returned[1], list)


def test_the_text_of_a_prompt_with_an_image_is_taken(run: Callable[[Use], None]) -> None:
    told: list[str | None] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(info.instructions)
        return ModelResponse(parts=[TextPart("Bruno.")])

    async def use(client: AsyncClient) -> None:
        image = ImageUrl("https://example.org/dog.png")
        history = MessageHistory("c4", client, subject_id="ida", remember=True)
        await history.add([ModelRequest(parts=[UserPromptPart(["I have a", image, TextContent("retriever: Bruno.")])])])
        (turn,) = (await client.read_working_memory("ida", "c4")).turns
        assert turn.text == "I have a\nretriever: Bruno."
        agent = Agent(FunctionModel(answer), instructions=memory_instructions(client, "ida"))
        await agent.run(["What is the name of my retriever?", image])

    run(use)
    assert "Bruno" in (told[0] or "")


def test_the_tool_tells_a_doubt() -> None:
    returned: list[Any] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        returned.extend(part.content for part in messages[-1].parts if part.part_kind == "tool-return")
        call = ToolCallPart("recall_memory", {"question": "Coffee?"})
        return ModelResponse(parts=[TextPart("Done.") if returned else call])

    async def use() -> None:
        async with AsyncClient("http://x", "key", transport=doubting()) as client:
            await Agent(FunctionModel(script), toolsets=[memory_toolset(client, "ana")]).run("Coffee?")

    asyncio.run(use())
    assert returned == [[DOUBTED]]


def test_a_model_is_asked_again_for_an_empty_argument() -> None:
    told: list[Any] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.extend(messages[-1].parts)
        calls = [ToolCallPart("recall_memory", {"question": ""}), ToolCallPart("remember", {"fact": ""})]
        return ModelResponse(parts=[TextPart("Done.")] if len(messages) > 1 else calls)

    async def use() -> None:
        async with AsyncClient("http://x", "key", transport=doubting()) as client:
            assert (await Agent(FunctionModel(script), toolsets=[memory_toolset(client, "ana")]).run("Hi")).output

    asyncio.run(use())
    assert ["at least 1 character" in str(part) for part in told] == [False, True, True]


def test_odd_texts_end_no_run_and_the_conversation_is_in_no_instructions(run: Callable[[Use], None]) -> None:
    told: list[str | None] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(info.instructions)
        return ModelResponse(parts=[TextPart("Well.")])

    async def use(client: AsyncClient) -> None:
        history = MessageHistory("odd", client, subject_id="nina", remember=True)
        agent = Agent(FunctionModel(answer), instructions=memory_instructions(client, "nina", session_id="odd"))
        for text in ("I'm so sad today.", "An in\0voice.", "\0", "x" * 20_001):
            result = await agent.run(text, message_history=await history.load())
            await history.add(result.new_messages())
        assert len((await client.read_working_memory("nina", "odd")).turns) == 7

    run(use)
    assert "Current mood: sad" in (told[1] or "") and not any("CONVERSATION" in (each or "") for each in told)


def test_memory_keeps_the_text_of_messages_that_are_too_long_for_the_store(run: Callable[[Use], None]) -> None:
    prompt = UserPromptPart(["My dog Rex.", ImageUrl(url="data:" + "x" * 200_000)])

    async def use(client: AsyncClient) -> None:
        with pytest.raises(InvalidRequestError, match="REVERIE_API_CHARACTERS"):
            await MessageHistory("image", client, subject_id="rex", remember=True).add([ModelRequest(parts=[prompt])])
        assert [turn.text for turn in (await client.read_working_memory("rex", "image")).turns] == ["My dog Rex."]

    run(use)
