"""The Python client by itself: retries, errors, and the state of its generated files."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from reverie_client import (
    AnswerError,
    AsyncClient,
    Client,
    Outcome,
    ProblemError,
    RateLimitError,
    ServerError,
    Turn,
    UnavailableError,
    UnreachableError,
)
from reverie_client.routes.store import StorePop, StorePut

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "python"
TURNS = {"turns": [], "flush_at": None}
Reply = httpx.Response | Exception


class Script(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers with the replies in order, and keeps the bodies that were sent."""

    def __init__(self, *replies: Reply) -> None:
        self.replies, self.sent = list(replies), list[bytes]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request.content)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def blocking(script: Script, call: Callable[[Client], object]) -> None:
    with Client("http://x", "key", transport=script) as client:
        call(client)


def awaiting(script: Script, call: Callable[[AsyncClient], Awaitable[object]]) -> None:
    async def run() -> None:
        async with AsyncClient("http://x", "key", transport=script) as client:
            await call(client)

    asyncio.run(run())


BOTH = pytest.mark.parametrize("use", [blocking, awaiting])


@BOTH
def test_a_refused_request_is_sent_again_with_the_same_id(use: Callable[..., None]) -> None:
    busy = httpx.Response(503, headers={"Retry-After": "0"}, json={"title": "Busy", "detail": "Busy."})
    script = Script(httpx.ConnectError("not yet"), busy, httpx.Response(200, json=TURNS))
    use(script, lambda client: client.append_turns("ana", "s1", [Turn(role="user", text="Yes.")]))
    assert len(script.sent) == 3 and len(set(script.sent)) == 1


@BOTH
def test_after_a_timeout_only_an_idempotent_request_is_sent_again(use: Callable[..., None]) -> None:
    script = Script(httpx.ReadTimeout("late"), httpx.Response(200, json=TURNS))
    use(script, lambda client: client.append_turns("ana", "s1", [Turn(role="user", text="Yes.")]))
    assert len(script.sent) == 2
    script = Script(httpx.ReadTimeout("late"))
    with pytest.raises(UnreachableError, match="late"):
        use(script, lambda client: client.recall("ana", "quartz"))
    assert len(script.sent) == 1


@BOTH
def test_attempts_are_bounded(use: Callable[..., None]) -> None:
    script = Script(*[httpx.Response(429, headers={"Retry-After": "0"}) for _ in range(3)])
    with pytest.raises(RateLimitError):
        use(script, lambda client: client.health())
    assert script.replies == []


@BOTH
def test_a_failure_of_the_server_is_raised_at_once(use: Callable[..., None]) -> None:
    script = Script(httpx.Response(500, text="oops"))
    with pytest.raises(ServerError, match="500 Internal Server Error"):
        use(script, lambda client: client.health())


@BOTH
def test_what_may_be_stored_is_sent_again_only_if_that_is_idempotent(use: Callable[..., None]) -> None:
    def answers(stored: str) -> Script:
        problem = {"title": "Temporarily unavailable", "detail": "The database cannot answer.", "stored": stored}
        refusal = httpx.Response(503, headers={"Retry-After": "0"}, json=problem)
        return Script(refusal, httpx.Response(200, json={"results": []} | TURNS))

    pop = StorePop(op="pop", namespace=["ana"])
    script = answers("unknown")
    with pytest.raises(UnavailableError) as raised:
        use(script, lambda client: client.run_store([pop]))
    assert len(script.sent) == 1 and raised.value.stored == "unknown"
    script = answers("no")
    use(script, lambda client: client.run_store([pop]))
    assert len(script.sent) == 2
    script = answers("unknown")
    use(script, lambda client: client.append_turns("ana", "s1", [Turn(role="user", text="Yes.")]))
    assert len(script.sent) == 2


@BOTH
@pytest.mark.parametrize("given", [{}, {"observed_at": None}])
def test_an_outcome_that_is_sent_again_has_the_same_time(use: Callable[..., None], given: dict[str, None]) -> None:
    """The server's own time would make another measurement of it."""
    script = Script(httpx.ReadTimeout("late"), httpx.Response(200, json={"added": 0, "repeated": 1, "refused": 0}))
    outcome = Outcome(
        subject_id="ana", session_id="s1", source_id="t1", metric="views", value=5, positive=True, **given
    )
    use(script, lambda client: client.append_outcomes([outcome]))
    assert len(script.sent) == 2 and len(set(script.sent)) == 1
    (sent,) = json.loads(script.sent[0])["outcomes"]
    assert datetime.now(UTC) - datetime.fromisoformat(sent["observed_at"]) < timedelta(minutes=1)


def test_a_required_field_is_sent_though_it_is_null() -> None:
    script = Script(httpx.Response(200, json={"results": []}))
    blocking(script, lambda client: client.run_store([StorePut(op="put", namespace=["a"], key="k", value=None)]))
    assert json.loads(script.sent[0]) == {"operations": [{"op": "put", "namespace": ["a"], "key": "k", "value": None}]}


def test_a_proxy_that_gave_up_leaves_the_effect_unclear() -> None:
    with pytest.raises(UnavailableError):
        blocking(Script(httpx.Response(504)), lambda client: client.recall("ana", "quartz"))


def test_a_problem_is_read_whole() -> None:
    problem = {
        "type": "urn:reverie:problem:422",
        "title": "Not valid",
        "status": 422,
        "detail": "#/top_k: too small.",
        "errors": [{"pointer": "#/top_k", "detail": "too small."}],
    }
    with pytest.raises(ProblemError) as raised:
        blocking(Script(httpx.Response(422, json=problem)), lambda client: client.recall("ana", "quartz"))
    error = raised.value
    assert (error.type, error.title, error.detail) == (problem["type"], problem["title"], problem["detail"])
    assert error.pointers == ["#/top_k"]


def test_an_answer_of_another_shape_is_an_error() -> None:
    with pytest.raises(AnswerError, match="status"):
        blocking(Script(httpx.Response(200, json={})), lambda client: client.health())


def test_the_generated_files_are_current() -> None:
    spec = importlib.util.spec_from_file_location("generate", CLIENT / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    package = CLIENT / "reverie_client"
    expected = generate.Document(generate.api_document()).files()
    stored = {f"routes/{path.name}" for path in (package / "routes").glob("*.py")} - {"routes/__init__.py"}
    assert stored | {"operations.py"} == set(expected), "run `make client`"
    stale = [name for name, source in expected.items() if (package / name).read_text(encoding="utf-8") != source]
    assert stale == [], "run `make client`"
