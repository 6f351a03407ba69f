"""`client.session(...)` around calls of the OpenAI client, against a scripted server of completions."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import openai
import pytest

from reverie.store.connect import connect
from reverie_client import AsyncClient, Client, ReverieClientError
from reverie_client.chat.arguments import question_turn
from reverie_client.chat.replies import Reply
from tests.clients.conftest import LiveServer
from tests.recall.conftest import Corpus

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where did I find quartz?"}]
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "quartz"}'}}


class Scripted(ThreadingHTTPServer):
    """Answers each completion with what is scripted, whole or in parts, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[dict[str, Any]] = []
        self.message: dict[str, Any] = {"role": "assistant", "content": "In the garden."}


class _Handler(BaseHTTPRequestHandler):
    server: Scripted

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(asked)
        base = {"id": "x", "created": 1, "model": "scripted"}
        self.send_response(200)
        if asked.get("stream"):
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in self._events() if self.path.endswith("/responses") else ():
                self._part(event)
            for delta in self._deltas() if "messages" in asked else ():
                choice = {"index": 0, "delta": delta, "finish_reason": None}
                self._part(base | {"object": "chat.completion.chunk", "choices": [choice]})
            self.wfile.write(b"data: [DONE]\n\n")
        else:
            choice = {"index": 0, "message": self.server.message, "finish_reason": "stop"}
            whole = {"object": "chat.completion", "choices": [choice]}
            body = json.dumps(base | (self._response() if self.path.endswith("/responses") else whole)).encode()
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def _response(self) -> dict[str, Any]:
        """Of the API of responses."""
        said = {"type": "output_text", "text": self.server.message["content"], "annotations": []}
        message = {"type": "message", "id": "m1", "status": "completed", "role": "assistant", "content": [said]}
        thought = {
            "type": "reasoning",
            "id": "r1",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": "Hm."}],
        }
        output = [
            thought,
            message,
            *({"type": "function_call", "call_id": "c1", **CALL["function"]} for _ in self._calls()),
        ]
        return {"object": "response", "created_at": 1, "status": "completed", "output": output, "tools": []}

    def _calls(self) -> list[dict[str, Any]]:
        return list(self.server.message.get("tool_calls", []))

    def _events(self) -> Iterator[dict[str, Any]]:
        """The same as a stream."""
        for word in self.server.message["content"].split(" "):
            yield {"type": "response.output_text.delta", "item_id": "m1", "output_index": 1, "delta": word + " "}
        whole = {"id": "x", "model": "scripted", **self._response()}
        for place, item in enumerate(whole["output"]):
            yield {"type": "response.output_item.done", "output_index": place, "item": item}
        yield {"type": "response.completed", "response": whole}

    def _deltas(self) -> Iterator[dict[str, Any]]:
        for word in (self.server.message["content"] or "").split(" "):
            yield {"content": word + " "}
        for call in self.server.message.get("tool_calls", []):
            yield {"tool_calls": [call]}
            yield {"tool_calls": [{"index": 0, "function": {"arguments": " "}}]}

    def _part(self, value: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[Scripted]:
    with Scripted() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def base(model: Scripted) -> dict[str, Any]:
    return {"base_url": f"http://127.0.0.1:{model.server_port}/v1", "api_key": "none", "max_retries": 0}


@pytest.fixture(scope="module")
def remembered(live: LiveServer) -> LiveServer:
    with connect(live.database_url) as conn:
        for subject in ("whole", "parts", "async", "tool", "half", "responses", "events", "halves", "long"):
            Corpus(conn, subject=subject).memory("Found quartz in the garden")
    return live


def said(live: LiveServer, subject: str) -> list[tuple[str, str]]:
    with live.client() as memory:
        return [(turn.role, turn.text.strip()) for turn in memory.read_working_memory(subject, "s1").turns]


def test_a_call_is_told_what_is_remembered_and_stored_once(remembered: LiveServer, model: Scripted) -> None:
    with openai.OpenAI(**base(model)) as llm, remembered.client() as memory, memory.session("whole", "s1") as session:
        for _ in range(2):
            reply = session.call(llm.chat.completions.create, model="scripted", messages=ASKED)
        assert (reply.choices[0].message.content, session.errors) == ("In the garden.", [])
    system, user = model.seen[0]["messages"]
    assert system["content"].startswith("Be brief.\n\nWhat is remembered") and "Found quartz" in system["content"]
    assert user == ASKED[1]
    assert [role for role, _ in said(remembered, "whole")] == ["user", "assistant", "assistant"]


def test_a_long_message_is_cut_and_its_reply_is_stored(remembered: LiveServer, model: Scripted) -> None:
    """Together they are longer than one request may be."""
    model.message["content"] = "b" * 100_001
    asked = [{"role": "user", "content": "a" * 100_001}]
    with openai.OpenAI(**base(model)) as llm, remembered.client() as memory, memory.session("long", "s1") as session:
        session.call(llm.chat.completions.create, model="scripted", messages=asked)
        assert session.errors == []
    assert [(role, len(text)) for role, text in said(remembered, "long")] == [("user", 100_000), ("assistant", 100_000)]


def test_a_stream_is_handed_on_and_stored_at_its_end(remembered: LiveServer, model: Scripted) -> None:
    with openai.OpenAI(**base(model)) as llm, remembered.client() as memory, memory.session("parts", "s1") as session:
        stream = session.call(llm.chat.completions.create, model="scripted", messages=ASKED, stream=True)
        assert "".join(part.choices[0].delta.content or "" for part in stream) == "In the garden. "
        assert stream.response.status_code == 200, "other attributes are the stream's"
    assert said(remembered, "parts") == [("user", ASKED[1]["content"]), ("assistant", "In the garden.")]


def test_of_a_stream_that_is_left_what_came_is_stored(remembered: LiveServer, model: Scripted) -> None:
    with (
        openai.OpenAI(**base(model)) as llm,
        remembered.client() as memory,
        memory.session("half", "s1") as session,
        session.call(llm.chat.completions.create, model="scripted", messages=ASKED, stream=True) as stream,
    ):
        next(iter(stream))
    assert said(remembered, "half")[1] == ("assistant", "In")


def test_tools_that_the_model_calls_are_stored_with_their_arguments(remembered: LiveServer, model: Scripted) -> None:
    model.message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    with openai.OpenAI(**base(model)) as llm, remembered.client() as memory, memory.session("tool", "s1") as session:
        for part in session.call(llm.chat.completions.create, model="scripted", messages=ASKED, stream=True):
            assert part.id == "x"
        model.message = {"role": "assistant", "content": "There."}
        answer = {"role": "tool", "tool_call_id": "c1", "content": "garden"}
        more = [*ASKED, {"role": "assistant", "content": None, "tool_calls": [CALL]}, answer]
        session.call(llm.chat.completions.create, model="scripted", messages=more)
        turns = memory.read_working_memory("tool", "s1").turns
    assert [(turn.role, turn.text.strip()) for turn in turns] == [
        ("user", ASKED[1]["content"]),
        ("assistant", ""),
        ("assistant", "There."),
    ]
    assert (turns[1].tool_calls[0]["name"], turns[1].tool_calls[0]["arguments"]) == ("search", {"q": "quartz"})


def test_the_same_for_asyncio(remembered: LiveServer, model: Scripted) -> None:
    async def main() -> None:
        async with (
            openai.AsyncOpenAI(**base(model)) as llm,
            AsyncClient(remembered.url, remembered.key()) as memory,
            memory.session("async", "s1", closes=True) as session,
        ):
            await session.call(llm.chat.completions.create, model="scripted", messages=ASKED)
            stream = await session.call(llm.chat.completions.create, model="scripted", messages=ASKED, stream=True)
            async with stream:
                assert await anext(stream) and [part async for part in stream]
            turns = (await memory.read_working_memory("async", "s1")).turns
            assert [turn.role for turn in turns] == ["user", "assistant", "assistant"]
            assert session.context is not None and "quartz" in session.context.text

    asyncio.run(main())


def test_responses_are_told_in_their_instructions(remembered: LiveServer, model: Scripted) -> None:
    with (
        openai.OpenAI(**base(model)) as llm,
        remembered.client() as memory,
        memory.session("responses", "s1") as session,
    ):
        given = {"model": "scripted", "input": ASKED[1]["content"], "instructions": "Be brief."}
        reply = session.call(llm.responses.create, **given)
        session.call(llm.responses.create, **given)
        session.call(llm.responses.create, **given, previous_response_id=reply.id)
        session.call(llm.responses.create, **given, conversation="c1")
        session.call(llm.responses.create, **given, conversation="c1")
    told = model.seen[0]
    assert told["instructions"].startswith("Be brief.\n\nWhat is remembered") and "quartz" in told["instructions"]
    assert told["input"] == ASKED[1]["content"]
    roles = [role for role, text in said(remembered, "responses") if text in (ASKED[1]["content"], "In the garden.")]
    assert roles == ["user", "assistant", "assistant", *["user", "assistant"] * 3], "asked again is no new question"


def test_a_stream_of_responses_is_stored_with_the_tools_that_it_calls(remembered: LiveServer, model: Scripted) -> None:
    model.message = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}
    with openai.OpenAI(**base(model)) as llm, remembered.client() as memory, memory.session("events", "s1") as session:
        asked = [ASKED[1], {"type": "function_call_output", "call_id": "c0", "output": "none"}]
        with session.call(llm.responses.create, model="scripted", input=asked, stream=True) as stream:
            assert next(stream).type == "response.output_text.delta"
            assert [event.type for event in stream][-1] == "response.completed"
        (turn,) = memory.read_working_memory("events", "s1").turns
    assert (turn.role, turn.text.strip()) == ("assistant", "I look.")
    assert [(call["name"], call["arguments"]) for call in turn.tool_calls] == [("search", {"q": "quartz"})]
    assert not session.errors


