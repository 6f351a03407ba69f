"""Statements that a later message may have ended: which message counts, and how long it does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest

from reverie.consolidate.facts import judge as module
from reverie.consolidate.facts.endings import Doubt, Judgement, write_doubts
from reverie.consolidate.facts.judge import NearPair, SaidStatement, doubt_of
from reverie.consolidate.facts.kept import ShownMessage
from reverie.inference import to_half_wire
from reverie.policy import load_policy
from reverie.policy.recall import StructuredFactsPolicy
from reverie.store.runs import Report
from tests.recall.conftest import Corpus, day

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
NUMBERS = StructuredFactsPolicy(
    ends_chance=0.8,
    silent_chance=0.9,
    doubt_chance=0.4,
    silent_doubt_chance=0.7,
    parts_chance=0.3,
    doubt_similarity=0.3,
)


def at_cosine(cosine: float) -> bytes:
    """The vector with a cosine to that of each statement below."""
    return bytes(to_half_wire(np.array([[cosine, np.sqrt(1 - cosine**2)]], np.float32))[0].tobytes())


def said(number: int, *, turn: int, content: str = "Fee: 2,200", origin: str = "reader") -> SaidStatement:
    return SaidStatement(
        id=UUID(int=number), subject_id="ann", turn_id=UUID(int=turn), happened_at=AT + timedelta(hours=turn),
        content=content, origin=origin, into_id=None, may_end=True, is_new=True, is_unjudged=True, vector=at_cosine(1),
        message_vector=at_cosine(0.8),
    )  # fmt: skip


def test_a_message_that_states_nothing_must_be_surer() -> None:
    stating, silent = (NearPair(said(1, turn=10), said(number, turn=11)) for number in (2, 11))
    assert (stating.by.is_silent, silent.by.is_silent) == (False, True)

    def doubted(pair: NearPair, chance: float, numbers: StructuredFactsPolicy = NUMBERS) -> bool:
        return doubt_of(pair, chance, numbers) is not None

    assert [doubted(stating, chance) for chance in (0.39, 0.4, 0.79)] == [False, True, True]
    assert [doubted(silent, chance) for chance in (0.69, 0.7)] == [False, True]
    assert not doubted(stating, 0.79, load_policy("contact").structured_facts)
    assert doubt_of(stating, 0.512345, NUMBERS) == Doubt(UUID(int=1), UUID(int=11), 0.5123)


def test_a_message_about_something_else_casts_no_doubt() -> None:
    old, by = said(1, turn=10), said(2, turn=11)
    for cosine, casts in ((0.29, False), (0.31, True)):
        pair = NearPair(old, by._replace(message_vector=at_cosine(cosine)))
        assert (doubt_of(pair, 0.6, NUMBERS) is not None) is casts


def test_what_ends_is_not_in_doubt_and_a_part_may_be() -> None:
    rota = "Danny does the Mondays, Zoe does all the rest"
    pair = NearPair(said(1, turn=10, content=rota, origin="said"), said(2, turn=11))
    shown = {pair.by.turn_id: ShownMessage(pair.by.turn_id, "Danny's jacked it in", "")}

    def judged(whole: float, *of_parts: float) -> tuple[int, list[float]]:
        answers = iter(([whole], list(of_parts)))
        judge: Any = SimpleNamespace(chances=lambda pairs: next(answers)[: len(pairs)])
        ends, doubts = module._judged(judge, [pair], shown, NUMBERS)
        return len(ends), [doubt.chance for doubt in doubts]

    assert judged(0.2) == (0, [])
    assert judged(0.35, 0.1, 0.1) == (0, [])
    assert judged(0.35, 0.6, 0.1) == (0, [0.6])
    assert judged(0.5, 0.1, 0.1) == (0, [0.5])
    assert judged(0.35, 0.9, 0.1) == judged(0.9, 0.1, 0.1) == (1, [])


@pytest.fixture
def corpus(conn: psycopg.Connection[Any]) -> Corpus:
    return Corpus(conn)


def write(corpus: Corpus, *doubts: tuple[UUID, UUID, float]) -> int:
    """Write what a run found, and return the number of memories that changed."""
    attempt: Any = SimpleNamespace(
        params=lambda: {"tenant": corpus.tenant}, report=Report(stage="facts", run_id=UUID(int=0), as_of=AT)
    )
    write_doubts(corpus.conn, attempt, Judgement(doubts=[Doubt(*each) for each in doubts]), [corpus.subject])
    return int(attempt.report["doubted"])


def state(corpus: Corpus, memory: UUID) -> tuple[UUID | None, float | None]:
    row = corpus.conn.execute("select doubted_by, doubt from memory.memories where id = %s", [memory]).fetchone()
    assert row is not None
    return row[0], row[1] and round(row[1], 2)


def test_the_likeliest_message_counts_in_any_order_of_runs(corpus: Corpus) -> None:
    fee, other = corpus.memory("Fee: 2,200", at=day(1)), corpus.memory("Lives in York", at=day(1))
    turns = [corpus.turn(text, at=day(number)) for number, text in ((2, "Hm."), (3, "2,450 now."), (4, "Costs."))]
    found = [(fee, turn, chance) for turn, chance in zip(turns, (0.5, 0.7, 0.6), strict=True)]
    assert write(corpus, *found) == 1
    assert state(corpus, fee) == (turns[1], 0.7) and state(corpus, other) == (None, None)
    assert write(corpus, *found) == write(corpus) == 0
    corpus.conn.execute("update memory.memories set doubted_by = null, doubt = null")
    for each in found:
        write(corpus, each)
    assert state(corpus, fee) == (turns[1], 0.7)


@pytest.mark.parametrize("how", ["merged", "same"])
def test_a_statement_told_again_is_no_longer_in_doubt(corpus: Corpus, how: str) -> None:
    fee = corpus.memory("Fee: 2,200", at=day(1))
    before, after = corpus.turn("2,450, maybe.", at=day(2)), corpus.turn("The fee went up.", at=day(4))
    write(corpus, (fee, before, 0.7))
    again = corpus.memory("Fee: 2,200", at=day(3))
    if how == "merged":
        corpus.conn.execute("update memory.memories set state = 'merged', into_id = %s where id = %s", [fee, again])
    else:
        stated = "update memory.memories set relation = 'measure', object = '2,200', phase = 'holds' where id = any(%s)"
        corpus.conn.execute(stated, [[fee, again]])
    assert write(corpus) == 1 and state(corpus, fee) == (None, None)
    # a message from before that day does not count, however sure; a later one does
    write(corpus, (fee, before, 0.79), (fee, after, 0.41))
    assert state(corpus, fee) == (after, 0.41)


def test_a_message_that_is_erased_casts_no_doubt(corpus: Corpus) -> None:
    fee, turn = corpus.memory("Fee: 2,200", at=day(1)), corpus.turn("2,450 now.", at=day(2))
    write(corpus, (fee, turn, 0.7))
    corpus.conn.execute("delete from log.turns where id = %s", [turn])
    assert write(corpus) == 1 and state(corpus, fee) == (None, None)
