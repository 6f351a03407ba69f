"""`ReverieStore` held against `InMemoryStore` and `PostgresStore`: the same tests run on all. And nodes in a graph."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

pytest.importorskip("langgraph.store.postgres", reason="needs langgraph: make test-adapters")
pytest.importorskip("reverie_langgraph", reason="needs reverie-langgraph: make test-adapters")

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from reverie_langgraph import ReverieStore, context_node, recall_tool, remember_node

from reverie_client import Client
from tests.adapters.conftest import DOUBTED, Server, doubting
from tests.conftest import Databases


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, server.key) as opened:
        yield opened


@pytest.fixture(scope="module")
def database(databases: Databases) -> Iterator[str]:
    """A database for `PostgresStore`."""
    with databases() as url:
        yield url


@pytest.fixture(params=["memory", "postgres", "reverie"])
def store(request: pytest.FixtureRequest, client: Client, database: str) -> Iterator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
        return
    if request.param == "postgres":
        with PostgresStore.from_conn_string(database) as theirs:
            theirs.setup()
            yield theirs
            with psycopg.connect(database, autocommit=True) as conn:
                conn.execute("truncate public.store")
        return
    ours = ReverieStore(client)
    yield ours
    while found := ours.search((), limit=1000):
        ours.batch([PutOp(item.namespace, item.key, None) for item in found])


def keys(found: Any) -> set[str]:
    return {item.key for item in found}


def test_put_get_overwrite_delete(store: BaseStore) -> None:
    value = {"name": "Rex", "age": 3, "tags": ["a", None], "deep": {"é": True, "x": 1.5}, "none": None}
    store.put(("ana", "pets"), "a", value)
    item = store.get(("ana", "pets"), "a")
    assert item is not None and (item.value, item.key, item.namespace) == (value, "a", ("ana", "pets"))
    store.put(("ana", "pets"), "a", {"name": "Max"})
    again = store.get(("ana", "pets"), "a")
    assert again is not None and again.value == {"name": "Max"} and again.updated_at >= item.updated_at
    assert store.get(("ana", "pets"), "b") is None and store.get(("ana",), "a") is None
    store.delete(("ana", "pets"), "a")
    store.delete(("ana", "pets"), "a")
    assert store.get(("ana", "pets"), "a") is None


def test_a_batch_reads_before_it_writes(store: BaseStore) -> None:
    space = ("ana", "x")
    ops = [PutOp(space, "a", {"n": 1}), GetOp(space, "a"), PutOp(space, "a", {"n": 2}), SearchOp(space)]
    assert store.batch(ops) == [None, None, None, []]
    found = store.batch([SearchOp(("ana",)), GetOp(space, "a"), PutOp(space, "a", None)])
    assert keys(found[0]) == {"a"} and found[1].value == {"n": 2} and found[2] is None
    assert store.get(space, "a") is None


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (None, {"a", "b", "c"}),
        ({"kind": "dog"}, {"a", "b"}),
        ({"age": {"$gt": 3}}, {"b"}),
        ({"age": {"$gte": 3, "$lt": 9}}, {"a"}),
        ({"kind": {"$ne": "dog"}, "age": {"$lte": 1}}, {"c"}),
        ({"kind": {"$eq": "cat"}}, {"c"}),
        ({"home": {"city": "Porto"}}, {"a"}),
        ({"tags": ["x", "y"]}, {"b"}),
        ({"missing": "x"}, set()),
    ],
)
def test_search_filters(store: BaseStore, filter: dict[str, Any] | None, expected: set[str]) -> None:
    store.put(("f", "ana"), "a", {"kind": "dog", "age": 3, "home": {"city": "Porto", "n": 1}})
    store.put(("f", "ana"), "b", {"kind": "dog", "age": 9, "tags": ["x", "y"]})
    store.put(("f", "ben", "old"), "c", {"kind": "cat", "age": 1})
    store.put(("ff",), "d", {"kind": "dog"})
    if isinstance(store, PostgresStore) and filter and "home" in filter:
        pytest.skip("PostgresStore takes an object in a filter for operators")
    assert keys(store.search(("f",), filter=filter)) == expected
    pages = [store.search(("f",), filter=filter, limit=2, offset=offset) for offset in (0, 2)]
    assert keys(pages[0]) | keys(pages[1]) == expected and [len(page) <= 2 for page in pages] == [True, True]


def test_list_namespaces(store: BaseStore) -> None:
    spaces = [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("b", "c")]
    store.batch([PutOp(space, "k", {"n": 1}) for space in spaces])
    assert store.list_namespaces() == spaces
    assert store.list_namespaces(prefix=("a", "*")) == spaces[:3]
    assert store.list_namespaces(suffix=("c",)) == [spaces[0], spaces[3]]
    assert store.list_namespaces(prefix=("a",), suffix=("*", "d")) == [spaces[1]]
    assert store.list_namespaces(prefix=("a",), max_depth=2) == [("a", "b"), ("a", "x")]
    assert store.list_namespaces(limit=2, offset=1) == spaces[1:3]
    op = ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("b",)),))
    assert store.batch([op]) == [[("b", "c")]]


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x")])
def test_bad_namespaces_are_refused(store: BaseStore, namespace: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "a", {})


def test_async(store: BaseStore) -> None:
    async def use() -> None:
        await store.aput(("async",), "a", {"n": 1})
        found = await asyncio.gather(*(store.aget(("async",), "a") for _ in range(5)))
        assert [item and item.value for item in found] == [{"n": 1}] * 5
        assert keys(await store.asearch(("async",), filter={"n": 1})) == {"a"}
        assert await store.alist_namespaces(prefix=("async",)) == [("async",)]
        await store.adelete(("async",), "a")
        assert await store.abatch([GetOp(("async",), "a")]) == [None]

    asyncio.run(use())


def test_many_items(store: BaseStore) -> None:
    store.batch([PutOp(("many",), f"k{number:04}", {"n": number}) for number in range(1203)])
    assert len(store.search(("many",), limit=2000)) == 1203
    assert len(store.search(("many",), limit=2000, offset=1100)) == 103


def test_time_to_live(client: Client) -> None:
    """`InMemoryStore` has none; the semantics are those of `PostgresStore`."""
    store = ReverieStore(client, ttl={"default_ttl": 60, "refresh_on_read": True})
    store.put(("ttl",), "short", {"n": 1}, ttl=0.0005)
    store.put(("ttl",), "long", {"n": 2})
    assert keys(store.search(("ttl",), refresh_ttl=False)) >= {"long"}
    time.sleep(0.1)
    assert store.get(("ttl",), "short") is None and keys(store.search(("ttl",))) == {"long"}
    assert store.list_namespaces(prefix=("ttl",)) == [("ttl",)]


def test_a_query_orders_by_words(client: Client) -> None:
    store = ReverieStore(client)
    store.put(("words",), "a", {"text": "drinks green tea"})
    store.put(("words",), "b", {"text": "has a dog"})
    found = store.search(("words",), query="Which teas?")
    assert [item.key for item in found] == ["a", "b"] and (found[0].score or 0) > (found[1].score or 0)


class State(MessagesState):
    """Messages, and the context for them."""

    context: str


def test_nodes_in_a_graph(client: Client) -> None:
    graph = StateGraph(State)
    graph.add_node("context", context_node(client))
    graph.add_node("model", lambda state: {"messages": [AIMessage("Nice.", id="a1")]})
    graph.add_node("remember", remember_node(client))
    for before, after in ((START, "context"), ("context", "model"), ("model", "remember"), ("remember", END)):
        graph.add_edge(before, after)
    config: Any = {"configurable": {"user_id": "ana", "thread_id": "t1"}}
    asked = HumanMessage("I have a golden retriever named Bruno.", id="h1")
    for _ in range(2):  # a second time adds nothing
        out = graph.compile().invoke({"messages": [asked]}, config)
    assert [message.content for message in out["messages"]] == [asked.content, "Nice."]
    assert out["context"]
    assert "Bruno" in recall_tool(client, "ana").invoke({"question": "What is my golden retriever called?"})
    assert client.recall("ana", "Bruno golden retriever", top_k=10).hits
    with pytest.raises(ValueError, match="user_id"):
        graph.compile().invoke({"messages": [asked]}, {"configurable": {}})


def test_a_long_conversation_is_remembered(client: Client) -> None:
    """A request takes 100 turns."""
    said = [HumanMessage(f"Item {number} is on the shelf.", id=str(number)) for number in range(120)]
    remember_node(client)({"messages": said}, {"configurable": {"user_id": "ben", "thread_id": "long"}})
    turns = client.read_working_memory("ben", "long").turns
    assert (turns[0].text, turns[-1].text) == (said[0].content, said[-1].content)


def test_the_tool_tells_a_doubt() -> None:
    with Client("http://x", "key", transport=doubting()) as client:
        assert recall_tool(client, "ana").invoke({"question": "Coffee?"}) == f"- {DOUBTED}"


def test_messages_without_ids_and_long_ones_are_taken(client: Client) -> None:
    config: Any = {"configurable": {"user_id": "eve", "thread_id": "long"}}
    said = [HumanMessage("Hello."), AIMessage("Good day."), *(HumanMessage("word " * 5_000) for _ in range(9))]
    remember_node(client)({"messages": said}, config)
    turns = client.read_working_memory("eve", "long").turns
    assert [turn.text for turn in turns[:2]] == ["Hello.", "Good day."] and "word" in turns[-1].text
    assert "context" in context_node(client)({"messages": said}, config)


def test_a_message_that_was_changed_or_is_too_long_does_not_stop_memory(client: Client) -> None:
    config: Any = {"configurable": {"user_id": "kim", "thread_id": "changed"}}
    node = remember_node(client)
    said = [HumanMessage(f"Item {number}.", id=str(number)) for number in range(5)]
    node({"messages": said}, config)
    said[3] = HumanMessage("Item three.", id="3")
    said += [HumanMessage("x" * 150_000, id="long"), HumanMessage("The last.", id="last")]
    for _ in range(2):  # a second time adds nothing
        node({"messages": said}, config)
    texts = [turn.text for turn in client.read_working_memory("kim", "changed").turns]
    assert texts[:6] == [*(f"Item {number}." for number in range(5)), "Item three."]
    assert (len(texts), len(texts[6]), texts[7]) == (8, 100_000, "The last.")


def test_a_batch_of_long_items_is_put(client: Client) -> None:
    store = ReverieStore(client)
    store.batch([PutOp(("long",), str(number), {"text": "x" * 60_000}) for number in range(5)])
    assert len(store.search(("long",))) == 5


def test_a_message_with_a_nul_character_does_not_stop_memory(client: Client) -> None:
    """As text that is copied from a PDF may have."""
    config: Any = {"configurable": {"user_id": "nina", "thread_id": "nul"}}
    said = [HumanMessage("The invoice\0 says 40.", id="1"), HumanMessage("Thanks.\0", id="2")]
    assert "context" in context_node(client)({"messages": said}, config)
    remember_node(client)({"messages": said}, config)
    turns = client.read_working_memory("nina", "nul").turns
    assert [turn.text for turn in turns] == ["The invoice says 40.", "Thanks."]


def test_the_tool_takes_any_question(client: Client) -> None:
    tool = recall_tool(client, "nina")
    assert (
        tool.invoke({"question": "\0"})
        == tool.invoke({"question": ""})
        == "The question is empty. Ask a full question."
    )
    assert tool.invoke({"question": "invoice\0 " * 5_000})


def test_the_context_leaves_the_conversation_to_the_state_and_has_its_mood(client: Client) -> None:
    config: Any = {"configurable": {"user_id": "otto", "thread_id": "t1"}}
    said = [HumanMessage("I'm so sad today.", id="1"), AIMessage("I'm sorry.", id="2")]
    remember_node(client)({"messages": said}, config)
    told = context_node(client)({"messages": [*said, HumanMessage("What now?", id="3")]}, config)["context"]
    assert "CONVERSATION" not in told and "Current mood: sad" in told
