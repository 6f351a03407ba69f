"""`ReverieMemoryBlock` held against `FactExtractionMemoryBlock`, and an agent with LlamaIndex's own mock model."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core.memory", reason="needs llama-index-core: make test-adapters")
pytest.importorskip("reverie_llamaindex", reason="needs reverie-llamaindex: make test-adapters")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import BaseMemoryBlock, FactExtractionMemoryBlock, Memory
from reverie_llamaindex import ReverieMemoryBlock, recall_tool

from reverie_client import Client
from tests.adapters.conftest import DOUBTED, Server, doubting

# LlamaIndex's store of messages leaves its connections to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
BRUNO = "I have a golden retriever named Bruno."
FILLER = [f"Word {number} of a long talk about the weather of last week" for number in range(6)]


class Extracting(MockLLM):
    """Finds the one fact that the tests tell."""

    async def achat(self, messages: Any, **given: Any) -> Any:
        told = BRUNO if any(message.content == BRUNO for message in messages) else ""
        return type("Reply", (), {"message": ChatMessage(role="assistant", content=f"<fact>{told}</fact>")})


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, server.key) as opened:
        yield opened


@pytest.fixture(autouse=True)
def connections_collected() -> Iterator[None]:
    """The connections that LlamaIndex leaves are collected here, where their warnings are ignored."""
    yield
    gc.collect()


@pytest.fixture(params=["facts", "reverie"])
def block(request: pytest.FixtureRequest, client: Client) -> BaseMemoryBlock[str]:
    """A block in which nothing is remembered."""
    if request.param == "facts":
        return FactExtractionMemoryBlock(llm=Extracting())
    return ReverieMemoryBlock(client=client, subject_id=request.node.originalname)


def short_memory(block: BaseMemoryBlock[str], session_id: str = "s1") -> Memory:
    """Keeps about two messages; a token is a word."""
    return Memory.from_defaults(
        session_id=session_id, token_limit=40, token_flush_size=10, tokenizer_fn=str.split, memory_blocks=[block]
    )


def talk() -> list[ChatMessage]:
    roles = ["user", "assistant"]
    return [ChatMessage(role=roles[place % 2], content=text) for place, text in enumerate([BRUNO, *FILLER, "My dog?"])]


def test_what_leaves_short_term_memory_stands_in_the_system_message(block: BaseMemoryBlock[str]) -> None:
    async def use() -> None:
        memory = short_memory(block)
        assert await memory.aget() == []
        for message in talk():
            await memory.aput(message)
        system, *others = await memory.aget(input="What is my golden retriever called?")
        assert system.role == "system" and "Bruno" in (system.content or "")
        assert others and not any("Bruno" in (message.content or "") for message in others)

    asyncio.run(use())


def test_the_blocking_methods_work(block: BaseMemoryBlock[str]) -> None:
    memory = short_memory(block, "blocking")
    memory.put_messages(talk())
    for _ in range(2):
        assert "Bruno" in str(memory.get(input="What is my golden retriever called?")[0].content)


def test_messages_become_turns_of_their_session_once(client: Client) -> None:
    async def use() -> None:
        block = ReverieMemoryBlock(client=client, subject_id="ana")
        said = [
            ChatMessage(role="system", content="Be kind."),
            ChatMessage(role="user", content=BRUNO),
            ChatMessage(role="assistant", content="Nice."),
            ChatMessage(role="tool", content="{}"),
            ChatMessage(role="assistant", content=None),
        ]
        for _ in range(2):
            await block.aput(said, session_id="one")
        await block.aput([ChatMessage(role="user", content=str(number)) for number in range(120)], session_id="two")

    asyncio.run(use())
    turns = client.read_working_memory("ana", "one").turns
    assert [(turn.role, turn.text) for turn in turns] == [("user", BRUNO), ("assistant", "Nice.")]
    turns = client.read_working_memory("ana", "two").turns
    assert (turns[0].text, turns[-1].text) == ("0", "119")


# LlamaIndex's workflows look at every attribute of an agent, deprecated ones too
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_agent_uses_block_and_tool(client: Client) -> None:
    told: list[list[ChatMessage]] = []

    def script(messages: list[ChatMessage], **given: Any) -> ChatMessage:
        told.append(list(messages))
        if messages[-1].role == "tool":
            return ChatMessage(role="assistant", content="Bruno.")
        call = ToolCallBlock(
            tool_call_id="c1", tool_name="recall_memory", tool_kwargs={"question": "Which golden retriever?"}
        )
        return ChatMessage(role="assistant", blocks=[call])

    async def use() -> Any:
        block = ReverieMemoryBlock(client=client, subject_id="eve")
        await block.aput([ChatMessage(role="user", content=BRUNO)], session_id="earlier")
        agent = FunctionAgent(
            llm=MockFunctionCallingLLM(response_generator=script), tools=[recall_tool(client, "eve")], streaming=False
        )
        memory = Memory.from_defaults(session_id="later", memory_blocks=[block], tokenizer_fn=str.split)
        return await agent.run("What is my golden retriever called?", memory=memory)

    assert str(asyncio.run(use())) == "Bruno."
    assert told[0][0].role == "system" and "Bruno" in str(told[0][0].content)
    assert told[-1][-1].role == "tool" and "Bruno" in str(told[-1][-1].content)


def test_the_tool_tells_a_doubt() -> None:
    with Client("http://x", "key", transport=doubting()) as client:
        assert recall_tool(client, "ana")(question="Coffee?").content == f"- {DOUBTED}"


def test_texts_that_the_server_refuses_are_made_acceptable(client: Client) -> None:
    odd = "An in\0voice \ud83d" + "x" * 20_000

    async def use() -> str:
        block = ReverieMemoryBlock(client=client, subject_id="nina")
        await block.aput([ChatMessage(role="user", content=odd)], session_id="odd")
        return await block.aget([ChatMessage(role="user", content=odd)], session_id="odd")

    assert "An invoice" in asyncio.run(use())
    assert recall_tool(client, "nina")(question=odd).content
    assert recall_tool(client, "nina")(question="").content == "The question is empty. Ask a full question."
