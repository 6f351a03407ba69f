"""Trains the classifiers of secrets that no word gives away: `python -m training.sensitivity.secrets [--talk]`.

Writes `reverie/language/sensitive/secret_weights.json`: a logistic regression over hashed features of each piece of
text that might be a secret, with a bias such that a score of at least 0 is one; and, by `secret_words`, the classifiers
of secrets without digits. It reads our own messages, one file per writer (`marked`; `numbers`: mostly phone numbers,
dates, prices and the like), and messages of the voices of training/reader (part train), which contain no secrets.
Prints precision and recall on each writer by weights fitted without her messages (`numbers`: without a fifth of them),
and how often something is found in the voices of `dev` and `test` and in comments. The threshold is the least with
`PRECISION` on writers left out, and at most `ALARMS` in the voices of `dev`. The same data and libraries give the same
bytes.
"""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from bench.report import print_table
from reverie.language.sensitive.secrets import WEIGHTS, feature_buckets, suspect_features, suspects
from training.sensitivity import secret_words
from training.sensitivity.marked import ROOT, Floats, Message, comments, fitted, talk, written

OUT: Final = ROOT / "reverie" / "language" / "sensitive" / WEIGHTS
#: The weight of a piece of a voice, relative to one that was written for this.
TALK_COUNTS = 0.3
#: Share of secrets among the findings in messages left out; findings per message of the voices of dev.
PRECISION, ALARMS = 0.9, 1 / 2000


class Example(NamedTuple):
    """A message with its pieces, each with whether it is a secret."""

    message: Message
    rows: list[list[int]]
    flags: list[bool]


def example(message: Message) -> Example:
    """Return a message as an example."""
    found = list(suspects(message.text))
    flags = [
        any(2 * (min(end, of.end) - max(of.start, start)) > of.end - of.start for start, end in message.secrets)
        for of in found
    ]
    return Example(message, [feature_buckets(suspect_features(message.text, piece)) for piece in found], flags)


def trained(examples: Sequence[Example], ordinary: Sequence[Example]) -> Floats:
    """Return the weight of each bucket."""
    every = [*examples, *ordinary]
    counts = [1.0] * sum(len(each.rows) for each in examples)
    counts += [TALK_COUNTS] * sum(len(each.rows) for each in ordinary)
    return fitted([row for each in every for row in each.rows], [flag for each in every for flag in each.flags], counts)


def scores(weights: Floats, examples: Sequence[Example]) -> list[Floats]:
    """Return the scores of the pieces of each message."""
    return [np.array([weights[row].sum() for row in each.rows]) for each in examples]


def rates(examples: Sequence[Example], found: Sequence[Floats], least: float) -> tuple[float, float]:
    """Return precision by piece, and recall by message that has a secret."""
    taken = [
        flag
        for each, of in zip(examples, found, strict=True)
        for flag, score in zip(each.flags, of, strict=True)
        if score >= least
    ]
    having = [
        any(flag and score >= least for flag, score in zip(each.flags, of, strict=True))
        for each, of in zip(examples, found, strict=True)
        if each.message.secrets
    ]
    return float(np.mean(taken)) if taken else 1.0, float(np.mean(having)) if having else 1.0


def alarms(found: Sequence[Floats], least: float) -> float:
    """Return the number of findings per message."""
    return sum(int((of >= least).sum()) for of in found) / max(len(found), 1)


def left_out(examples: Sequence[Example], ordinary: Sequence[Example]) -> list[Floats]:
    """Return the scores of each message by weights fitted without the messages of its fold."""
    folds = [(each.message.writer, each.message.fold) for each in examples]
    weights = {
        left: trained([each for each, fold in zip(examples, folds, strict=True) if fold != left], ordinary)
        for left in dict.fromkeys(folds)
    }
    return [scores(weights[fold], [each])[0] for each, fold in zip(examples, folds, strict=True)]


def threshold(examples: Sequence[Example], unseen: Sequence[Floats], held: Sequence[Floats]) -> float:
    """Return the least score, in tenths, that keeps to `PRECISION` and `ALARMS`."""
    fitting = [
        least
        for least in np.arange(-1.0, 6.0, 0.1)
        if rates(examples, unseen, least)[0] >= PRECISION and alarms(held, least) <= ALARMS
    ]
    return round(float(fitting[0]), 1)


def main() -> None:
    """Write the weights and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--talk", action="store_true", help="print what is found in the voices")
    options = parser.parse_args()
    messages, voices = written(), talk("train")
    parts = {"dev": talk("dev"), "test": talk("test"), "comments": comments()}
    train([example(each) for each in messages], [example(each) for each in voices], parts, talk=options.talk)
    secret_words.train(messages, voices, parts, talk=options.talk)


def train(
    examples: Sequence[Example], ordinary: Sequence[Example], parts: Mapping[str, Sequence[Message]], *, talk: bool
) -> None:
    """Write the weights of pieces and print the figures; `parts`: ordinary messages."""
    unseen = left_out(examples, ordinary)
    weights = trained(examples, ordinary)
    by_part = {part: scores(weights, [example(each) for each in messages]) for part, messages in parts.items()}
    least = threshold(examples, unseen, by_part["dev"])
    weights[feature_buckets(["bias"])] -= least
    data = base64.b64encode(weights.astype("<f2").tobytes()).decode()
    stored = {"trained_on": f"{len(examples)} messages of our own, and voices", "weights": data}
    OUT.write_text(json.dumps(stored), encoding="utf-8")
    rows = [("all", len(examples), *(f"{each:.2f}" for each in rates(examples, unseen, least)))]
    for writer in dict.fromkeys(each.message.writer for each in examples):
        at = [place for place, each in enumerate(examples) if each.message.writer == writer]
        of = rates([examples[place] for place in at], [unseen[place] for place in at], least)
        rows.append((writer, len(at), *(f"{each:.2f}" for each in of)))
    print_table(f"Secrets, by writers left out, score {least}", ("writer", "messages", "precision", "recall"), rows)
    for part, found in by_part.items():
        print(f"{part}: {alarms(found, least) * 1000:.2f} of 1,000 messages ({len(found)})")
        for each, of in zip(parts[part], found, strict=True) if talk else ():
            if (of >= least).any():
                print(f"    {each.text[:200]!r}")


if __name__ == "__main__":
    main()
