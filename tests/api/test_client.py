"""The Python client against the app itself: every operation, blocking and for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi.testclient import TestClient

from reverie.api.app import create_app
from reverie.settings import Settings
from reverie_client import AsyncClient, Client, InboxItem, InvalidRequestError, NotFoundError, Outcome, Turn
from reverie_client.operations import Operations
from reverie_client.request import Request
from reverie_client.routes.store import StorePut
from tests.api.conftest import MakeKey, until_logged
from tests.cli.conftest import insert
from tests.recall.conftest import Corpus

BRUNO = Turn(role="user", speaker="Ana", text="This is my brother Bruno.", source_id="t1")
CRISIS = Turn(role="user", speaker="Ann", text="I want to kill myself tonight.")
NOW = datetime(2026, 3, 2, tzinfo=UTC)


class Recorder(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Passes requests to the app and keeps what succeeded."""

    def __init__(self, app: TestClient) -> None:
        self.app, self.answered = app, set[tuple[str, str]]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        # the app's own client may be httpx's successor, whose answers are of another class
        given = self.app.request(
            request.method, str(request.url), content=request.read(), headers=dict(request.headers)
        )
        response = httpx.Response(given.status_code, headers=dict(given.headers), content=given.content)
        if response.is_success:
            self.answered.add((request.method, request.url.path))
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await asyncio.to_thread(self.handle_request, request)


class Caller:
    """Calls a client's method by name, and waits for the answer where it is awaited."""

    def __init__(self, client: Client | AsyncClient, runner: asyncio.Runner) -> None:
        self.client, self.runner = client, runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            found = getattr(self.client, name)(*args, **kwargs)
            if inspect.isasyncgen(found):
                return self.runner.run(_gathered(found))
            if inspect.isgenerator(found):
                return list(found)
            return self.runner.run(found) if inspect.isawaitable(found) else found

        return call


async def _gathered(found: Any) -> list[Any]:
    return [each async for each in found]


@pytest.fixture
def recorder(app: TestClient) -> Recorder:
    return Recorder(app)


@pytest.fixture(params=["sync", "async"])
def memory(recorder: Recorder, make_key: MakeKey, request: pytest.FixtureRequest) -> Iterator[Caller]:
    key = make_key(scopes=["admin"])
    with asyncio.Runner() as runner:
        if request.param == "sync":
            with Client("http://testserver", key, transport=recorder) as client:
                yield Caller(client, runner)
        else:
            client_ = AsyncClient("http://testserver", key, transport=recorder)
            yield Caller(client_, runner)
            runner.run(client_.aclose())


def documented() -> set[tuple[str, str]]:
    """Method and path of each operation of the API."""
    paths = create_app(Settings.model_validate({"embedding_model": "none"})).openapi()["paths"]
    return {(method.upper(), path) for path, methods in paths.items() for method in methods}


def test_every_operation_has_one_method() -> None:
    found = []
    for name, make in inspect.getmembers(Operations):
        if name.startswith(("_", "iter_")):
            continue
        needed = [
            each for each in inspect.signature(make).parameters.values() if each.default is inspect.Parameter.empty
        ]
        request = make(**{each.name: f"{{{each.name}}}" for each in needed})
        assert isinstance(request, Request)
        found.append((request.method, httpx.URL(request.path).path))
    assert sorted(found) == sorted(documented()), "run `make client`"


