"""The statements that the reader finds in the messages of a batch of turns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
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
from reverie.language.english import statement_words
from reverie.language.languages import language_of
from reverie.language.objects import compared_words
from reverie.language.sensitive.classes import REDACTED
from reverie.language.statements.holders import is_pronoun
from reverie.language.statements.stated import MessageStatement, needs_own_words
from reverie.language.text import Span, sentences, strip_invisible
from reverie.policy import Policy
from reverie.policy.extract import ReaderPolicy

#: Number of words up to which a sentence says nothing by itself: "Halifax."
_FEW_WORDS = 2
#: Number of words up to which a sentence without its author says little by itself: "Guests get the new one now".
_SHORT_WORDS = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadTurns:
    """The results of the reader for a batch of turns."""

    #: by turn; turns without a statement are left out
    statements: Mapping[str, Sequence[MessageStatement]] = field(default_factory=dict)
    #: turns of which the reader is unsure (`[extract.model] sure`)
    unsure: Set[str] = frozenset()
    #: for each turn that it read: the reader's own certainty, and the signs from which a head computes one
    sureness: Mapping[str, tuple[float, tuple[float, ...]]] = field(default_factory=dict)
    #: turns that it does not read because of their language
    foreign: Set[str] = frozenset()
    #: turns that it read, and the version that read them
    read: Set[str] = frozenset()
    reader: str | None = None


def read_messages(
    turns: pl.DataFrame, policy: Policy, *, reader: KeptReader | None = None, head: ReaderHead | None = None
) -> ReadTurns:
    """Return the reader's results for turns (a frame of the columns `decide.TURNS`).

    Turns of roles that are not extracted, with low content or in another language are not read. A short reply is read
    with what was said before it. Statements within words of others are not the author's and are dropped. `reader`: one
    with stored answers; None: one without. `head`: the tenant's, which decides of which turns the reader is unsure; one
    made for another reader is not used.
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
        own = [
            each
            for each in found.readings
            if not _is_of_others(each.object, others)
            and _is_said(each.object, message)
            and not _is_redacted(each.object, message)
        ]
        taken = [each for each in own if each.confidence >= numbers.confidence]
        said = [_stated(each, message, policy, is_alone=not taken) for each in own]
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
    """Return the turns to read, their messages in the same order, and the turns left out for their language."""
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
    reading: MessageReading, message: AskedMessage, policy: Policy, *, is_alone: bool
) -> MessageStatement | None:
    """Return the statement of a reading, with its own words if the reader is not sure of all parts of it.

    It also has its own words if memory's words would not say who is meant, or if it is an event that was read as
    something else. `is_alone`: the reader is sure of no statement of the message. None: the reader is not sure enough
    of this one, or no words of the message can express it, such as an object that only the question names.
    """
    numbers = policy.extract.reader
    statement = statement_of(reading, message)
    is_taken = reading.confidence >= numbers.confidence
    is_sure = is_taken and reading.whole >= numbers.whole
    relation = policy.extract.relations.get(statement.relation)
    if is_trip := _is_trip(statement, reading.object, message.text):
        statement = replace(statement, relation=statement_words().trips.event, phase="holds")
    is_wordable = relation is None or reading.object.of_question or not needs_own_words(statement, relation)
    if is_sure and is_wordable and not is_trip:
        return statement
    is_told = is_taken or reading.chance >= numbers.keep
    if reading.object.of_question or not is_told or (reading.wanted < numbers.wanted and not is_sure):
        return None
    own_words = _own_words(statement, reading, message, numbers, is_alone=is_taken or is_alone)
    fades = is_pronoun(statement.object) or (reading.wanted < numbers.wanted_for_good and not is_sure)
    return replace(statement, own_words=own_words, fades=fades) if is_taken or own_words else None


def _is_trip(statement: MessageStatement, place: TextPlace, text: str) -> bool:
    """Return whether the author only went to a place that the reader takes for a home.

    Of somebody else such words often tell of a move: "my sister went back to Leeds". A place that takes that of
    another is a home: "gave up my flat in Leeds and went back to Utrecht".
    """
    trips = statement_words().trips
    return (
        statement.relation == trips.relation
        and statement.holder is None
        and statement.replaced is None
        and not place.of_question
        and re.search(trips.before, text[: place.start], re.IGNORECASE) is not None
        and re.search(trips.moves, text[: place.start], re.IGNORECASE) is None
        and re.search(trips.stays, text[place.end :], re.IGNORECASE) is None
    )


def _own_words(
    statement: MessageStatement,
    reading: MessageReading,
    message: AskedMessage,
    numbers: ReaderPolicy,
    *,
    is_alone: bool,
) -> str | None:
    """Return the clause of a statement if the reader is sure of it, or its sentence, with the sentence before it."""
    is_clause = statement.clause is not None and statement.object in statement.clause
    clause = statement.clause if is_clause and reading.clause_chance >= numbers.clause else None
    words = clause or _sentence(message, reading, numbers.keep_characters, is_alone=is_alone)
    if not words:
        return None
    return _with_sentence_before(message.text, words, numbers.keep_characters, is_bare=is_pronoun(statement.object))


def _sentence(message: AskedMessage, reading: MessageReading, most: int, *, is_alone: bool) -> str | None:
    """Return the sentence of an object, with at most `most` characters; None: it is a question, too long or too short.

    A sentence of one or two words says nothing by itself. The whole message takes its place, unless the message has a
    more certain statement of its own (not `is_alone`).
    """
    sentence = _sentence_at(message.text, reading.object)
    if len(sentence.split()) <= _FEW_WORDS and is_alone:
        sentence = message.text.strip()
    says_something = len(sentence.split()) > _FEW_WORDS and len(sentence) <= most
    return sentence if says_something and not sentence.endswith("?") else None


