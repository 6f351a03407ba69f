"""What the reader finds in messages, on its way to candidates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from reverie.consolidate.extract.decide import TURNS, TurnDecisions, decide_turns
from reverie.consolidate.extract.reading import own_statements, read_messages, statement_of
from reverie.inference.reader import AskedMessage, MessageReading, TextPlace
from reverie.language.statements.stated import MessageStatement
from reverie.policy import load_policy

READER, RULES = load_policy("reader"), load_policy("reverie")
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def turns(*texts: str, **columns: Any) -> pl.DataFrame:
    rows = [
        {
            "id": f"0199{number:028x}",
            "subject_id": "ann",
            "session_id": "s",
            "role": "user",
            "said_at": AT,
            "text": text,
        }
        | columns
        for number, text in enumerate(texts)
    ]
    return pl.DataFrame(rows, schema=TURNS)


def decided(frame: pl.DataFrame) -> TurnDecisions:
    return decide_turns(frame, "acme", READER, len, read=read_messages(frame, READER))


def test_spans_become_words_of_the_message_or_of_its_question() -> None:
    reading = MessageReading(
        relation="lives_in", object=TextPlace(False, 0, 4), phase="begins", polarity=0, duration=None,
        holder=TextPlace(True, 6, 9), topic=None, replaced=None, until=None, clause=None, confidence=0.9,
    )  # fmt: skip
    found = statement_of(reading, AskedMessage("Pune since May", "Where Ann lives?"))
    assert (found.object, found.holder, found.clause) == ("Pune", "Ann", None)


def test_what_a_pattern_states_is_the_patterns() -> None:
    own = MessageStatement(relation="phone", object="555-0199")
    other = MessageStatement(relation="phone", object="555-0200", holder="my sister")
    assert own_statements([own, other], frozenset({"phone"})) == [other]
    assert own_statements([own], frozenset()) == [own]


def test_a_policy_without_the_reader_reads_nothing() -> None:
    assert read_messages(turns("I live in Bergen now"), RULES) == {}


def test_turns_of_others_and_pleasantries_are_not_read() -> None:
    assert read_messages(turns("I live in Bergen now", role="assistant"), READER) == {}
    assert read_messages(turns("ok thanks!", ""), READER) == {}


def test_what_is_read_becomes_candidates_and_verdicts() -> None:
    decisions = decided(turns("my sister Ann lives in Leeds", "lol ok"))
    assert any(candidate.content.endswith("Ann lives in Leeds") for candidate in decisions.candidates)
    first, second = decisions.verdicts
    assert (first.candidates, first.reason) == (len(decisions.candidates), None)
    assert (second.candidates, second.reason) == (0, "low_content")


def test_no_more_candidates_of_a_turn_than_the_policy_says() -> None:
    numbers = READER.extract.model_copy(update={"turn_candidates": 1})
    policy = READER.model_copy(update={"extract": numbers})
    frame = turns("I'm allergic to peanuts, I live in Bergen and my dog is called Rex")
    decisions = decide_turns(frame, "acme", policy, len, read=read_messages(frame, policy))
    assert len(decisions.candidates) == 1
    assert decisions.verdicts[0].left_out >= 1


@pytest.mark.parametrize("texts", [("my phone is 555-0199", "we moved to Bergen last week", "haha")])
def test_a_batch_gives_what_its_turns_give_alone(texts: tuple[str, ...]) -> None:
    frame = turns(*texts)
    alone = [each for row in range(len(frame)) for each in decided(frame[row]).candidates]
    assert sorted(map(repr, decided(frame).candidates)) == sorted(map(repr, alone))
