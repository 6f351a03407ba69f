"""Labelled messages in the form used for training the reader: texts, and spans by their places in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from training.reader.check import RELATIONS, VOICES, read_voice

SETS = Path(__file__).parents[2] / "bench" / "sets"

#: Place of a span: in the question (0) or the message (1), first character, character after the last.
Place = tuple[int, int, int]

PHASES = ("holds", "begins", "adds", "ends", "past", "planned", "wished")
POLARITIES = (0, 1, -1)
DURATIONS = ("none", "lasting", "passing", "until")
NAMES = tuple(RELATIONS)

#: Relations of the older sentences, with their current names.
_OLDER = {
    "grew_up_in": "comes_from", "manager": "reports_to", "retired": "works_as", "plays": "does",
    "graduated_from": "attends", "budget": "measure", "opening_hours": "availability",
}  # fmt: skip
#: Weight of a sentence of `bench/sets`, which has at most one label.
WEAK = 0.5
#: The least and the most messages that are joined, and the most characters of all.
JOINED, JOINED_CHARACTERS = (2, 6), 520
#: The most characters of a message that is read beside small talk, and of a message of the small talk.
BESIDE_CHARACTERS, SMALL_CHARACTERS = 140, 60
#: The least words of an answer that is also read without its question.
ALONE_WORDS = 8
#: What marks a text that is given to work on; what follows could belong to it.
QUOTING = frozenset(':"“”«»')
#: The numbers of small messages before and after it.
BESIDE = ((0, 1), (1, 0), (1, 1))
#: After these a message needs no full stop before the next.
ENDINGS = frozenset(".!?…,;:)")


@dataclass(frozen=True, slots=True)
class Label:
    """A statement of a message."""

    relation: int
    object: Place
    holder: Place | None
    topic: Place | None
    replaced: Place | None
    until: Place | None
    clause: Place | None
    phase: int
    polarity: int
    duration: int


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its labels."""

    voice: str
    part: str
    question: str
    text: str
    labels: tuple[Label, ...]
    weight: float = 1.0


def voices(folder: Path = VOICES) -> Iterator[Message]:
    """Yield the messages of all voices."""
    for file in sorted(folder.glob("*.jsonl")):
        head, lines, _ = read_voice(file)
        for line in lines:
            yield message(line, head["voice"], head["part"])


def joined(messages: Sequence[Message], number: int, seed: int) -> Iterator[Message]:
    """Yield long messages, each of some consecutive messages of a voice that nobody asked for; their labels stay.

    A fact between other sentences is then read as often as one that stands alone.
    """
    random = np.random.default_rng(seed)
    starts = random.permutation(len(messages))
    for start in starts[:number].tolist():
        some = messages[start : start + int(random.integers(JOINED[0], JOINED[1] + 1))]
        fits = list(takewhile(partial(_goes_on, messages[start].voice), some))
        if len(fits) >= JOINED[0] and sum(len(each.text) for each in fits) <= JOINED_CHARACTERS:
            yield _join(fits)


def beside(messages: Sequence[Message], number: int, seed: int) -> Iterator[Message]:
    """Yield messages that nobody asked for beside short ones of any voice that state nothing; their labels stay.

    In half of them the message states something, and half of what stands beside it asks something. So neither a
    reaction before a fact nor a question after it marks the whole as small talk.
    """
    random = np.random.default_rng(seed)
    alone = [each for each in messages if not each.question]
    small = [
        each
        for each in alone
        if not each.labels and len(each.text) <= SMALL_CHARACTERS and not QUOTING.intersection(each.text)
    ]
    pools = [[each for each in small if each.text.endswith("?") == asks] for asks in (False, True)]
    fits = [each for each in alone if len(each.text) <= BESIDE_CHARACTERS]
    kinds = [[each for each in fits if bool(each.labels) == states] for states in (False, True)]
    for count in range(number):
        kind = kinds[count % 2]
        one = kind[int(random.integers(len(kind)))]
        before, after = BESIDE[int(random.integers(len(BESIDE)))]
        around = [
            pool[int(random.integers(len(pool)))]
            for pool in (pools[int(random.random() < 0.5)] for _ in range(before + after))
        ]
        yield replace(_join([*around[:before], one, *around[before:]]), voice=one.voice, weight=one.weight)


