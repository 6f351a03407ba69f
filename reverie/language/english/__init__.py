"""The English language pack: the English words and patterns for reading and wording statements, as data.

- `relations.toml`: the relations that statements can have; the policy names this table (`[extract] relations`)
- `policy.toml`: patterns of messages and questions, the base of the shipped policies
- `defaults.toml`: words and patterns that policies have by default
- `statements.toml`: words for wording statements as sentences
- the others, each named after its module: words and patterns of one module (`language/pack.py`)
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from reverie.language.pack import read_table
from reverie.policy.table import Table

#: How a wording begins: with a verb in the third person, with a noun for its content, with words of the message.
Form = Literal["verb", "noun", "clause"]
Phrases = dict[str, str]
WordSet = frozenset[str]


class Common(Table):
    """Words that clauses are made of."""

    being: WordSet
    own: WordSet
    articles: WordSet
    an: WordSet
    subjects: WordSet
    to: str
    adverbs: WordSet
    firsts: tuple[tuple[str, str], ...]
    modals: WordSet
    denied: dict[str, str]
    able: dict[str, str]
    denials: WordSet
    denying: dict[Literal["verb", "modal"], str]
    ended: dict[str, str]
    recurring: WordSet
    noun_form: str
    #: A pattern of kinds, by the relation whose end or denial is of all of them.
    kinds: dict[str, str]


class People(Table):
    """Words for people."""

    pronouns: WordSet
    #: Pronouns before a verb, and possessive pronouns.
    subjects: WordSet
    theirs: WordSet
    #: A pattern of the beginning of words whose subject was named before them.
    refers: str
    #: The same of a sentence about a thing that the one before names, and a pattern of the words for the author.
    points: str
    author: str
    #: A pattern of words before a name that is not the author's.
    others: str
    #: A pattern of written forms of a role, and the form in `roles`.
    joined: tuple[str, str]
    #: A pattern of the words before a pet's name, with the kind of pet as the group.
    named: str
    several: WordSet
    #: Relations whose wording is one of people: a shop does not live in a town.
    alone: WordSet
    roles: WordSet
    shared: WordSet


class Topics(Table):
    """Words of topics."""

    #: Groups of synonyms; the first word stands for all.
    same: tuple[tuple[str, ...], ...]
    empty: WordSet
    vague: WordSet
    before: WordSet


class Things(Table):
    """Words around the nouns that events share."""

    before: WordSet
    stops: WordSet
    empty: WordSet


class Trips(Table):
    """Words by which the author went to a place, and does not live there."""

    #: The relation that a reader may find in them, and the one to remember instead.
    relation: str
    event: str
    #: Patterns of the words before the place, and of those before and after it that tell of a move after all.
    before: str
    moves: str
    stays: str


class Over(Table):
    """Words around an object of some relations by which it is over."""

    relations: WordSet
    #: Patterns of the words before and after it, and of words before it that are enough.
    before: str
    after: str
    alone: str


class Misread(Table):
    """Words before an object of some relations by which it has another relation."""

    relations: WordSet
    #: A pattern; its group `topic`, if it has one, is the topic of the statement.
    before: str
    instead: str


class StatementWords(Table):
    """`statements.toml`."""

    phases: dict[Form | Literal["being"], Phrases]
    #: The plural form and the base form of each verb, by its third person.
    verbs: dict[str, Annotated[tuple[str, str], Field(min_length=2)]]
    words: Common
    people: People
    topics: Topics
    things: Things
    trips: Trips
    over: Over
    misread: tuple[Misread, ...]


@cache
def statement_words() -> StatementWords:
    """Return the words of `statements.toml`."""
    return StatementWords.model_validate(read_table("statements"))
