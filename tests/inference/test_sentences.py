"""The sentences of a message of which the reader is unsure are read by themselves; statements find their place."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.inference.reader import AskedMessage, MessageReading, ReadMessage, TextPlace, shared_reader
from reverie.inference.reader.sentences import LEAST, MOST, STAYS, UNSURE, own_sentences, with_sentences

MESSAGE = AskedMessage("I have a dog. How many cats do you have?", "And you?")


def reading(start: int, end: int, chance: float, **parts: Any) -> MessageReading:
    return MessageReading(
        relation="has_pet", object=TextPlace(False, start, end), phase="holds", polarity=0, duration=None,
        **{"holder": None, "topic": None, "replaced": None, "until": None, "clause": None} | parts,
        confidence=chance, chance=chance,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "states", "found"),
    [
        (MESSAGE.text, UNSURE[0], ["I have a dog.", "How many cats do you have?"]),
        (MESSAGE.text, UNSURE[1], []),
        (MESSAGE.text, UNSURE[0] - 0.01, []),
        ("I have a dog", 0.5, []),
        ("I have 2.5 acres.", 0.5, []),
        ("I have a dog.  \n", 0.5, []),
        ("A dog\n- two cats\n\nand you?", 0.5, ["A dog", "- two cats", "and you?"]),
    ],
)
def test_what_is_read_by_itself(text: str, states: float, found: list[str]) -> None:
    some = own_sentences(AskedMessage(text, "And you?"), ReadMessage([], states))
    assert [each.message.text for each in some] == found
    assert [each.message.question for each in some] == ["And you?", "", ""][: len(found)]
    assert [text[each.start :].startswith(each.message.text) for each in some] == [True] * len(found)


def test_of_a_long_message_the_first_sentences_are_read() -> None:
    text = "I own a boat. " * 100_000 + " " * 100_000
    found = own_sentences(AskedMessage(text), ReadMessage([], 0.5))
    assert [each.message.text for each in found] == ["I own a boat."] * MOST


def test_a_statement_of_a_sentence_finds_its_place_and_what_the_message_says_stays() -> None:
    whole = ReadMessage([reading(9, 12, 0.1), reading(23, 27, STAYS)], 0.3)
    dog, cats = own_sentences(MESSAGE, whole)
    alone = [
        (dog, ReadMessage([reading(7, 12, LEAST)], 1.0)),
        (cats, ReadMessage([reading(9, 13, LEAST), reading(0, 3, LEAST - 0.01)], 1.0)),
    ]
    found = with_sentences(whole, alone)
    assert [(MESSAGE.text[each.object.start : each.object.end], each.chance) for each in found.readings] == [
        ("a dog", LEAST),
        ("cats", STAYS),
    ]
    assert [each.whole for each in found.readings] == [0.0, 1.0]
    clause = found.readings[0].clause
    assert clause is not None and MESSAGE.text[clause.start : clause.end] == "I have a dog."
    assert found.states == whole.states
    moved = with_sentences(ReadMessage([], 0.3), [alone[1]]).readings[0]
    assert MESSAGE.text[moved.object.start : moved.object.end] == "cats"


@pytest.mark.parametrize(
    ("text", "object_"),
    [
        (MESSAGE.text, "dog"),
        ("I study languages. Do you?", "languages"),
        ("I'm a teacher. Maybe you are one of my students.", "a teacher"),
        ("Good day! My name is Richard.", "Richard"),
    ],
)
def test_small_talk_hides_nothing(text: str, object_: str) -> None:
    reader = shared_reader()
    (alone,), (read,) = reader.read_whole([AskedMessage(text)]), reader.read([AskedMessage(text)])
    assert all(each.chance < LEAST for each in alone.readings)
    assert [text[each.object.start : each.object.end] for each in read.readings] == [object_]


def test_a_draft_is_not_read_sentence_by_sentence() -> None:
    text = "Write a reply to this: 'does this work on oily skin? i have acne and im 15'"
    assert shared_reader().read([AskedMessage(text)])[0].readings == []
