"""Train the classifier of crises: `python bench/train_crisis.py` writes `reverie/language/cues/crisis_weights.json`.

Logistic regression over MiniLM vectors: the cases of `crisis_cases.tsv`, except the held-out sets, and as ordinary talk
GoEmotions' training messages and short messages of the reader's training voices, except those in which the patterns
find a sign. The same data and libraries give the same bytes. Prints the probability that as many of the ordinary
messages reach as --flags says.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.mood_data import DATA, ROOT, embedded
from bench.train_mood import written
from reverie.inference import load_embedder
from reverie.language.cues.crisis import signs_of
from training.reader.check import VOICES, read_voice

WEIGHTS = ROOT / "reverie" / "language" / "cues" / "crisis_weights.json"
CASES = Path(__file__).with_name("crisis_cases.tsv")
#: Sets to train on; 3 and 5 were not used for development. The kind of a case in 4 and 5, short talk without
#: punctuation, is its voice, and no voice is in both.
TRAINED = (1, 2, 4)
#: The most words of a short message.
SHORT_WORDS = 8
#: Inverse strength of regularisation; the weights of our crises and other cases beside one message of GoEmotions.
STRENGTH, CRISIS_COUNTS, OTHER_COUNTS = 1.0, 20.0, 10.0
ATTRIBUTION = (
    "Trained on messages of our own and, as ordinary talk, on GoEmotions (Demszky et al., 2020; Google Research), "
    "Apache License 2.0, https://github.com/google-research/google-research/tree/master/goemotions."
)


class Cases(NamedTuple):
    """Messages that we wrote, with whether each is a crisis, and its sort."""

    texts: list[str]
    crisis: npt.NDArray[np.bool_]
    kinds: list[str]


def cases(*numbers: int) -> Cases:
    """Return the cases of some sets, in the order of the file."""
    rows = [line.split("\t") for line in CASES.read_text("utf-8").splitlines()]
    rows = [row for row in rows if int(row[0]) in numbers]
    return Cases([row[3] for row in rows], np.array([row[1] == "1" for row in rows]), [row[2] for row in rows])


def messages(part: str, folder: Path = DATA) -> list[str]:
    """Return all messages of a part of GoEmotions."""
    with gzip.open(folder / f"goemotions.{part}.tsv.gz", "rt", encoding="utf-8") as file:
        return [line.split("\t")[0] for line in file]


def short_talk(*parts: str) -> list[str]:
    """Return each short message without punctuation at its end, of the reader's voices of some parts, once.

    Nearly all of GoEmotions is longer or punctuated; without these, "goodbye" is like nothing but a crisis.
    """
    voices = [read_voice(file)[:2] for file in sorted(VOICES.glob("*.jsonl"))]
    texts = [message.get("t") or "" for head, said in voices if head["part"] in parts for message in said]
    return list(dict.fromkeys(text for text in texts if text[-1:].isalnum() and len(text.split()) <= SHORT_WORDS))


def trained(
    ours: npt.NDArray[np.float32], crisis: npt.NDArray[np.bool_], others: npt.NDArray[np.float32]
) -> npt.NDArray[np.float16]:
    """Return weights of shape (2, dimensions + 1), the bias last; the first row, for no crisis, is zero."""
    counts = np.concatenate([np.where(crisis, CRISIS_COUNTS, OTHER_COUNTS), np.ones(len(others))])
    labels = np.concatenate([crisis, np.zeros(len(others), bool)])
    from sklearn.linear_model import LogisticRegression  # takes a second

    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    model.fit(np.vstack([ours, others]).astype(np.float64), labels, sample_weight=counts)
    row = np.hstack([model.coef_[0], model.intercept_])
    return np.vstack([np.zeros_like(row), row]).astype(np.float16)


def probability(table: npt.NDArray[np.float16], vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return the probability of a crisis for each vector."""
    row = table[1].astype(np.float64)
    odds: npt.NDArray[np.float64] = 1 / (1 + np.exp(-(vectors @ row[:-1] + row[-1])))
    return odds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors for the next run")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--flags", type=float, default=3.0, help="messages in a thousand")
    options = parser.parse_args()
    embedder = load_embedder("minilm")
    ours = cases(*TRAINED)
    parts = (messages("train"), short_talk("train"))
    others = np.vstack(
        [embedded(part, embedder, options.cache)[[not signs_of(text) for text in part]] for part in parts]
    )
    table = trained(embedder.encode(ours.texts), ours.crisis, others)
    counts = {"other": int((~ours.crisis).sum() + len(others)), "crisis": int(ours.crisis.sum())}
    options.out.write_text(written(table, embedder.model, counts, ATTRIBUTION), encoding="utf-8")
    reached = np.quantile(probability(table, others), 1 - options.flags / 1000)
    print(f"{len(ours.texts)} cases, {len(others)} messages -> {options.out}; vector_probability = {reached:.2f}")


if __name__ == "__main__":
    main()
