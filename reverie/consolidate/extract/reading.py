"""What the reader finds in the messages of a batch of turns, as statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import polars as pl

from reverie.consolidate.extract.kept import KeptReader
from reverie.inference.reader import (
    AskedMessage,
    MessageReading,
    ReaderHead,
    TextPlace,
    head_signs,
    own_sureness,
    shared_reader,
)
from reverie.language.cues.attribution import others_spans
from reverie.language.cues.immediate import compiled
from reverie.language.cues.speech import low_content_expr
from reverie.language.languages import language_of
from reverie.language.statements.stated import MessageStatement
from reverie.language.text import Span, sentences, strip_invisible
from reverie.policy import Policy
from reverie.policy.extract import ReaderPolicy

#: Words of a sentence that says nothing without those around it: "Halifax."
_FEW_WORDS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadTurns:
    """What the reader finds in turns."""

    #: by turn, where there are some
    statements: Mapping[str, Sequence[MessageStatement]] = field(default_factory=dict)
    #: turns of which it is unsure (`[extract.model] sure`)
    unsure: Set[str] = frozenset()
    #: of each turn that it read how sure it is by its own confidence, and the signs by which a head tells
    sureness: Mapping[str, tuple[float, tuple[float, ...]]] = field(default_factory=dict)
    #: turns that it does not read for their language
    foreign: Set[str] = frozenset()
    #: turns that it read, and the version that did
    read: Set[str] = frozenset()
    reader: str | None = None


def read_messages(
    turns: pl.DataFrame, policy: Policy, *, reader: KeptReader | None = None, head: ReaderHead | None = None
) -> ReadTurns:
    """Return what the reader finds in turns (a frame of the columns `decide.TURNS`).

    Turns of other roles than those that are read, those of low content and those in another language are not looked at.
    A short reply is read with the question before it. What stands in words of others is not the author's statement.
    `reader`: one that knows what it read before; None: one that does not. `head`: the tenant's, which tells of which
    turns the reader is unsure; one made for another reader is not used.
    """
    numbers = policy.extract.reader
    if not numbers.read:
        return ReadTurns()
    reader = reader or KeptReader(shared_reader())
    messages, asked, foreign = _read_of(turns, policy, reader)
    read = reader.read(messages["id"].to_list(), asked)
    if head is not None and head.reader != reader.model:
        head = None
    statements, sureness = {}, {}
    for turn_id, message, found in zip(messages["id"], asked, read, strict=True):
        others = others_spans(message.text) if found.readings else []
        own = [each for each in found.readings if not _is_of_others(each.object, others)]
        taken = [each for each in own if each.confidence >= numbers.confidence]
        said = [_stated(each, message, numbers, is_alone=not taken) for each in own]
        if any(said):
            statements[turn_id] = [statement for statement in said if statement]
        sureness[turn_id] = own_sureness(taken, found.states), head_signs(message, taken, found.states)
    sure = {turn_id: own if head is None else head.sureness(signs) for turn_id, (own, signs) in sureness.items()}
    return ReadTurns(
        statements=statements,
        unsure={turn_id for turn_id, number in sure.items() if number < policy.extract.model.sure},
        sureness=sureness,
        foreign=foreign,
        read=set(messages["id"]),
        reader=(head.version if head else reader.model) if asked else None,
    )


def _read_of(
    turns: pl.DataFrame, policy: Policy, reader: KeptReader
) -> tuple[pl.DataFrame, list[AskedMessage], set[str]]:
    """The turns that are read, their messages in the same order, and those that are not for their language."""
    rules = compiled(policy)
    messages = turns.filter(
        pl.col("role").is_in(list(policy.extract.roles)),
        ~low_content_expr(pl.col("text"), rules),
        pl.col("text") != "",
    ).select("id", "text", "asked")
    asked, foreign = list[AskedMessage](), set[str]()
    for turn_id, text, question in messages.iter_rows():
        message = AskedMessage(strip_invisible(text), strip_invisible(question or ""))
        if not reader.knows(turn_id, message) and _is_foreign(text, policy):
            foreign.add(turn_id)
        else:
            asked.append(message)
    return messages.filter(~pl.col("id").is_in(list(foreign))), asked, foreign


def _stated(
    reading: MessageReading, message: AskedMessage, numbers: ReaderPolicy, *, is_alone: bool
) -> MessageStatement | None:
    """The statement of a reading; with its own words where the reader is not sure of all that it says.

    `is_alone`: it is sure of no statement of the message. None: it is not sure enough of it, or no words of the message
    can stand for it.
    """
    statement = statement_of(reading, message)
    is_taken = reading.confidence >= numbers.confidence
    if is_taken and (reading.whole >= numbers.whole or reading.object.of_question):
        return statement
    is_told = is_taken or reading.chance >= numbers.keep
    if reading.object.of_question or not is_told or reading.wanted < numbers.wanted:
        return None
    is_clause = statement.clause is not None and statement.object in statement.clause
    clause = statement.clause if is_clause and reading.clause_chance >= numbers.clause else None
    own_words = clause or _sentence(message, reading, numbers.keep_characters, is_alone=is_taken or is_alone)
    fades = reading.wanted < numbers.wanted_for_good
    return replace(statement, own_words=own_words, fades=fades) if is_taken or own_words else None


def _sentence(message: AskedMessage, reading: MessageReading, most: int, *, is_alone: bool) -> str | None:
    """The sentence of an object, of at most so many characters; None: it asks, or is longer.

    A word or two say nothing alone: with them stands the message, unless that is no longer or too long, or has a surer
    statement of its own (not `is_alone`).
    """
    said = message.text[reading.object.start : reading.object.end]
    sentence = next((one.strip() for one in sentences(message.text) if said in one), "")
    if len(sentence.split()) <= _FEW_WORDS and is_alone:
        sentence = message.text.strip()
    says_something = len(sentence.split()) > _FEW_WORDS and len(sentence) <= most
    return sentence if says_something and not sentence.endswith("?") else None


def _is_of_others(place: TextPlace, others: Sequence[Span]) -> bool:
    """Whether it stands in words of others that say more than it: a title in quotation marks is the author's word."""
    marks = 1  # around a quotation
    return not place.of_question and any(
        start <= place.start and place.end <= end and end - start > place.end - place.start + 2 * marks
        for start, end in others
    )


def _is_foreign(text: str, policy: Policy) -> bool:
    """Whether a text is written in a language that the reader does not read."""
    numbers, language = policy.extract.reader, language_of(text)
    return language.probability >= numbers.other_language and language.code not in numbers.languages


def statement_of(reading: MessageReading, message: AskedMessage) -> MessageStatement:
    """Return a reading with its spans as words."""

    def words(place: TextPlace | None) -> str | None:
        if place is None:
            return None
        return (message.question if place.of_question else message.text)[place.start : place.end]

    return MessageStatement(
        relation=reading.relation,
        object=words(reading.object) or "",
        holder=words(reading.holder),
        topic=words(reading.topic),
        replaced=words(reading.replaced),
        phase=reading.phase,  # type: ignore[arg-type]
        polarity=reading.polarity,
        duration=reading.duration,  # type: ignore[arg-type]
        until=words(reading.until),
        clause=words(reading.clause),
        confidence=reading.confidence,
    )


def own_statements(statements: Sequence[MessageStatement], stated: frozenset[str]) -> list[MessageStatement]:
    """Return the statements that no pattern has read; `stated` has the relations of those that match the turn."""
    return [statement for statement in statements if statement.holder is not None or statement.relation not in stated]
