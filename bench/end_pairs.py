"""Pairs of an old statement and a later message, to train and measure a judge of ends (training/reader/judge.py).

    python -m bench.end_pairs --out FILE [--read]
    python -m bench.end_pairs --vectors FILE

The pairs come from the voices whose ends were labelled (training/reader/GUIDE.md, "What ends"). Each message is paired
with the twelve nearest statements that were made before it and had not ended, and with all that it ends. The statements
are the labelled ones or, with `--read`, those of dev and test as the reader reads them and memory keeps them. Without
`--read`, pairs of single messages are added, as the parts `single` and `held`. `--vectors` writes the vectors of all
statements and messages, to train nearness (training/reader/nearness.py). For it, single messages form groups of a
hundred, and each is paired with the statements of the whole group.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.ended import ENDED, LEAST, labelled, memories_of, turns_of
from bench.keeping import statement_of
from reverie.consolidate.extract.stated import candidates_of
from reverie.inference import load_embedder
from reverie.inference.judge.nearness import nearness_of
from reverie.language.parts import parts
from reverie.language.statements.stated import MessageStatement
from reverie.language.text import sentences
from reverie.language.topics import telling_words
from reverie.model import Turn
from reverie.policy import Policy, load_policy

#: The most pairs of a message, beside those that it ends: as many as a language model is shown.
MOST = 12
#: Pairs on which readers disagree: name of the voice, line and place of the statement, line of the message.
UNDECIDED = ENDED / "pairs.undecided"
#: The line of an end if there is none.
NEVER = 10**9
#: Single messages in a group.
TOGETHER = 100


class Old(NamedTuple):
    """A statement in words, the line of its voice, and the line of the message by which the rules ended it."""

    content: str
    line: int
    #: lines of the messages that end it by the labels
    ended_by: frozenset[int]
    over_by: int | None = None
    #: the clause, sentence or part that says it, if all that this states ends at once
    own: str = ""
    #: lines of messages on which readers disagree whether they end it
    undecided: frozenset[int] = frozenset()


def told(lines: Sequence[Mapping[str, Any]], name: str, policy: Policy) -> Iterator[Old]:
    """Yield the labelled statements of a voice in words."""
    ends, open_ = labels(name), undecided(name)
    day = ""
    before: list[MessageStatement] = []
    for number, line in enumerate(lines[1:], 2):
        if line.get("day", day) != day:
            day, before = line["day"], []
        turn = Turn(
            tenant_id="pairs",
            subject_id=name,
            session_id=day,
            source_id=f"{name}:{number}",
            role="user",
            speaker=None,
            said_at=datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC) + timedelta(minutes=number),
            text=line["t"],
        )
        stated = [statement_of(one) for one in line["s"]]
        owns = own_words(line, number, ends)
        for place, one in enumerate(stated):
            by = ends.get((number, place), frozenset())
            if one.phase in ("ends", "past") and not by:
                continue
            found = candidates_of([one], turn, policy, before=[*stated[:place], *before])
            differ = open_.get((number, place), frozenset())
            yield Old(found[0].content if found else one.object, number, by, own=owns[place], undecided=differ)
        before = stated


def own_words(line: Mapping[str, Any], number: int, ends: Mapping[tuple[int, int], frozenset[int]]) -> list[str]:
    """Return, for each statement of a message, the clause, sentence or part that says it and ends at once, or ""."""
    by = [ends.get((number, place), frozenset()) for place in range(len(line["s"]))]
    owns = [label.get("c") or _holding(label["o"], sentences(line["t"])) for label in line["s"]]
    parted = [_holding(label["o"], parts(own)) for label, own in zip(line["s"], owns, strict=True)]
    objects = [label["o"] for label in line["s"]]

    def ends_at_once(own: str, place: int, texts: Sequence[str]) -> bool:
        return all(
            other_by == by[place]
            for other, text, other_by in zip(objects, texts, by, strict=True)
            if other in own or own in text or text in own
        )

    return [
        own if ends_at_once(own, place, owns) else part if part and ends_at_once(part, place, parted) else ""
        for place, (own, part) in enumerate(zip(owns, parted, strict=True))
    ]


def _holding(object_: str, texts: Sequence[str]) -> str:
    return next((text for text in texts if object_ in text), "").strip(" .,;")


def labels(name: str) -> dict[tuple[int, int], frozenset[int]]:
    """Return, for each statement (line, place) of a voice, the line of the message that ends it."""
    found = {}
    for row in (ENDED / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        old, by, _ = row.split("\t")
        line, place = map(int, old.split("."))
        found[line, place] = frozenset({int(by)})
    return found


def undecided(name: str) -> dict[tuple[int, int], frozenset[int]]:
    """Return, for each statement (line, place) of a voice, the lines of messages on which readers disagree."""
    found: dict[tuple[int, int], frozenset[int]] = {}
    for row in UNDECIDED.read_text(encoding="utf-8").splitlines():
        voice, old, by = row.split("\t")
        if voice == name:
            line, place = map(int, old.split("."))
            found[line, place] = found.get((line, place), frozenset()) | {int(by)}
    return found


def read(voices: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[Old]]:
    """Import the voices and return the memories of each; a label belongs to the memory with its words."""
    found = memories_of([turn for name, lines in voices.items() for turn in turns_of(name, lines)])
    olds: dict[str, list[Old]] = defaultdict(list)
    for (name, line), memories in sorted(found.items()):
        ended: dict[Any, set[int]] = defaultdict(set)
        for (number, place), by in labels(name).items():
            if number != line:
                continue
            words = telling_words(voices[name][line - 1]["s"][place]["o"])
            shares = {each.id: len(words & telling_words(each.content)) / max(len(words), 1) for each in memories}
            for id_, share in shares.items():
                if share == max(shares.values()) >= LEAST:
                    ended[id_] |= by
        olds[name] += [Old(each.content, line, frozenset(ended[each.id]), each.by_line) for each in memories]
    return olds


def pairs(
    lines: Sequence[Mapping[str, Any]], olds: Sequence[Old], vectors: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the pairs of a voice, in the order of its messages."""
    nearness = nearness_of(load_embedder("minilm").model)
    for number, line in enumerate(lines[1:], 2):
        before = [
            old for old in olds
            if old.line < number and (old.over_by is None or old.over_by >= number)
            and not any(by < number for by in old.ended_by)
        ]  # fmt: skip
        if not before:
            continue
        told = np.stack([vectors[old.content] for old in before])
        near = nearness.log_odds(told, vectors[line["t"]][None])[0]
        nearest = set(np.argsort(-near, kind="stable")[:MOST].tolist())
        for place, (old, log_odds) in enumerate(zip(before, near.tolist(), strict=True)):
            if number not in old.undecided and (place in nearest or number in old.ended_by):
                yield {
                    "old": old.content, "q": line.get("q", ""), "t": line["t"], "ended": number in old.ended_by,
                    "own": old.own,
                    "near": round(log_odds, 2), "part": lines[0]["part"], "open": old.over_by is None,
                }  # fmt: skip