def test_every_operation_works(memory: Caller, recorder: Recorder, app: TestClient, corpus: Corpus) -> None:
    """A route that is new fails here until it is called below."""
    quartz = corpus.memory("Found quartz in the garden")
    assert memory.suggest_tools("ann", "Where do I find quartz?").suggested == []
    assert memory.find_lessons("ann", "Where do I find quartz?").lessons == []
    assert [each.id for each in memory.rank_inbox("ann", [InboxItem(id="1", text="Quartz")]).items] == ["1"]
    assert [each.subject_id for each in memory.poll_states().states] == ["ann"]
    (turn,) = memory.append_turns("ana", "s1", [BRUNO], embed=False).turns
    assert (turn.status, turn.source_id) == ("added", "t1")
    assert "Has brother Bruno" in [each.content for each in turn.extracted]
    assert memory.update_working_memory("ana", "s1", preferences=["Short answers"]).preferences == ["Short answers"]
    assert [each.text for each in memory.read_working_memory("ana", "s1").turns] == [BRUNO.text]
    assert BRUNO.text in memory.assemble_context("ana", session_id="s1", question="And today?").text
    assert memory.close_session("ana", "s1").waiting == 1
    assert memory.cache_connection_tools("ana", "jira-1", ["jira.search"]).connection_id == "jira-1"
    assert [each.is_fresh for each in memory.list_connections("ana").connections] == [True]
    context = memory.assemble_context("ana", connections=["jira-1"], why=True)
    assert "jira.search" in context.text and context.lines is not None
    until_logged(app)
    assert memory.explain_context(context.id).subject_id == "ana"

    assert [hit.id for hit in memory.recall("ann", "quartz", why=True).hits] == [quartz]
    assert memory.recall_staged("ann", question="quartz").facts == []
    assert memory.explain_memory(quartz).memory["content"] == "Found quartz in the garden"
    assert [each.id for each in memory.list_memories("ann").memories] == [quartz]
    assert memory.list_facts("ann").facts == []
    assert memory.read_profile("ann").subject_id == "ann"
    assert memory.list_entities("ann").entities == memory.read_graph("ann").entities == []
    assert memory.list_conflicts(subject_id="ann").conflicts == []

    assert memory.record_observation("ann", "preference", "Prefers tea").events[0].status == "added"
    assert memory.add_document("ann", "tool", "Tea is a drink.").events
    assert memory.update_user_context("ann", persistent_info_additions=["Has a sister"]).events
    assert memory.update_connection_context("ann", "jira", {"project": "SHIP"}).events
    outcome = Outcome(
        subject_id="ann", session_id="s1", source_id="1", metric="views", value=5, positive=True, observed_at=NOW
    )
    assert [memory.append_outcomes([outcome]).added, memory.append_outcomes([outcome]).repeated] == [1, 1]
    assert isinstance(memory.correct_memory(quartz, "replace", content="Found amber").id, UUID)
    assert memory.correct_memory(quartz, "retract").effect.startswith("From now on")

    flagged = memory.append_turns("ann", "s2", [CRISIS]).turns[0]
    assert flagged.crisis is not None and flagged.crisis.review
    assert [each.turn_id for each in memory.list_reviews().reviews] == [flagged.turn_id]
    assert memory.mark_reviewed(flagged.turn_id).turn_id == flagged.turn_id
    assert memory.list_reviews().reviews == []

    run = UUID(int=0)
    insert(
        corpus.conn, "memory.triggers", id=run, subject_id="ann", kind="silence", audience="caller", happened_at=NOW,
        due_at=NOW, until_at=NOW, why="{}", run_id=run,
    )  # fmt: skip
    insert(
        corpus.conn, "memory.ties", subject_id="ann", day=NOW.date(), zone="UTC", churn_risk=0, strength=0.5, why="{}",
        run_id=run,
    )  # fmt: skip
    assert [each.id for each in memory.list_triggers(subject_id="ann", every=True).triggers] == [run]
    assert memory.acknowledge_trigger(run, "done").subject_id == "ann"
    assert memory.get_signals("ann").standing.strength == 0.5
    insert(
        corpus.conn, "memory.life_events", id=run, subject_id="ann", speaker="", kind="planned", title="Quartz fair",
        first_on=NOW.date(), last_on=NOW.date(), precision="day", certainty="date", zone="UTC", yearly=False, worth=1,
        told_at=NOW, turn_id=turn.turn_id, place=0, state="planned", run_id=run,
    )  # fmt: skip
    assert [each.title for each in memory.list_life_events("ann", since=NOW.date()).life_events] == ["Quartz fair"]
    assert "SUMMARY:Quartz fair" in memory.get_calendar("ann")
    webhook = memory.add_webhook("https://example.org/hook", ["trigger.due"])
    assert [each.id for each in memory.list_webhooks().webhooks] == [webhook.id]
    assert memory.replay_webhook(webhook.id).messages == 0
    assert memory.end_webhook(webhook.id).id == webhook.id

    assert memory.change_consent("ann", retain_days=30).retain_days == memory.read_consent("ann").retain_days == 30
    assert '"subject_id":"ann"' in memory.export_subject("ann")
    kept = {"op": "put", "namespace": ["ann"], "key": "k", "value": {"gone": None}}
    assert memory.run_store([kept]).results[0].items == []
    assert memory.run_store([{"op": "get", "namespace": ["ann"], "key": "k"}]).results[0].items[0].value == {
        "gone": None
    }
    assert memory.run_store([StorePut.model_validate(kept | {"value": None})]).results
    assert memory.run_store([{"op": "get", "namespace": ["ann"], "key": "k"}]).results[0].items == []
    assert memory.erase("subject", subject_id="ann", preview=True).receipt is None
    assert memory.erase("subject", subject_id="ann").receipt == 1
    assert [each.kind for each in memory.list_erasures().receipts] == ["subject"]

    assert memory.greet().version and memory.health().status and memory.ready().status == "ready"
    assert "# HELP" in memory.read_metrics()
    missing = {
        operation
        for operation in documented()
        if not any(
            method == operation[0] and re.fullmatch(re.sub(r"{\w+}", "[^/]+", operation[1]), path)
            for method, path in recorder.answered
        )
    }
    assert missing == set()


