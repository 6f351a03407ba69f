"""Messages of our own with secrets marked by `[[...]]` (`secrets/*.txt`), the reader's voices, and comments."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from bench.mood_data import DATA
from reverie.language.sensitive.classes import without_secrets
from reverie.language.sensitive.secrets import BUCKETS
from reverie.language.text import Span

ROOT: Final = Path(__file__).resolve().parents[2]
WRITTEN, VOICES = Path(__file__).with_name("secrets"), ROOT / "training" / "reader" / "voices"
#: The folds: one per writer, each with a fifth of the harmless numbers and of the voices, which are left out together.
FOLDS: Final = "abcde"
#: Inverse strength of regularisation.
STRENGTH: Final = 1.0
MARKED: Final = re.compile(r"\[\[(.+?)\]\]")

Floats = npt.NDArray[np.float64]


class Message(NamedTuple):
    """A message with the spans of its secrets."""

    text: str
    secrets: tuple[Span, ...] = ()
    writer: str = ""
    fold: str = ""


def message(marked: str, writer: str = "", fold: str = "") -> Message:
    """Return a message whose secrets are marked by `[[...]]`."""
    text, spans, at = "", [], 0
    for match in MARKED.finditer(marked):
        text += marked[at : match.start()]
        spans.append((len(text), len(text) + len(match[1])))
        text += match[1]
        at = match.end()
    return Message(text + marked[at:], tuple(spans), writer, fold)


def written() -> list[Message]:
    """Return the messages that were written for this."""
    return [
        message(line, path.stem, path.stem if path.stem in FOLDS else FOLDS[number % len(FOLDS)])
        for path in sorted(WRITTEN.glob("*.txt"))
        for number, line in enumerate(path.read_text("utf-8").splitlines())
    ]


def talk(*parts: str) -> list[Message]:
    """Return the messages of voices in which rules find no secret."""
    found = []
    for voice, path in enumerate(sorted(VOICES.glob("*.jsonl"))):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if lines[0]["part"] in parts:
            found += [
                Message(line["t"], fold=FOLDS[voice % len(FOLDS)])
                for line in lines[1:]
                if not without_secrets(line["t"], by_rules_alone=True)[1]
            ]
    return found


def comments() -> list[Message]:
    """Return comments from Reddit (GoEmotions), which are unlike the voices."""
    with gzip.open(DATA / "goemotions.train.tsv.gz", "rt", encoding="utf-8") as file:
        return [Message(line.split("\t")[0]) for line in file]


def fitted(rows: Sequence[Sequence[int]], flags: Sequence[bool], counts: Sequence[float] | None = None) -> Floats:
    """Return the weight of each bucket. `rows`: of buckets; `flags`: whether each is of a secret; `counts`: weights."""
    from sklearn.linear_model import LogisticRegression  # takes a second

    model = LogisticRegression(C=STRENGTH, solver="liblinear", fit_intercept=False, random_state=0)
    model.fit(_matrix(rows), np.array(flags), sample_weight=counts and np.array(counts))
    weights: Floats = model.coef_[0]
    return weights


def _matrix(rows: Sequence[Sequence[int]]) -> csr_matrix:
    lengths = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return csr_matrix((np.ones(len(columns)), columns, lengths), shape=(len(rows), BUCKETS))
