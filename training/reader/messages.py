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
        field: (place[0], place[1] + by, place[2] + by)
        for field in ("object", "holder", "topic", "replaced", "until", "clause")
        if (place := getattr(label, field)) is not None
    }
    return replace(label, **{"clause": (1, by, by + length), **places})


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
