"""Train what finds secrets that no word gives away: `python -m training.sensitivity.secrets [--out FILE] [--talk]`.

Writes `reverie/language/sensitive/secret_weights.json`: a logistic regression over hashed features of each piece of
text that might be a secret, its bias moved so that a score of 0 and more is one. It reads `secrets/*.txt`, messages of
our own in which `[[...]]` marks a secret, one file a writer (`numbers`: most are phone numbers, dates, prices and the
like), and messages of the voices of training/reader (part train), in which nothing is one. Prints precision and recall
on each writer by numbers that were fitted without her messages (`numbers`: without a fifth of them), and how often
something is found in the voices of `dev` and `test`. The threshold is the least with `PRECISION` on writers left out,
and at most `ALARMS` in the voices of `dev`. Same data, same libraries: same bytes.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from bench.report import print_table
from reverie.language.sensitive.classes import without_secrets
from reverie.language.sensitive.secrets import BUCKETS, WEIGHTS, feature_buckets, suspect_features, suspects

ROOT = Path(__file__).resolve().parents[2]
WRITTEN, VOICES = Path(__file__).with_name("secrets"), ROOT / "training" / "reader" / "voices"
OUT = ROOT / "reverie" / "language" / "sensitive" / WEIGHTS
#: Inverse strength of regularisation, and what a piece of a voice counts beside one that was written for this.
STRENGTH, TALK_COUNTS = 1.0, 0.3
#: Share of secrets in what is found in messages left out; findings a message of the voices of dev.
PRECISION, ALARMS = 0.9, 1 / 2000
#: The file of harmless numbers, and its folds.
NUMBERS, FOLDS = "numbers", 5
MARKED = re.compile(r"\[\[(.+?)\]\]")

Floats = npt.NDArray[np.float64]


class Example(NamedTuple):
    """A message with its pieces, which of them are secrets, and how many secrets it has."""

    text: str
    rows: list[list[int]]
    flags: list[bool]
    secrets: int
    writer: str = ""
    #: those of one fold are left out together
    fold: str = ""


def example(marked: str, writer: str = "", fold: str = "") -> Example:
    """Return a message as an example; `[[...]]` marks its secrets."""
    text, spans, at = "", [], 0
    for match in MARKED.finditer(marked):
        text += marked[at : match.start()]
        spans.append((len(text), len(text) + len(match[1])))
        text += match[1]
        at = match.end()
    text += marked[at:]
    found = list(suspects(text))
    flags = [
        any(2 * (min(end, piece.end) - max(start, piece.start)) > piece.end - piece.start for start, end in spans)
        for piece in found
    ]
    return Example(
        text, [feature_buckets(suspect_features(text, piece)) for piece in found], flags, len(spans), writer, fold
    )


def written() -> list[Example]:
    """Return the messages that were written for this."""
    return [
        example(line, path.stem, f"{path.stem} {number % FOLDS}" if path.stem == NUMBERS else path.stem)
        for path in sorted(WRITTEN.glob("*.txt"))
        for number, line in enumerate(path.read_text("utf-8").splitlines())
    ]


def talk(*parts: str) -> list[Example]:
    """Return the messages of voices in which rules find no secret."""
    found = []
    for path in sorted(VOICES.glob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if lines[0]["part"] in parts:
            found += [
                example(line["t"]) for line in lines[1:] if not without_secrets(line["t"], by_rules_alone=True)[1]
            ]
    return found


def fitted(examples: Sequence[Example], ordinary: Sequence[Example]) -> Floats:
    """Return the weight of each bucket."""
    from sklearn.linear_model import LogisticRegression  # takes a second

    rows = [row for some in (examples, ordinary) for each in some for row in each.rows]
    flags = [flag for some in (examples, ordinary) for each in some for flag in each.flags]
    counts = [1.0] * sum(len(each.rows) for each in examples)
    counts += [TALK_COUNTS] * (len(rows) - len(counts))
    model = LogisticRegression(C=STRENGTH, solver="liblinear", fit_intercept=False, random_state=0)
    model.fit(matrix(rows), np.array(flags), sample_weight=np.array(counts))
    weights: Floats = model.coef_[0]
    return weights


def matrix(rows: Sequence[Sequence[int]]) -> csr_matrix:
    """Return features as a matrix of zeros and ones."""
    lengths = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return csr_matrix((np.ones(len(columns)), columns, lengths), shape=(len(rows), BUCKETS))


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
        if each.secrets
    ]
    return float(np.mean(taken)) if taken else 1.0, float(np.mean(having)) if having else 1.0


def alarms(found: Sequence[Floats], least: float) -> float:
    """Return the findings a message."""
    return sum(int((of >= least).sum()) for of in found) / max(len(found), 1)


def left_out(examples: Sequence[Example], ordinary: Sequence[Example]) -> list[Floats]:
    """Return the scores of each message by numbers fitted without those of its fold."""
    found: dict[int, Floats] = {}
    for fold in dict.fromkeys(each.fold for each in examples):
        weights = fitted([each for each in examples if each.fold != fold], ordinary)
        places = [place for place, each in enumerate(examples) if each.fold == fold]
        found |= zip(places, scores(weights, [examples[place] for place in places]), strict=True)
    return [found[place] for place in range(len(examples))]


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
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--talk", action="store_true", help="print what is found in the voices of dev and test")
    options = parser.parse_args()
    examples, ordinary, held, other = written(), talk("train"), talk("dev"), talk("test")
    unseen = left_out(examples, ordinary)
    weights = fitted(examples, ordinary)
    by_part = {"dev": (held, scores(weights, held)), "test": (other, scores(weights, other))}
    least = threshold(examples, unseen, by_part["dev"][1])
    weights[feature_buckets(["bias"])] -= least
    data = base64.b64encode(weights.astype("<f2").tobytes()).decode()
    options.out.write_text(
        json.dumps({"trained_on": f"{len(examples)} messages of our own, and voices", "weights": data}),
        encoding="utf-8",
    )
    rows = [("all", len(examples), *(f"{each:.2f}" for each in rates(examples, unseen, least)))]
    for writer in dict.fromkeys(each.writer for each in examples):
        at = [place for place, each in enumerate(examples) if each.writer == writer]
        of = rates([examples[place] for place in at], [unseen[place] for place in at], least)
        rows.append((writer, len(at), *(f"{each:.2f}" for each in of)))
    print_table(f"Secrets, by writers left out, score {least}", ("writer", "messages", "precision", "recall"), rows)
    for part, (some, found) in by_part.items():
        print(f"{part}: {alarms(found, least) * 1000:.2f} of 1,000 messages ({len(some)})")
        if options.talk:
            for each, of in zip(some, found, strict=True):
                if (of >= least).any():
                    print(f"    {each.text[:200]!r}")


if __name__ == "__main__":
    main()
