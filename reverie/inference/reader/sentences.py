"""Sentences of a message of which the reader is unsure, read by themselves as well; pure.

"I have a dog. How many cats do you have?" seems small talk to the reader, which learned from messages to assistants. It
is sure of "I have a dog." If it is sure that a message states nothing, its sentences are not read by themselves: they
may be those of a draft or a role play.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from reverie.inference.reader.decoding import AskedMessage, MessageReading, ReadMessage, TextPlace

#: The chances that a message states something, from and below which its sentences are read by themselves.
UNSURE = (0.1, 0.8)
#: Least chance of a statement of such a sentence, and of one of the whole message about the same words that stays.
LEAST, STAYS = 0.6, 0.2

#: Most sentences of a message that are read by themselves, the first ones.
MOST = 16

_BETWEEN = re.compile(r"(?<=[.!?…])\s+|\n\s*")


class OwnSentence(NamedTuple):
    """A sentence to read by itself, with its place in the message."""

    start: int
    message: AskedMessage


def own_sentences(message: AskedMessage, read: ReadMessage) -> list[OwnSentence]:
    """Return the sentences of a message to read by themselves; none if the reader is sure, or if there is only one.

    The first has the question before the message.
    """
    if not UNSURE[0] <= read.states < UNSURE[1]:
        return []
    text, between = message.text, list(islice(_BETWEEN.finditer(message.text), MOST))
    starts, ends = [0, *(gap.end() for gap in between)], [*(gap.start() for gap in between), len(text)]
    found = [
        OwnSentence(start, AskedMessage(text[start:end], message.question if start == 0 else ""))
        for start, end in zip(starts, ends, strict=True)
        if text[start:end].strip()
    ]
    return found[:MOST] if len(found) > 1 else []


def with_sentences(whole: ReadMessage, alone: Sequence[tuple[OwnSentence, ReadMessage]]) -> ReadMessage:
    """Return the reading of a message with the likely statements of its sentences.

    A statement of the message stays if it has a chance of `STAYS`; else a sentence's takes its place. The clause of
    such a statement is its sentence if it has none, and `whole` is 0, so that memory keeps the sentence: the rest of
    the message may give it another meaning.
    """
    found = [_moved(each, sentence) for sentence, read in alone for each in read.readings if each.chance >= LEAST]
    added = [each for each in found if not any(_same(each, other) for other in whole.readings if other.chance >= STAYS)]
    kept = [each for each in whole.readings if not any(_same(each, other) for other in added)]
    readings = sorted([*kept, *added], key=lambda each: (not each.object.of_question, each.object.start))
    return ReadMessage(readings, whole.states)


def _moved(reading: MessageReading, sentence: OwnSentence) -> MessageReading:
    start, text = sentence.start, sentence.message.text
    moved = MessageReading._make(
        TextPlace(False, value.start + start, value.end + start)
        if isinstance(value, TextPlace) and not value.of_question
        else value
        for value in reading
    )
    return moved._replace(clause=moved.clause or TextPlace(False, start, start + len(text)), whole=0.0)


def _same(one: MessageReading, other: MessageReading) -> bool:
    """Return whether two statements are about words that overlap."""
    first, second = one.object, other.object
    return first.of_question == second.of_question and first.start < second.end and second.start < first.end