def single_lines(file: Path = ENDED / "single.jsonl") -> list[dict[str, Any]]:
    """Return the single messages, each with the statements that it ends and those that stay."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def single(part: str = "single") -> Iterator[dict[str, Any]]:
    """Yield the pairs of single messages: statements that end, that stay, and the parts of those that end in part.

    `part`: `single` to train on, `held` to measure with: people by two other writers.
    """
    for line in single_lines(ENDED / f"{part}.jsonl"):
        olds = [(old, key == "ended") for key in ("ended", "stays") for old in line[key]]
        olds += [pair for told in line.get("parts", ()) for pair in parted(told["own"], told["ends"])]
        for old, ended in olds:
            yield {
                "old": old, "q": line.get("q", ""), "t": line["t"], "ended": ended, "own": "", "near": 1.0,
                "part": part, "open": True,
            }  # fmt: skip


def parted(own: str, ends: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a statement, each with whether it ends: at least half of it is labelled as ended."""
    spans = [(own.index(each), own.index(each) + len(each)) for each in ends]
    at = 0
    for part in parts(own):
        ended = sum(max(0, min(last, at + len(part)) - max(first, at)) for first, last in spans)
        yield part.strip(), 2 * ended >= len(part)
        at += len(part)


def unit_vectors(texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
    """Return the vectors of texts."""
    texts = list(dict.fromkeys(texts))
    return dict(zip(texts, load_embedder("minilm").encode(texts), strict=True))


def told_to(line: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the statements before a single message, each with whether the message ends it, wholly or in part."""
    yield from ((old, True) for old in line["ended"])
    yield from ((old, False) for old in line["stays"])
    yield from ((told["own"], bool(told["ends"])) for told in line.get("parts", ()))


def write_vectors(
    file: Path, voices: Mapping[str, Sequence[Mapping[str, Any]]], olds: Mapping[str, Sequence[Old]]
) -> None:
    """Write arrays by voice: statements in memory's and in their own words, lines of statements and ends, messages."""
    singles = single_lines()
    texts = [text for of in olds.values() for old in of for text in (old.content, old.own) if text]
    texts += [line["t"] for lines in voices.values() for line in lines[1:]]
    texts += [text for line in singles for text in (line["t"], *(old for old, _ in told_to(line)))]
    vectors = unit_vectors(texts)
    found: dict[str, Any] = {}
    for name, of in olds.items():
        if of:
            found |= {
                f"{name}/part": np.array(voices[name][0]["part"]),
                f"{name}/line": np.array([old.line for old in of]),
                f"{name}/ended": np.array([min(old.ended_by, default=NEVER) for old in of]),
                f"{name}/worded": np.stack([vectors[old.content] for old in of]).astype(np.float16),
                f"{name}/own": np.stack([vectors[old.own or old.content] for old in of]).astype(np.float16),
                f"{name}/messages": np.stack([vectors[line["t"]] for line in voices[name][1:]]).astype(np.float16),
            }
    groups = -(-len(singles) // TOGETHER)
    for number in range(groups):  # of all writers
        found |= _together(f"single {number}", singles[number::groups], vectors)
    np.savez(file, **found)


def _together(
    name: str, some: Sequence[Mapping[str, Any]], vectors: Mapping[str, npt.NDArray[np.float32]]
) -> dict[str, Any]:
    told = [(old, number if ends else NEVER) for number, line in enumerate(some, 2) for old, ends in told_to(line)]
    return {
        f"{name}/part": np.array("single"),
        f"{name}/line": np.ones(len(told), int),
        f"{name}/ended": np.array([ended for _, ended in told]),
        f"{name}/worded": np.stack([vectors[old] for old, _ in told]).astype(np.float16),
        f"{name}/messages": np.stack([vectors[line["t"]] for line in some]).astype(np.float16),
    }


def main() -> None:
    """Write the pairs, one per line, or the vectors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    written = parser.add_mutually_exclusive_group(required=True)
    written.add_argument("--out", type=Path)
    written.add_argument("--vectors", type=Path)
    parser.add_argument("--read", action="store_true")
    given = parser.parse_args()
    voices = {name: lines for name, lines in labelled() if not given.read or lines[0]["part"] != "train"}
    if given.read:
        olds: Mapping[str, Sequence[Old]] = read(voices)
    else:
        policy = load_policy("reverie")
        olds = {name: list(told(lines, name, policy)) for name, lines in voices.items()}
    if given.vectors:
        write_vectors(given.vectors, voices, olds)
        return
    texts = [old.content for of in olds.values() for old in of]
    vectors = unit_vectors(texts + [line["t"] for lines in voices.values() for line in lines[1:]])
    with given.out.open("w", encoding="utf-8") as file:
        for name, lines in voices.items():
            file.writelines(json.dumps(pair) + "\n" for pair in pairs(lines, olds.get(name, ()), vectors))
        if not given.read:
            file.writelines(json.dumps(pair) + "\n" for part in ("single", "held") for pair in single(part))


if __name__ == "__main__":
    main()
