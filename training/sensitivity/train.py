"""Trains the classifier of sensitive sentences: `python -m training.sensitivity.train [--out FILE] [--talk]`.

Writes `reverie/language/cues/sensitive_weights.json`: a logistic regression per class over MiniLM vectors, with a bias
such that a score of at least 0 means the class. It reads the first half of `bench/sets/sensitivity.tsv`,
`sentences.tsv`, which we wrote for it with near misses, and messages of the voices of training/reader (part train) in
which the rules find nothing, as ordinary talk. Each threshold is the least with a precision of `PRECISION` on sentences
of folds that a classifier has not seen. The second half and the third, which is by another author, are used only for
figures; sentences of ours that are near to one of them are left out. The same data and libraries give the same bytes.
Prints figures of these two, for rules alone and with the vector. `--talk` also prints messages of voices of the parts
dev and test that only the vector finds.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt

from bench.report import print_table
from bench.sensitivity import labelled, rates
from bench.train_mood import written
from reverie.inference import Embedder, load_embedder
from reverie.language.sensitive.classes import sensitive_classes
from reverie.language.sensitive.vectors import WEIGHTS, sensitive_by_vector
from reverie.policy.sensitivity import SENSITIVE_CLASSES, SensitiveClass

ROOT = Path(__file__).resolve().parents[2]
VOICES = ROOT / "training" / "reader" / "voices"
SENTENCES = Path(__file__).with_name("sentences.tsv")
OUT = ROOT / "reverie" / "language" / "cues" / WEIGHTS
#: Inverse strength of regularisation; messages of ordinary talk, and the weight of one relative to a sentence.
STRENGTH, TALK, TALK_COUNTS = 10.0, 3000, 0.2
#: The least precision of a threshold on unseen sentences.
PRECISION = 0.9
#: Halves that are used only for figures.
HELD = ("second", "third")
#: The least cosine to a sentence of these halves at which one of ours is left out.
NEAR = 0.85
ATTRIBUTION = "Trained on sentences and messages of our own."

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def sentences() -> list[tuple[frozenset[str], str]]:
    """Return the sentences that were written for training, each with its classes."""
    rows = csv.DictReader(SENTENCES.read_text("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [(frozenset(row["classes"].split(",")) - {"none"}, row["text"]) for row in rows]


def talk(parts: tuple[str, ...], number: int) -> list[str]:
    """Return messages of voices of some parts, the same at each call."""
    found: list[str] = []
    for path in sorted(VOICES.glob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if lines[0]["part"] in parts:
            found += [line["t"] for line in lines[1:]]
    return Random(5).sample(found, number)


def vectors_of(embedder: Embedder, texts: list[str]) -> Floats:
    """Return vectors of shape (texts, dimensions)."""
    return embedder.encode(texts).astype(np.float64)


def fitted(vectors: Floats, flags: Flags, ordinary: Floats) -> Floats:
    """Return weights and bias of one class: shape (dimensions + 1,)."""
    from sklearn.linear_model import LogisticRegression  # takes a second

    counts = np.concatenate([np.ones(len(flags)), np.full(len(ordinary), TALK_COUNTS)])
    model = LogisticRegression(C=STRENGTH, max_iter=2000)
    model.fit(
        np.vstack([vectors, ordinary]), np.concatenate([flags, np.zeros(len(ordinary), bool)]), sample_weight=counts
    )
    return np.hstack([model.coef_[0], model.intercept_])


def scores(row: Floats, vectors: Floats) -> Floats:
    """Return the score of each vector."""
    scored: Floats = vectors @ row[:-1] + row[-1]
    return scored


def threshold(vectors: Floats, flags: Flags, ordinary: Floats) -> float:
    """Return the least score, in tenths, with the required precision on sentences of other folds."""
    from sklearn.model_selection import StratifiedKFold

    unseen = np.zeros(len(flags))
    for read, left in StratifiedKFold(5, shuffle=True, random_state=1).split(vectors, flags):
        unseen[left] = scores(fitted(vectors[read], flags[read], ordinary), vectors[left])
    least = np.inf
    for score in np.arange(4.0, -3.0, -0.1):
        found = unseen >= score
        if not found.any():
            continue
        if flags[found].mean() >= PRECISION:
            least = float(score)
        elif found.sum() >= 10:
            break
    return round(least, 1)


def trained(embedder: Embedder) -> npt.NDArray[np.float16]:
    """Return weights of shape (classes, dimensions + 1), the bias last, in the order of `SENSITIVE_CLASSES`."""
    rows = sentences()
    held = vectors_of(embedder, [each.text for each in labelled() if each.half in HELD])
    vectors = vectors_of(embedder, [text for _, text in rows])
    far = (vectors @ held.T).max(axis=1) < NEAR
    first = [(each.classes, each.text) for each in labelled() if each.half == "first"]
    classes = [named for (named, _), kept in zip(rows, far, strict=True) if kept] + [named for named, _ in first]
    vectors = np.vstack([vectors[far], vectors_of(embedder, [text for _, text in first])])
    texts = talk(("train",), TALK)
    found, ordinary = [sensitive_classes(text) for text in texts], vectors_of(embedder, texts)
    table = []
    for name in SENSITIVE_CLASSES:
        flags = np.array([name in each for each in classes])
        others = ordinary[[name not in each for each in found]]
        row = fitted(vectors, flags, others)
        row[-1] -= threshold(vectors, flags, others)
        table.append(row)
    return np.array(table).astype(np.float16)


def figures(embedder: Embedder, half: str) -> list[tuple[str, ...]]:
    """Return each class with precision and recall on a half: rules alone, and with the vector."""
    held = [each for each in labelled() if each.half == half]
    vectors = embedder.encode([each.text for each in held])
    by_rules = [sensitive_classes(each.text) for each in held]
    by_both = [
        rules | sensitive_by_vector(vector, embedder.model) for rules, vector in zip(by_rules, vectors, strict=True)
    ]
    lines = []
    for name in (*SENSITIVE_CLASSES, "any"):
        line = [name]
        for found in (by_rules, by_both):
            flags = [
                (bool(each.classes), bool(those)) if name == "any" else (name in each.classes, name in those)
                for each, those in zip(held, found, strict=True)
            ]
            line += [f"{figure:.2f}" for figure in rates(flags)[1:]]
        lines.append(tuple(line))
    return lines


def print_talk(embedder: Embedder) -> None:
    """Print the messages of voices that only the vector finds."""
    texts = talk(("dev", "test"), TALK)
    new: dict[SensitiveClass, list[str]] = {name: [] for name in SENSITIVE_CLASSES}
    for text, vector in zip(texts, embedder.encode(texts), strict=True):
        for name in sensitive_by_vector(vector, embedder.model) - sensitive_classes(text):
            new[name].append(text)
    for name, found in new.items():
        print(f"{name}: {len(found)} of {len(texts)}")
        print("".join(f"    {text[:150]!r}\n" for text in found), end="")


def main() -> None:
    """Write the weights and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--talk", action="store_true")
    options = parser.parse_args()
    embedder = load_embedder("minilm")
    counts: dict[str, int] = {name: sum(name in named for named, _ in sentences()) for name in SENSITIVE_CLASSES}
    options.out.write_text(written(trained(embedder), embedder.model, counts, ATTRIBUTION), encoding="utf-8")
    head = ("class", "rules: precision", "recall", "with the vector: precision", "recall")
    for half in HELD:
        print_table(f"Sensitive sentences, {half} half", head, figures(embedder, half))
    if options.talk:
        print_talk(embedder)


if __name__ == "__main__":
    main()
