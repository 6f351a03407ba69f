"""Agent loops of two frameworks use memory over MCP, by HTTP and by stdio, each with a scripted model.

The frameworks bring an MCP SDK of the first generation, the server one of the second.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

pytest.importorskip("langchain_mcp_adapters.client", reason="needs langchain-mcp-adapters: make test-adapters")
pytest.importorskip("agents.mcp", reason="needs openai-agents: make test-adapters")

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServer, MCPServerStdio, MCPServerStreamableHttp
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from tests.adapters.conftest import PYTHON, Server

set_tracing_disabled(True)

#: What the scripted models call, one after the other; then they answer.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"statement": "I have a golden retriever named Bruno."}),
    ("recall", {"question": "What is my golden retriever called?"}),
]


@pytest.fixture(params=["http", "stdio"])
def door(request: pytest.FixtureRequest, server: Server) -> str:
    if request.param == "http" and httpx.post(f"{server.url}/mcp").status_code == 404:
        pytest.skip("the server's environment has no mcp: make test-adapters")
    return str(request.param)


def stdio_of(server: Server, subject_id: str) -> dict[str, Any]:
    variables = {"REVERIE_URL": server.url, "REVERIE_API_KEY": server.key, "REVERIE_SUBJECT": subject_id}
    return {"command": PYTHON, "args": ["-m", "reverie", "mcp"], "env": {"PATH": os.environ["PATH"]} | variables}


def http_of(server: Server, subject_id: str) -> dict[str, Any]:
    return {
        "url": f"{server.url}/mcp?subject={subject_id}",
        "headers": {"Authorization": f"Bearer {server.key}"},
    }


class ScriptedChat(BaseChatModel):
    """A model of LangChain: calls the next tool, then answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        assert {"remember", "recall"} <= {tool.name for tool in tools}
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        step = sum(message.type == "tool" for message in messages)
        calls = [
            {"name": name, "args": arguments, "id": f"c{step}", "type": "tool_call"}
            for name, arguments in CALLS[step : step + 1]
        ]
        reply = AIMessage("" if calls else "Bruno.", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


def test_a_loop_of_langgraph(server: Server, door: str) -> None:
    subject_id = f"langgraph-{door}"
    connection = (
        stdio_of(server, subject_id) | {"transport": "stdio"}
        if door == "stdio"
        else http_of(server, subject_id) | {"transport": "streamable_http"}
    )

    async def talk() -> list[BaseMessage]:
        tools = await MultiServerMCPClient({"reverie": connection}).get_tools()
        model = ScriptedChat().bind_tools(tools)

        async def ask(state: MessagesState) -> dict[str, Any]:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", ask)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        found: list[BaseMessage] = (await graph.compile().ainvoke({"messages": [("user", "Hi.")]}))["messages"]
        return found

    said = asyncio.run(talk())
    remembered, recalled = [message for message in said if message.type == "tool"]
    assert remembered.status == recalled.status == "success", said
    assert "Bruno" in str(recalled.content) and said[-1].content == "Bruno."


class ScriptedResponses(Model):
    """A model of the Agents SDK: calls the next tool, then answers."""

    def __init__(self) -> None:
        self.outputs: list[str] = []

    async def get_response(
        self, system_instructions: str | None, input: Any, *args: Any, **given: Any
    ) -> ModelResponse:
        self.outputs = [str(item["output"]) for item in input if item.get("type") == "function_call_output"]
        step = len(self.outputs)
        output: Any
        if step < len(CALLS):
            name, arguments = CALLS[step]
            output = ResponseFunctionToolCall(
                type="function_call", call_id=f"c{step}", name=name, arguments=json.dumps(arguments)
            )
        else:
            text = ResponseOutputText(type="output_text", text="Bruno.", annotations=[])
            output = ResponseOutputMessage(
                id="o1", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    async def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield  # an async generator


@pytest.mark.filterwarnings("ignore:Use `streamable_http_client`:DeprecationWarning")
def test_a_loop_of_openai_agents(server: Server, door: str) -> None:
    model, subject_id = ScriptedResponses(), f"openai-{door}"

    async def talk() -> Any:
        params: Any = stdio_of(server, subject_id) if door == "stdio" else http_of(server, subject_id)
        kind = MCPServerStdio if door == "stdio" else MCPServerStreamableHttp
        opened: MCPServer = kind(params, client_session_timeout_seconds=30)
        async with opened as tools:
            agent = Agent(name="Helper", model=model, mcp_servers=[tools])
            return (await Runner.run(agent, [{"role": "user", "content": "Hi."}])).final_output

    assert asyncio.run(talk()) == "Bruno."
    assert len(model.outputs) == 2 and "Bruno" in model.outputs[1]
