"""The labelled messages follow their guide."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from training.reader.check import ENDED, RELATIONS, VOICES, ended_mistakes, message_mistakes, read_voice

FILES = sorted(VOICES.glob("*.jsonl"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_voice_has_no_mistakes(file: Path) -> None:
    head, messages, mistakes = read_voice(file)
    assert mistakes == []
    assert file.stem.endswith(head["voice"])
    assert messages


def test_no_message_stands_in_two_parts() -> None:
    parts: dict[str, set[str]] = {}
    for file in FILES:
        head, messages, _ = read_voice(file)
        for message in messages:
            if len(message["t"]) > 40:
                parts.setdefault(message["t"], set()).add(head["part"])
    assert {text: found for text, found in parts.items() if len(found) > 1} == {}


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_relation_is_defined_with_six_examples(relation: str) -> None:
    entry = RELATIONS[relation]
    assert entry["definition"].endswith(".")
    assert entry["values"] in ("one", "many")
    assert entry["lasts"] in ("durable", "fades", "dated")
    assert len(entry["examples"]) == 6
    for example in entry["examples"]:
        assert re.search(r"\[[^\]]+\]|~[^~]+~", example), f"no value in {example!r}"


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ({"t": "", "s": []}, "no text"),
        ({"t": "hi"}, "no list s"),
        (
            {"t": "I live in Oslo", "s": [{"r": "lives_in", "o": "Bergen"}]},
            "o not in the message as whole words: 'Bergen'",
        ),
        (
            {"t": "she's from Oslo", "s": [{"r": "lives_in", "o": "Oslo", "h": "he"}]},
            "h not in the message as whole words: 'he'",
        ),
        ({"t": "I live in Oslo", "s": [{"r": "dwells_in", "o": "Oslo"}]}, "unknown relation 'dwells_in'"),
        ({"t": "I live in Oslo", "s": [{"r": "lives_in", "o": "Oslo", "p": "was"}]}, "unknown phase 'was'"),
        ({"t": "off until May", "s": [{"r": "plans", "o": "off", "d": "until"}]}, "until without u"),
    ],
)
def test_a_mistake_is_named(line: dict[str, object], mistake: str) -> None:
    assert mistake in list(message_mistakes(json.loads(json.dumps(line))))


@pytest.mark.parametrize("file", sorted(ENDED.glob("*.tsv")), ids=lambda file: file.stem)
def test_what_ends_is_a_statement_that_a_later_message_ends(file: Path) -> None:
    _, messages, _ = read_voice(VOICES / f"{file.stem}.jsonl")
    assert list(ended_mistakes(file, messages)) == []


def test_wrong_labels_of_ends_are_named(tmp_path: Path) -> None:
    file = tmp_path / "ann.tsv"
    file.write_text("2.0\t3\tsure\n2.1\t3\tsure\n2.0\t4\tlikely\n3.0\t3\tsure\n2.0 3 sure\n", encoding="utf-8")
    found = list(ended_mistakes(file, [{"s": [{"o": "Oslo"}]}, {"s": [{"o": "Bergen"}]}]))
    assert [mistake.partition(": ")[2] for mistake in found] == [
        "no statement 2.1",
        "no message 4 after line 2",
        "2.0 ends twice",
        "no message 3 after line 3",
        "not a statement, a message and sure or likely, between tabs: '2.0 3 sure'",
    ]
