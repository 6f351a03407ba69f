"""What holds stands before what it replaced: the order alone, and through the whole pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.recall.contexts.context import assemble_context
from reverie.recall.places.currency import by_currency, later_first
from reverie.recall.places.read import Former, read_formers
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.result import Hit, RecallResult
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.work import Work
from tests.asking import asking
from tests.conftest import Databases

START = datetime(2026, 1, 5, 18, tzinfo=UTC)
END = START + timedelta(days=200)


def hit(number: int, *, turn: int | None = None, score: float | None = None) -> Hit:
    item: Any = "memory" if turn else "turn"
    score = -float(number) if score is None else score
    turn_id = UUID(int=turn or number)
    return Hit(item, UUID(int=number), "fact", f"thing {number}", START, score, {}, {}, turn_id, None, None)


def former(*successors: Hit, is_recallable: bool = True) -> Former:
    return Former("Lives in Oslo", END, successors, is_recallable)


def test_a_successor_moves_before_what_it_replaced() -> None:
    old, other, new = hit(1), hit(2), hit(3)
    ranked = by_currency([old, other, new], {old.id: [former(hit(30, turn=3))]}, may_add=True)
    assert [one.id.int for one in ranked] == [3, 1, 2]
    assert ranked[0].score == old.score, "a budget never leaves it out first"
    assert ranked[1].content == "thing 1 [no longer: Lives in Oslo, until 2026-07-24]"


def test_a_successor_that_was_not_found_is_added() -> None:
    old, new = hit(1), hit(30, turn=3)
    assert [one.id.int for one in by_currency([old], {old.id: [former(new)]}, may_add=True)] == [30, 1]
    assert [one.id.int for one in by_currency([old], {old.id: [former(new)]}, may_add=False)] == [1]
    gone = former(new, is_recallable=False)
    assert [one.id.int for one in by_currency([old], {old.id: [gone]}, may_add=True)] == [1]


def test_a_chain_ends_with_what_holds() -> None:
    first, second, third = hit(1), hit(2), hit(3)
    formers = {first.id: [former(second, third)], second.id: [former(third)]}
    ranked = by_currency([first, second, third], formers, may_add=True)
    assert [one.id.int for one in ranked] == [3, 2, 1]


def test_words_of_a_change_move_a_later_hit_before_an_earlier_one() -> None:
    changes = load_policy("reverie").recall.changes
    old = hit(1)._replace(content="I have an Android phone", score=0.9)
    new = hit(2)._replace(content="I switched phones, an iPhone", score=0.8, happened_at=END)
    far = hit(3)._replace(content="I switched to tea", score=0.5, happened_at=END)
    plan = hit(4)._replace(content="Maybe I get my new phone soon", score=0.4, happened_at=END)
    ranked = later_first([old, new, far, plan], "which phone", speakers=["Ann"], changes=changes, margin=0.2)
    assert [(one.id.int, one.score) for one in ranked] == [(2, 0.9), (1, 0.9), (3, 0.5), (4, 0.4)]
    other = new._replace(content="I have dinner at my mother's every Tuesday now")
    assert later_first([old, other], "which phone", speakers=["Ann"], changes=changes, margin=0.2) == [old, other], (
        "another thing"
    )
    early = new._replace(happened_at=START - timedelta(days=1))
    assert later_first([old, early], "which phone", speakers=["Ann"], changes=changes, margin=0.2) == [old, early]
    assert later_first([old, new], "which phone", speakers=["Ann"], changes=changes, margin=0.0) == [old, new]


@given(
    order=st.permutations(range(1, 8)),
    replaced=st.dictionaries(st.integers(1, 7), st.integers(1, 7), max_size=7),
)
def test_nothing_is_lost_whatever_replaces_what(order: list[int], replaced: dict[int, int]) -> None:
    ranked = [hit(number, score=-float(place)) for place, number in enumerate(order)]
    formers = {UUID(int=old): [former(hit(new))] for old, new in replaced.items()}
    placed = by_currency(ranked, formers, may_add=True)
    assert sorted(one.id.int for one in placed) == sorted(order)
    assert [one.score for one in placed] == sorted((one.score for one in placed), reverse=True)
    places = [one.id.int for one in placed]
    for old, new in replaced.items():
        if old not in (new, replaced.get(new)) and not _leads_back(new, replaced):
            assert places.index(new) < places.index(old)


def _leads_back(number: int, replaced: dict[int, int]) -> bool:
    seen: list[int] = []
    while number in replaced and number not in seen:
        seen.append(number)
        number = replaced[number]
    return number in seen


SAID = [
    (0, "s1", "I live in Oslo."),
    (1, "s1", "I really love waffles"),
    (2, "s2", "I really love waffles"),
    (3, "s2", "I really love waffles!"),
    (60, "s3", "Is the tram still running at night?"),
    (120, "s4", "We moved to Bergen last weekend, my back hurts from the boxes"),
    (130, "s5", "I can't stand waffles any more."),
]


@pytest.fixture(scope="module")
def moved(databases: Databases, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with told(databases, embedder, tmp_path_factory.mktemp("moved") / "turns.jsonl") as store:
        yield store


@contextmanager
def told(databases: Databases, embedder: Embedder, path: Path) -> Iterator[Store]:
    rows = [
        {"subject_id": "ann", "session_id": session, "source_id": f"{day}", "role": "user", "text": text,
         "said_at": (START + timedelta(days=day)).isoformat()}
        for day, session, text in SAID
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with databases() as url, Store.open(url, size=1) as store:
        import_file(store, path, tenant_id="acme", policy="reverie")
        work = Work(
            store=store, scope=Scope(tenant_id="acme"), policy=load_policy("reverie"), as_of=END, embedder=embedder
        )
        for _ in ingest(work):
            pass
        for _ in catch_up(work):
            pass
        yield store


def ask(store: Store, embedder: Embedder, question: str, **given: Any) -> RecallResult:
    common = {"subject_id": "ann", "policy": load_policy("reverie"), "as_of": END, "embedder": embedder} | given
    query, others = asking(question, **common)
    return perform(recall(store.session("acme"), query, **others))


def place(result: RecallResult, words: str) -> int:
    return next(n for n, one in enumerate(result.hits) if words in one.content)


@pytest.mark.parametrize("question", ["Where do I live?", "where is Ann's home", "Do I live in Oslo?"])
def test_what_holds_comes_before_what_it_replaced(moved: Store, embedder: Embedder, question: str) -> None:
    result = ask(moved, embedder, question)
    old = [one for one in result.hits if "Oslo" in one.content]
    assert place(result, "Bergen") < min((place(result, one.content) for one in old), default=99)
    assert all("no longer" in one.content and one.until for one in old)


def test_the_turn_that_ended_it_stands_for_a_statement_that_is_forgotten(
    databases: Databases, embedder: Embedder, tmp_path: Path
) -> None:
    with told(databases, embedder, tmp_path / "turns.jsonl") as store:
        with store.transaction("acme") as conn:
            conn.execute(
                """with gone as (delete from memory.memories where content like '%Bergen%' returning id),
                   items as (delete from memory.items where item_id in (select id from gone))
                   delete from memory.vectors where item_id in (select id from gone)"""
            )
        result = ask(store, embedder, "Do I live in Oslo?")
        assert place(result, "Bergen") < place(result, "Oslo")
        assert result.hits[place(result, "Bergen")].item == "turn"


def test_what_ended_it_in_another_relation_is_not_added(
    databases: Databases, embedder: Embedder, tmp_path: Path
) -> None:
    """It says not what holds instead."""
    with told(databases, embedder, tmp_path / "turns.jsonl") as store:
        for relation, is_added in (("lives_in", True), ("works_at", False)):
            with store.transaction("acme") as conn:
                conn.execute(
                    "update memory.memories set relation = %s where content like '%%Bergen%%' and relation is not null",
                    [relation],
                )
                rows = conn.execute(
                    "select id from memory.memories where state = 'superseded' and content like '%Oslo%'"
                ).fetchall()
            old = rows[0][0]
            found = perform(read_formers(store.session("acme"), {old: [old]}, as_of=END, min_importance=0.0))
            assert [one.is_recallable for one in found[old]] == [is_added]


def test_what_is_told_after_the_question_succeeds_nothing(
    databases: Databases, embedder: Embedder, tmp_path: Path
) -> None:
    """A memory of then may have been merged into a later one."""
    with told(databases, embedder, tmp_path / "turns.jsonl") as store:
        with store.transaction("acme") as conn:
            conn.execute("update memory.memories set happened_at = %s where content like '%%Bergen%%'", [END])
            rows = conn.execute("select id from memory.memories where content like '%Oslo%' and state = 'superseded'")
            old = rows.fetchall()[0][0]
        for as_of, count in ((END - timedelta(days=1), 0), (END, 1)):
            found = perform(read_formers(store.session("acme"), {old: [old]}, as_of=as_of, min_importance=0.0))
            assert [(len(one.successors), one.is_recallable) for one in found[old]] == [(count, bool(count))]


def test_what_was_is_given_when_it_is_asked_for(moved: Store, embedder: Embedder) -> None:
    result = ask(moved, embedder, "Where did I live before?")
    old = next(one for one in result.hits if "Oslo" in one.content)
    assert old.until is not None
    assert f"{old.until:%Y-%m-%d}" == "2026-05-05"


def test_before_the_change_nothing_is_replaced(moved: Store, embedder: Embedder) -> None:
    result = ask(moved, embedder, "Where do I live?", as_of=START + timedelta(days=30))
    assert "Oslo" in result.hits[0].content
    assert result.hits[0].until is None
    assert not any("Bergen" in one.content for one in result.hits)


def test_a_later_liking_stands_before_the_earlier(moved: Store, embedder: Embedder) -> None:
    result = ask(moved, embedder, "waffles")
    assert result.hits[place(result, "waffles")].content == "Doesn't like waffles"
    loved = [one for one in result.hits if "love waffles" in one.content]
    assert len(loved) == 1, "the same sentence takes one place"
    assert (loved[0].times, f"{loved[0].first_at:%Y-%m-%d}") == (3, "2026-01-06")


def test_a_context_states_nothing_as_present_that_is_not(moved: Store, embedder: Embedder) -> None:
    found = perform(
        assemble_context(
            moved.session("acme"),
            RecallQuery(text="what should I do in town tonight?", subject_id="ann", as_of=END),
            policy=load_policy("reverie"),
            embedder=embedder,
        )
    )
    lines = [line for line in found.text.splitlines() if "Oslo" in line or "love waffles" in line]
    assert all("no longer" in line or "until" in line for line in lines), found.text


def test_filters_add_nothing_that_they_leave_out(moved: Store, embedder: Embedder) -> None:
    from reverie.recall.filters import Filters

    result = ask(moved, embedder, "Where do I live?", filters=Filters(sessions=["s1"]))
    assert {one.session_id for one in result.hits} == {"s1"}
