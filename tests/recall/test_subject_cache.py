"""A recall from what is remembered answers as one that reads first, and notices what has changed since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from reverie.errors import InferenceError
from reverie.policy import load_policy, shipped_policies
from reverie.recall.contexts.context import assemble_context
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall, recall_at_once
from reverie.recall.subject_cache import SubjectCache
from reverie.store.database import Store
from reverie.store.session import Statement, TenantSession, perform
from tests.recall.conftest import LATER, Corpus

QUERY = RecallQuery(text="What did Ann find?", subject_id="ann", as_of=LATER)


class CountedSession(TenantSession):
    """A session that counts its round trips."""

    def __init__(self, session: TenantSession) -> None:
        super().__init__(session.tenant_id)
        self._session = session
        self.round_trips = 0
        #: How many statements each had.
        self.statements = list[int]()

    async def execute(self, statements: tuple[Statement[Any], ...]) -> tuple[list[Any], ...]:
        self.round_trips += 1
        self.statements.append(len(statements))
        return await self._session.execute(statements)

    def transaction(self) -> Any:
        raise AssertionError("a recall reads in single round trips")

    async def offload(self, function: Callable[..., Any], *args: Any) -> Any:
        return await self._session.offload(function, *args)

    async def wait(self, future: Any, seconds: float) -> Any:
        return await self._session.wait(future, seconds)


def test_it_answers_the_same_and_reads_again_what_has_changed(
    reader: Store, corpus: Corpus, conn: psycopg.Connection[Any]
) -> None:
    corpus.turn("I found quartz", speaker="Ann")
    corpus.turn("And I found jade", speaker="Ben")
    subject_cache, round_trips = SubjectCache(), list[int]()
    common: dict[str, Any] = {"policy": load_policy("reverie"), "embedder": None}

    def ask() -> Any:
        counted = CountedSession(reader.session("acme"))
        found = perform(recall_at_once(counted, QUERY, subject_cache, **common))
        assert found == perform(recall(reader.session("acme"), QUERY, **common))
        round_trips.append(counted.round_trips)
        return found

    ask()
    ask()
    conn.execute("update memory.subjects set speakers = '{Cem,Dan}'")
    ask()
    ask()
    conn.execute("delete from memory.subjects")
    assert ask().notes[0] == "Nothing is remembered about ann."
    assert round_trips == [2, 1, 3, 1, 2]


def test_waiting_turns_are_read_only_where_some_may_wait(
    reader: Store, corpus: Corpus, conn: psycopg.Connection[Any]
) -> None:
    corpus.turn("I found quartz", speaker="Ann")
    subject_cache = SubjectCache()

    def statements() -> list[int]:
        counted = CountedSession(reader.session("acme"))
        perform(recall_at_once(counted, QUERY, subject_cache, policy=load_policy("reverie"), embedder=None))
        return counted.statements

    assert [statements(), statements()] == [[1, 1], [1]]
    conn.execute(
        "insert into ops.queue (tenant_id, subject_id, session_id, turns, said_at, first_at, last_at, due_at) values"
        " ('acme', 'ann', 's9', 1, %(at)s, %(at)s, %(at)s, %(at)s)",
        {"at": LATER},
    )
    assert [statements(), statements()] == [[1, 1, 2], [2]], "the cached row no longer holds"
    conn.execute("delete from ops.queue")
    assert [statements(), statements()] == [[2, 1, 1], [1]]


@pytest.mark.parametrize("policy", shipped_policies())
def test_a_context_answers_the_same_and_reads_again_what_has_changed(
    reader: Store, corpus: Corpus, conn: psycopg.Connection[Any], policy: str
) -> None:
    corpus.turn("I found quartz", speaker="Ann")
    corpus.memory("Ben found jade", kind="summary")
    subject_cache, round_trips = SubjectCache(), list[int]()
    common: dict[str, Any] = {"policy": load_policy(policy), "embedder": None}

    def ask() -> None:
        counted = CountedSession(reader.session("acme"))
        found = perform(assemble_context(counted, QUERY, **common, subject_cache=subject_cache))
        assert found == perform(assemble_context(reader.session("acme"), QUERY, **common))
        round_trips.append(counted.round_trips)

    ask()
    ask()
    conn.execute("update memory.subjects set speakers = '{Cem,Dan}'")
    ask()
    conn.execute("delete from memory.subjects")
    ask()
    ask()
    expected = {"chat": [2] * 5, "contact": [1] * 5}
    assert round_trips == expected.get(policy, [2, 1, 2, 1, 1])


def test_a_model_that_fails_is_told_to_the_recall(reader: Store, corpus: Corpus) -> None:
    class Broken:
        model = "broken"
        price_per_token = 0.0

        def encode(self, texts: Any) -> Any:
            raise InferenceError("it is away")

        def count_tokens(self, text: str) -> int:
            return len(text.split())

    corpus.turn("I found quartz")
    subject_cache = SubjectCache()
    for _ in range(2):
        recalled = recall_at_once(
            reader.session("acme"),
            RecallQuery(text="quartz", subject_id="ann", as_of=LATER),
            subject_cache,
            policy=load_policy("reverie"),
            embedder=Broken(),
        )
        found = perform(recalled)
        assert "it is away" in found.notes[0] and len(found.hits) == 1


@pytest.mark.parametrize("rows", [[], [(["Ann"], None)]])
def test_nothing_is_remembered_of_whom_nobody_knows(rows: list[Any]) -> None:
    subject_cache = SubjectCache()
    subject_cache.put("acme", "ann", rows)
    assert subject_cache.get("acme", "ann") == (rows or None)
    assert subject_cache.get("other", "ann") is None
