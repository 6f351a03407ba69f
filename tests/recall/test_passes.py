"""The list of passes: each can be left out, and a hit tells what they did to its place."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args
from uuid import uuid4

import pytest

from reverie.policy import load_policy
from reverie.policy.recall import PassName
from reverie.recall.passes import PASSES, Placing, placed
from reverie.recall.question import read_question
from reverie.recall.result import Hit, NearbyTurn

AT = datetime(2026, 3, 1, tzinfo=UTC)


def hit(kind: str, content: str, score: float) -> Hit:
    item = "turn" if kind == "turn" else "memory"
    return Hit(item, uuid4(), kind, content, AT, score, {}, {}, None, None, None)  # type: ignore[arg-type]


def known(question: str = "What does she drink?", **given: Any) -> Placing:
    numbers = {name: given.pop(name) for name in ("without", "without_kinds") if name in given}
    recall = load_policy("reverie").recall.model_copy(update=numbers)
    default = {"formers": {}, "stated": (), "doubts": {}, "may_add": True, "top_k": 10, "token_budget": 1000}
    asked = read_question(question, policy=recall, speakers=(), asked_at=AT)
    return Placing(question=asked, numbers=recall, count_tokens=lambda text: len(text.split()), **default | given)


def test_every_name_of_the_policy_is_a_pass_and_the_other_way_round() -> None:
    assert [each.name for each in PASSES if each.name] == list(get_args(PassName))


def test_a_pass_that_is_left_out_moves_nothing() -> None:
    hits = [hit("summary", "She talked about tea.", 0.9), hit("turn", "I drink green tea now.", 0.5)]
    found = placed(hits, known())
    assert [one.kind for one in found.hits] == ["turn", "summary"]
    assert sum(len(one.moves) for one in found.hits) == 1
    left = placed(hits, known(without=("overview",)))
    assert [one.kind for one in left.hits] == ["summary", "turn"]
    assert [one.moves for one in left.hits] == [(), ()]


def test_what_states_the_answer_says_why_it_stands_first() -> None:
    tea, job = hit("turn", "I drink green tea now.", 0.9), hit("fact", "Works as a nurse", 0.2)
    added = hit("fact", "Works at a hospital", 0.1)
    found = placed([tea, job], known(stated=[job, added]))
    assert [one.id for one in found.hits] == [job.id, added.id, tea.id]
    assert found.hits[1].moves == ("added: states what is asked for",)
    moved = {one.id: one.moves for one in found.hits if one.id != added.id and one.moves}
    assert moved in (
        {job.id: ("moved up: states what is asked for",)},
        {tea.id: ("moved down: does not state what is asked for",)},
    )


def test_a_statement_that_may_be_over_says_so_and_the_words_count() -> None:
    fee, tea = hit("fact", "Fee: 2,200", 0.9), hit("fact", "Drinks tea", 0.5)
    doubts = {fee.id: NearbyTurn(uuid4(), "Professional services 2,450  from the first of March.", AT)}
    found = placed([fee, tea], known(doubts=doubts))
    said = "Fee: 2,200 (may be over; 2026-03-01: “Professional services 2,450 from the first of March.”)"
    assert [one.told for one in found.hits] == [said, "Drinks tea"]
    assert [one.tokens for one in found.hits] == [len(said.split()), 2]
    left = placed([fee, tea], known(doubts=doubts, without=("doubts",)))
    assert [one.told for one in left.hits] == ["Fee: 2,200", "Drinks tea"]


def test_a_kind_that_is_left_out_is_dropped_with_its_reason() -> None:
    hits = [hit("fact", "Drinks tea", 0.9), hit("turn", "I drink green tea now.", 0.5)]
    found = placed(hits, known(without_kinds=("fact",)))
    assert [one.kind for one in found.hits] == ["turn"]
    assert [(one.id, one.reason) for one in found.dropped] == [(hits[0].id, "kind")]


@pytest.mark.parametrize("tokens", [0, 3])
def test_the_budget_is_always_kept(tokens: int) -> None:
    found = placed([hit("fact", "Drinks tea", 0.9)], known(without=get_args(PassName), token_budget=tokens))
    assert len(found.hits) == (1 if tokens else 0)


def test_a_correction_stands_above_what_it_corrects_in_the_policy_agent() -> None:
    numbers = load_policy("agent").recall
    old = hit("fact", "Default project is OPS", 0.9)
    other = hit("preference", "Prefers short emails", 0.8)
    late = hit("fact", "Correction: default project is PROJ", 0.3)._replace(happened_at=AT + timedelta(days=1))
    question = read_question("Which project shall I file this in?", policy=numbers, speakers=(), asked_at=AT)
    found = placed([old, other, late], replace(known(), numbers=numbers, question=question))
    assert [one.id for one in found.hits] == [late.id, old.id, other.id]
    assert found.hits[0].moves == ("moved up: says that something changed",)
