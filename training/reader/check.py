"""Checks labelled messages against their guide: `python -m training.reader.check [FILE ...]`.

Prints each mistake with its file and line, then counts by file, part and relation. Without a file, checks all voices.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VOICES, ENDED = HERE / "voices", HERE / "ended"
RELATIONS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "relations.toml").read_text(encoding="utf-8"))
PARTS = {"train", "dev", "test"}
HEAD = {"voice", "who", "style", "part"}
PHASES = {"holds", "begins", "adds", "ends", "past", "planned", "wished"}
DURATIONS = {"lasting", "passing", "until"}
#: Keys of a statement whose values are copied from the message or from the message before it.
SPANS = ("o", "h", "tp", "x", "u")
KEYS = {"r", "p", "n", "d", "c", *SPANS}


def has_span(text: str, span: str) -> bool:
    """Return whether a text has the span as whole words."""
    return re.search(rf"(?<!\w){re.escape(span)}(?!\w)", text) is not None


def statement_mistakes(statement: dict[str, Any], text: str, question: str) -> Iterator[str]:
    """Yield the mistakes in one statement of a message."""
    for key in statement.keys() - KEYS:
        yield f"unknown key {key!r} in a statement"
    if statement.get("r") not in RELATIONS:
        yield f"unknown relation {statement.get('r')!r}"
    if statement.get("p", "holds") not in PHASES:
        yield f"unknown phase {statement['p']!r}"
    if statement.get("n", 0) not in (-1, 0, 1):
        yield f"polarity {statement['n']!r} is not -1, 0 or 1"
    if statement.get("d", "lasting") not in DURATIONS:
        yield f"unknown duration {statement['d']!r}"
    if statement.get("d") == "until" and "u" not in statement:
        yield "until without u"
    clause = statement.get("c", text)
    if clause not in text:
        yield f"clause not in the message: {clause!r}"
    if not statement.get("o"):
        yield "no object"
    for key in SPANS:
        span = statement.get(key)
        if span and not has_span(text, span) and not has_span(question, span):
            yield f"{key} not in the message as whole words: {span!r}"
        elif span and key == "o" and span in text and span not in clause:
            yield f"o not in its clause: {span!r}"


def message_mistakes(line: dict[str, Any]) -> Iterator[str]:
    """Yield the mistakes in one message."""
    for key in line.keys() - {"t", "q", "s", "day"}:
        yield f"unknown key {key!r}"
    text = line.get("t")
    if not isinstance(text, str) or not text.strip():
        yield "no text"
    elif not isinstance(line.get("s"), list):
        yield "no list s"
    else:
        for statement in line["s"]:
            yield from statement_mistakes(statement, text, line.get("q", ""))


def read_voice(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]], list[str]]:
    """Return the voice's first line, its messages, and its mistakes as `file:line: what is wrong`."""
    head: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    mistakes: list[str] = []
    for number, raw in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(raw)
        except ValueError as error:
            mistakes.append(f"{file.name}:{number}: no JSON: {error}")
            continue
        if number == 1:
            head = line
            if line.keys() != HEAD or line["part"] not in PARTS:
                mistakes.append(f"{file.name}:1: the first line needs {sorted(HEAD)}, with a part of {sorted(PARTS)}")
        else:
            messages.append(line)
            mistakes += [f"{file.name}:{number}: {mistake}" for mistake in message_mistakes(line)]
    return head, messages, mistakes


def ended_mistakes(file: Path, messages: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the mistakes in the labels of ends of a voice, given its messages, the first of which is on line 2."""
    last = len(messages) + 1
    seen: set[str] = set()
    for number, row in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        place = f"{file.name}:{number}"
        if not (match := re.fullmatch(r"((\d+)\.(\d+))\t(\d+)\t(sure|likely)", row)):
            yield f"{place}: not a statement, a message and sure or likely, between tabs: {row!r}"
            continue
        line, index, by = int(match[2]), int(match[3]), int(match[4])
        if not 2 <= line <= last or index >= len(messages[line - 2]["s"]):
            yield f"{place}: no statement {match[1]}"
        if not line < by <= last:
            yield f"{place}: no message {by} after line {line}"
        if match[1] in seen:
            yield f"{place}: {match[1]} ends twice"
        seen.add(match[1])


def main() -> int:
    """Check the files named on the command line, or all voices; return 1 if anything is wrong."""
    files = [Path(name) for name in sys.argv[1:]] or sorted(VOICES.glob("*.jsonl"))
    parts: Counter[str] = Counter()
    relations: Counter[str] = Counter(dict.fromkeys(RELATIONS, 0))
    empty = wrong = 0
    for file in files:
        head, messages, mistakes = read_voice(file)
        if (ended := ENDED / f"{file.stem}.tsv").is_file():
            mistakes += ended_mistakes(ended, messages)
        print(*mistakes, f"{file.name}: {len(messages)} messages", sep="\n")
        wrong += len(mistakes)
        parts[head.get("part", "none")] += len(messages)
        empty += sum(not message.get("s") for message in messages)
        relations.update(str(one.get("r")) for message in messages for one in message.get("s") or ())
    print(f"{len(files)} voices, {parts.total()} messages {dict(parts)}, {empty} of them without a statement")
    print(f"{relations.total()} statements, {wrong} mistakes")
    print("fewest:", ", ".join(f"{name} {number}" for name, number in relations.most_common()[:-13:-1]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
