"""Train the classifier of requests that general knowledge answers: `python -m bench.train_general [--out FILE]`.

Writes `reverie/language/cues/general_weights.json`.

Logistic regression over MiniLM vectors of the requests of `sets/requests.tsv`, which we wrote in twelve voices: 7 to
train on, 3 to test on, and 2 that were written after everything was fixed (`held`). Sentences of people about
themselves, from other sets of ours, have less weight and are never general. The same data and libraries give the same
bytes. Prints how each voice is classified by a classifier that was not trained on it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.mood_data import ROOT
from bench.report import print_table
from bench.train_mood import written
from reverie.inference import Embedder, load_embedder
from reverie.policy import load_policy
from reverie.recall.places.general import CLASSES, speaks_of_somebody

WEIGHTS = ROOT / "reverie" / "language" / "cues" / "general_weights.json"
SETS = Path(__file__).with_name("sets")
#: Inverse strength of regularisation; the weight of a sentence of the other sets beside a request.
STRENGTH, SENTENCE_COUNTS = 10.0, 0.2
ATTRIBUTION = "Trained on requests and sentences of our own."

Floats = npt.NDArray[np.float64]


class Request(NamedTuple):
    """A request of `sets/requests.tsv`."""

    #: `train`, `test` or `held`, the same for all of a voice
    part: str
    voice: str
    #: one of `CLASSES`
    label: str
    text: str


def requests(part: str | None = None) -> list[Request]:
    """Return the requests of a part."""
    rows = [Request(*line.split("\t")) for line in (SETS / "requests.tsv").read_text("utf-8").splitlines()]
    return [row for row in rows if part in (None, row.part)]


def sentences() -> list[str]:
    """Return sentences of people about themselves."""
    said = [json.loads(line)["text"] for line in (SETS / "sentences.dev.jsonl").read_text("utf-8").splitlines()]
    worth = [line.split("\t")[1] for line in (SETS / "worth_sentences.tsv").read_text("utf-8").splitlines()]
    return said + worth


def trained(vectors: Floats, labels: Sequence[str], others: Floats) -> npt.NDArray[np.float16]:
    """Return weights of shape (2, dimensions + 1), the bias last, in the order of `CLASSES`; the first row is zero."""
    from sklearn.linear_model import LogisticRegression  # takes a second

    model = LogisticRegression(C=STRENGTH, max_iter=2000)
    counts = np.concatenate([np.ones(len(labels)), np.full(len(others), SENTENCE_COUNTS)])
    general = np.concatenate([np.array(labels) == "general", np.zeros(len(others), bool)])
    model.fit(np.vstack([vectors, others]), general, sample_weight=counts)
    row = np.hstack([model.coef_[0], model.intercept_])
    return np.vstack([np.zeros_like(row), row]).astype(np.float16)


def taken(
    table: npt.NDArray[np.float16], rows: Sequence[Request], vectors: Floats, least: float
) -> npt.NDArray[np.bool_]:
    """Return which requests count as general."""
    row = table[1].astype(np.float64)
    odds = 1 / (1 + np.exp(-(vectors @ row[:-1] + row[-1])))
    silent = np.array([not speaks_of_somebody(each.text) for each in rows])
    found: npt.NDArray[np.bool_] = (odds >= least) & silent
    return found


def tested(embedder: Embedder, least: float) -> list[tuple[str, ...]]:
    """Return, for each voice, the shares classified as general by a classifier that was not trained on the voice."""
    others = embedder.encode(sentences()).astype(np.float64)
    rows, lines = requests(), []
    vectors = embedder.encode([row.text for row in rows]).astype(np.float64)
    for voice in dict.fromkeys(row.voice for row in rows):
        here = np.array([row.voice == voice for row in rows])
        read = np.array([row.part == "train" for row in rows]) & ~here
        table = trained(vectors[read], [row.label for row, used in zip(rows, read, strict=True) if used], others)
        said = [row for row in rows if row.voice == voice]
        found = taken(table, said, vectors[here], least)
        shares = (found[[row.label == label for row in said]].mean() for label in reversed(CLASSES))
        lines.append((said[0].part, voice, str(len(said)), *(f"{share:.3f}" for share in shares)))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    embedder, least = load_embedder("minilm"), load_policy("reverie").recall.general_probability
    rows, others = requests("train"), sentences()
    vectors = embedder.encode([row.text for row in rows]).astype(np.float64)
    table = trained(vectors, [row.label for row in rows], embedder.encode(others).astype(np.float64))
    counts = {"person": sum(row.label == "person" for row in rows) + len(others)}
    counts["general"] = sum(row.label == "general" for row in rows)
    options.out.write_text(written(table, embedder.model, counts, ATTRIBUTION), encoding="utf-8")
    columns = ("part", "voice", "requests", "general: given no memories", "person: given none")
    print_table(f"Requests of a probability of {least}", columns, tested(embedder, least))


if __name__ == "__main__":
    main()