def test_a_call_without_a_conversation_is_refused(model: Scripted) -> None:
    with (
        Client("http://127.0.0.1:9", "none") as memory,
        memory.session("ann", "s1") as session,
        pytest.raises(TypeError, match="`messages`"),
    ):
        session.call(print, prompt="Hi")
    assert not model.seen


def test_a_fault_of_memory_does_not_fail_the_call(model: Scripted) -> None:
    with (
        openai.OpenAI(**base(model)) as llm,
        Client("http://127.0.0.1:9", "none", attempts=1) as memory,
        memory.session("ann", "s1") as session,
    ):
        reply = session.call(llm.chat.completions.create, model="scripted", messages=ASKED)
    assert reply.choices[0].message.content == "In the garden."
    assert model.seen[0]["messages"] == ASKED
    assert [type(error).__name__ for error in session.errors] == ["UnreachableError", "UnreachableError"]


def test_a_server_that_hangs_is_asked_once_for_each_of_context_and_storing() -> None:
    asked: list[str] = []

    def hang(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        raise httpx.ReadTimeout("hangs")

    answer = {"choices": [{"message": {"content": "There."}}]}

    async def create(**given: Any) -> Any:
        return answer

    async def main() -> None:
        async with AsyncClient("http://x", "none", transport=httpx.MockTransport(hang)) as memory:
            await memory.session("ann", "s1").call(create, messages=ASKED)

    with Client("http://x", "none", transport=httpx.MockTransport(hang)) as memory:
        memory.session("ann", "s1").call(lambda **given: answer, messages=ASKED)
    asyncio.run(main())
    assert asked == ["/v1/contexts", "/v1/turns"] * 2


def test_a_message_with_a_nul_character_loses_nothing(remembered: LiveServer) -> None:
    call = {"function": {"name": "search", "arguments": '{"t": "quartz\\u0000"}'}}
    answer = {"choices": [{"message": {"content": "In\0 it.", "tool_calls": [call]}}]}
    with remembered.client() as memory, memory.session("nul", "s1") as session:
        session.call(lambda **given: answer, messages=[{"role": "user", "content": "The in\0voice?"}])
        assert not session.errors and session.context is not None
        turns = memory.read_working_memory("nul", "s1").turns
    assert [turn.text for turn in turns] == ["The invoice?", "In it."]
    assert turns[1].tool_calls[0]["arguments"] == {"t": "quartz"}


def test_half_a_surrogate_pair_is_replaced(remembered: LiveServer) -> None:
    """A model may write one in the arguments of a tool, a person in a message that was cut."""
    call = {"function": {"name": "search", "arguments": '{"t": "quartz \\ud83d"}'}}
    answer = {"choices": [{"message": {"content": "In \ud83d", "tool_calls": [call]}}]}
    asked = [{"role": "user", "content": "Quartz? \ud83d"}]
    with remembered.client() as memory, memory.session("halves", "s1") as session:
        assert session.call(lambda **given: answer, messages=asked) is answer
        assert not session.errors and session.context is not None
        turns = memory.read_working_memory("halves", "s1").turns
    assert [turn.text for turn in turns] == ["Quartz? \ufffd", "In \ufffd"]
    assert turns[1].tool_calls[0]["arguments"] == {"t": "quartz \ufffd"}


PART = {"choices": [{"index": 0, "delta": {"content": "There."}}]}


def test_a_stream_that_is_read_after_the_client_was_closed_comes_whole() -> None:
    with Client("http://127.0.0.1:9", "none", attempts=1) as memory:
        session = memory.session("ann", "s1")
        stream = session.call(lambda **given: iter([PART]), messages=ASKED, stream=True)
    assert list(stream) == [PART]
    assert isinstance(session.errors[-1], ReverieClientError) and "closed" in str(session.errors[-1])
    assert isinstance(session.errors[-1].__cause__, RuntimeError)


def test_an_answer_of_another_shape_comes_back_though_it_cannot_be_stored() -> None:
    async def create(**given: Any) -> Any:
        return {"choices": 1}

    async def main() -> None:
        async with AsyncClient("http://127.0.0.1:9", "none", attempts=1) as memory:
            session = memory.session("ann", "s1")
            assert await session.call(create, messages=ASKED) == {"choices": 1}
            assert isinstance(session.errors[-1].__cause__, TypeError)

    asyncio.run(main())


def test_an_iterator_of_messages_reaches_the_model_whole() -> None:
    seen: list[dict[str, Any]] = []

    def create(**given: Any) -> Any:
        seen.append({name: list(given[name]) for name in given})
        return {"choices": []}

    async def create_later(**given: Any) -> Any:
        return create(**given)

    async def main() -> None:
        async with AsyncClient("http://127.0.0.1:9", "none", attempts=1) as memory:
            await memory.session("ann", "s1").call(create_later, messages=iter(ASKED))

    asyncio.run(main())
    with Client("http://127.0.0.1:9", "none", attempts=1) as memory:
        for name in ("messages", "input"):
            memory.session("ann", "s1").call(create, **{name: (each for each in ASKED)})
    assert seen == [{"messages": ASKED}, {"messages": ASKED}, {"input": ASKED}]


def test_of_several_replies_the_first_is_stored() -> None:
    reply = Reply()
    for text, index in (("In ", 0), ("Un", 1), ("the garden.", 0), ("known.", 1)):
        reply.take({"choices": [{"index": index, "delta": {"content": text}}]})
    assert reply.text == "In the garden."
    reply.take({"choices": [{"message": {"content": " A"}}, {"message": {"content": " B"}}]})
    assert reply.text == "In the garden. A"


def test_the_same_answer_to_another_question_is_another_turn() -> None:
    """An application that sends only the last few messages has each answer at the same place."""

    def known(*texts: str) -> str | None:
        asked = [{"role": role, "content": text} for role, text in zip(("assistant", "user"), texts, strict=True)]
        turn = question_turn("s1", {"messages": asked})
        return turn.source_id if turn else None

    assert known("Book the vet?", "Yes") == known("Book the vet?", "Yes") != known("Tell Ines too?", "Yes")


@pytest.mark.parametrize("role", ["system", "developer"])
def test_instructions_after_a_message_do_not_hide_it(role: str) -> None:
    asked = [{"role": "user", "content": "I moved to Leeds."}, {"role": role, "content": "Reply in German."}]
    turn, alone = (question_turn("s1", {"messages": messages}) for messages in (asked, asked[:1]))
    assert turn == alone is not None