def test_a_list_is_iterated_over_page_by_page(memory: Caller, corpus: Corpus) -> None:
    ids = [corpus.memory(f"Found quartz number {number}") for number in range(3)]
    assert [each.id for each in memory.iter_memories("ann", limit=1)] == ids[::-1]
    assert memory.iter_entities("ann") == memory.iter_reviews() == []
    page = memory.list_memories("ann", limit=2)
    assert [each.id for each in memory.list_memories("ann", cursor=page.next_cursor).memories] == ids[:1]


def test_filters_and_times_arrive(memory: Caller, corpus: Corpus) -> None:
    fact, pattern = corpus.memory("Has a dog"), corpus.memory("Walks daily", kind="pattern")
    corpus.memory("Likes tea", kind="preference", at=NOW)
    found = memory.list_memories("ann", kinds=["fact", "pattern", "preference"], until=NOW)
    assert {each.id for each in found.memories} == {fact, pattern}


def test_a_turn_without_an_id_gets_one(memory: Caller) -> None:
    turns = [Turn(role="user", text="Yes.", said_at=NOW) for _ in range(2)]
    first, second = memory.append_turns("ana", "s1", turns).turns
    assert first.status == second.status == "added"
    assert first.source_id != second.source_id


def test_null_within_metadata_is_kept(memory: Caller, conn: psycopg.Connection[Any]) -> None:
    memory.record_observation("ann", "fact", "Has a dog", metadata={"channel": None})
    assert conn.execute("select metadata from log.events").fetchone() == ({"channel": None},)


def test_a_recall_is_logged_once(
    memory: Caller, app: TestClient, corpus: Corpus, conn: psycopg.Connection[Any]
) -> None:
    corpus.memory("Found quartz")
    memory.recall("ann", "quartz")
    until_logged(app)
    assert conn.execute("select count(*) from log.recalls").fetchone() == (1,)


def test_errors_name_the_field(memory: Caller) -> None:
    with pytest.raises(NotFoundError) as missing:
        memory.read_working_memory("ana", "none")
    assert (missing.value.status, missing.value.title) == (404, "Not found")
    with pytest.raises(InvalidRequestError, match="422") as wrong:
        memory.recall("ana", "x", top_k=0)
    assert wrong.value.pointers == ["#/top_k"]
    assert wrong.value.errors[0].detail in wrong.value.detail


def test_a_correction_may_name_the_subject(memory: Caller, corpus: Corpus) -> None:
    quartz = corpus.memory("Found quartz")
    with pytest.raises(NotFoundError):
        memory.correct_memory(quartz, "wrong", subject_id="bob")
    with pytest.raises(InvalidRequestError, match="keep_apart takes no subject_id"):
        memory.correct_memory(quartz, "keep_apart", subject_id="ann")
    assert memory.correct_memory(quartz, "wrong", subject_id="ann").id
    with pytest.raises(NotFoundError):
        memory.correct_memory(quartz, "retract", subject_id="bob")