def unasked(messages: Sequence[Message], share: int, seed: int) -> Iterator[Message]:
    """Yield one in `share` of the messages with a question without it, if they have words enough to be read alone."""
    random = np.random.default_rng(seed)
    for each in messages:
        places = [place for label in each.labels for place in _places(label).values()]
        alone = each.question and len(each.text.split()) >= ALONE_WORDS and all(place[0] for place in places)
        if alone and random.integers(share) == 0:
            yield replace(each, question="")


def _goes_on(voice: str, message: Message) -> bool:
    return message.voice == voice and not message.question


def _join(messages: Sequence[Message]) -> Message:
    text, labels = "", []
    for each in messages:
        start = len(text)
        text += each.text if each.text[-1] in ENDINGS else f"{each.text}."
        text += " "
        labels += [_moved(label, start, len(each.text.rstrip(".! "))) for label in each.labels]
    return replace(messages[0], text=text.rstrip(), labels=tuple(labels))


def _moved(label: Label, by: int, length: int) -> Label:
    """Return a label of a message that begins later in a longer text; the message is its clause if it had none."""
    places: dict[str, Any] = {
        field: (side, first + by, last + by) for field, (side, first, last) in _places(label).items()
    }
    return replace(label, **{"clause": (1, by, by + length), **places})


def _places(label: Label) -> dict[str, Place]:
    fields = ("object", "holder", "topic", "replaced", "until", "clause")
    return {field: place for field in fields if (place := getattr(label, field)) is not None}


def message(line: Mapping[str, Any], voice: str, part: str) -> Message:
    """Return a line of a voice with its spans found."""
    question, text = line.get("q", ""), line["t"]
    labels = tuple(_label(statement, question, text) for statement in line["s"])
    return Message(voice, part, question, text, labels)


def _label(statement: Mapping[str, Any], question: str, text: str) -> Label:
    clause = statement.get("c", text)
    start = text.find(clause)
    within = (start, start + len(clause)) if start >= 0 else (0, len(text))

    def place(key: str) -> Place | None:
        return find(statement[key], question, text, within) if statement.get(key) else None

    found = place("o")
    if found is None:
        raise ValueError(f"{statement['o']!r} is not in {text!r}")
    return Label(
        relation=NAMES.index(statement["r"]),
        object=found,
        holder=place("h"),
        topic=place("tp"),
        replaced=place("x"),
        until=place("u"),
        clause=(1, *within) if "c" in statement and start >= 0 else None,
        phase=PHASES.index(statement.get("p", "holds")),
        polarity=POLARITIES.index(statement.get("n", 0)),
        duration=DURATIONS.index(statement.get("d", "none")),
    )


def find(span: str, question: str, text: str, within: tuple[int, int]) -> Place | None:
    """Return the place of a span as whole words: in its clause, else in the text, else in the question."""
    words = re.compile(rf"(?<!\w){re.escape(span)}(?!\w)")
    if found := words.search(text, *within):
        return 1, found.start(), found.end()
    for side, whole in ((1, text), (0, question)):
        if found := words.search(whole):
            return side, found.start(), found.end()
    return None


def weak(parts: Sequence[str] = ("fitted", "blind")) -> Iterator[Message]:
    """Yield older sentences with one label each, if they contain its object. `parts`: parts of the sets."""
    for name in ("sentences.dev", "sentences.more", "more.people"):
        for raw in (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            line = json.loads(raw)
            if line.get("part", "fitted") in parts and (found := _weak_message(line, name)) is not None:
                yield found


def _weak_message(line: Mapping[str, Any], name: str) -> Message | None:
    expected, text = line["expect"], line["text"]
    if expected is None:
        return Message(name, "train", "", text, (), WEAK)
    relation, polarity, phase = (_first(expected[key]) for key in ("relation", "polarity", "phase"))
    relation = _OLDER.get(relation, relation)
    values = expected["object"] if isinstance(expected["object"], list) else [expected["object"]]
    places = [place for value in values if value and (place := find(value.lower(), "", text.lower(), (0, len(text))))]
    who = expected.get("who")
    holder = find(_first(who).lower(), "", text.lower(), (0, len(text))) if who else None
    if not places or relation not in NAMES or (who and holder is None):
        return None
    label = Label(
        NAMES.index(relation), places[0], holder, None, None, None, None,
        PHASES.index(phase), POLARITIES.index(polarity or 0), 0,
    )  # fmt: skip
    return Message(name, "train", "", text, (label,), WEAK)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value