def _sentence_at(text: str, place: TextPlace) -> str:
    """Return the sentence in which a span begins; the same letters may stand in one before it."""
    for sentence, start in zip(sentences(text), _sentence_starts(text), strict=True):
        end = start + len(sentence)
        if place.start < end:
            return sentence if place.end <= end else ""
    return ""


def _with_sentence_before(text: str, words: str, most: int, *, is_bare: bool) -> str:
    """Return words of a message with the sentence before them, if they would say little without it.

    "He's going to a startup" and "Tues to Sat 9 to 5" say nothing without the sentence before them. If that quotes
    somebody, or both together have more than `most` characters, the words stay as they are. `is_bare`: what they tell
    of is a pronoun, as in "I don't want to talk about her".
    """
    start = text.find(words)
    end = start + len(words)
    if not (is_bare or _refers(words, is_sentence=start in _sentence_starts(text))):
        return words
    before = sentences(text[:start])[-1:]
    begin = text.rfind(before[0], 0, start) if before else start
    is_own = not any(first < start and begin < last for first, last in others_spans(text))
    return text[begin:end] if is_own and end - begin <= most else words


def _refers(words: str, *, is_sentence: bool) -> bool:
    """Return whether words are about what was said before them."""
    people = statement_words().people
    if re.match(people.refers, words, re.IGNORECASE):
        return True
    is_short = len(words.split()) <= _SHORT_WORDS and not re.search(people.author, words, re.IGNORECASE)
    return is_sentence and (is_short or re.match(people.points, words, re.IGNORECASE) is not None)


def _sentence_starts(text: str) -> Iterator[int]:
    end = 0
    for sentence in sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        yield start


def _is_said(place: TextPlace, message: AskedMessage) -> bool:
    """Return whether the author says this: "yes" says what a question asks, but nothing that another has stated."""
    return not place.of_question or message.question.endswith("?")


def _is_redacted(place: TextPlace, message: AskedMessage) -> bool:
    """Return whether a span has the mark of a secret, or a part of it: "my password is [redacted]" gives no memory."""
    marks = re.finditer(re.escape(REDACTED), message.question if place.of_question else message.text)
    return any(mark.start() < place.end and place.start < mark.end() for mark in marks)


def _is_of_others(place: TextPlace, others: Sequence[Span]) -> bool:
    """Return whether a span is only a part of words of others; a title in quotation marks is the author's own word."""
    marks = 1  # around a quotation
    return not place.of_question and any(
        start <= place.start and place.end <= end and end - start > place.end - place.start + 2 * marks
        for start, end in others
    )


def _is_foreign(text: str, policy: Policy) -> bool:
    """Return whether a text is written in a language that the reader does not read."""
    numbers, language = policy.extract.reader, language_of(text)
    return language.probability >= numbers.other_language and language.code not in numbers.languages


def statement_of(reading: MessageReading, message: AskedMessage) -> MessageStatement:
    """Return a reading as a statement, with its spans as words; what ends is named by the author, not by another."""

    def words(place: TextPlace | None) -> str | None:
        if place is None:
            return None
        return (message.question if place.of_question else message.text)[place.start : place.end]

    return MessageStatement(
        relation=reading.relation,
        object=words(reading.object) or "",
        holder=words(reading.holder),
        topic=words(reading.topic),
        replaced=words(reading.replaced if reading.replaced and _is_said(reading.replaced, message) else None),
        phase=reading.phase,  # type: ignore[arg-type]
        polarity=reading.polarity,
        duration=reading.duration,  # type: ignore[arg-type]
        until=words(reading.until),
        clause=words(reading.clause),
        confidence=reading.confidence,
    )


def without_over(found: pl.DataFrame, read: ReadTurns) -> pl.DataFrame:
    """Return the patterns' statements without those that the reader reads as over: "My wife Menna died in May".

    `found`: a frame of `turn_id`, `relation`, `object` and `phase`. A pattern that finds a name beside "my wife" does
    not read on; the reader does.
    """
    is_over = [
        phase == "holds" and _is_over(read.statements.get(turn_id, ()), relation, named)
        for turn_id, relation, named, phase in found["turn_id", "relation", "object", "phase"].iter_rows()
    ]
    return found.filter(~pl.Series(is_over, dtype=pl.Boolean))


def _is_over(statements: Sequence[MessageStatement], relation: str, named: str) -> bool:
    """Return whether the reader's statements say that what a pattern found has ended.

    One names the other in full, since a shared word is not enough: New Jersey is not New York.
    """
    words = compared_words(named)
    own = [each for each in statements if each.holder is None and each.relation == relation]
    ended = [compared_words(each.object) for each in own if each.phase in ("ends", "past")]
    held = [compared_words(each.object) for each in own if each.phase in ("holds", "begins", "adds")]
    return any(each and (each <= words or words <= each) for each in ended) and not any(words & each for each in held)


def own_statements(
    statements: Sequence[MessageStatement], stated: Collection[tuple[str, str | None]]
) -> list[MessageStatement]:
    """Return the statements that no pattern found.

    `stated`: what patterns state in the turn, as relations, each with the person it is about; None: the author.
    """
    relations = {relation for relation, _ in stated}
    of_others = {(relation, compared_words(who)) for relation, who in stated if who}

    def is_stated(one: MessageStatement) -> bool:
        if one.holder is None:
            return one.relation in relations
        return (one.relation, compared_words(one.holder)) in of_others

    return [statement for statement in statements if not is_stated(statement)]
