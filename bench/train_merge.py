"""Train the classifier of near pairs with the same meaning: `python -m bench.train_merge [--model minilm] [--apart]`.

Writes `reverie/consolidate/merge/head.json`: logistic regression over the features of `merge/same.py`, trained on those
pairs of `tests/consolidate/merge_pairs.dev.jsonl` and `tests/language/merge_pairs.jsonl` that no rule separates, and on
near texts of different pairs, which are not the same. The rules separate most of the latter. Prints precision and
recall on the development pairs, each judged by a classifier that was not trained on it (ten folds). The words of
`merge/wording.py` were chosen with the development pairs in view, so the figures there are better than on other pairs.
`--apart` lists the development pairs judged wrongly.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from reverie.consolidate.merge.same import pair_features, states_otherwise
from reverie.consolidate.merge.wording import crossed, differs, read_wording
from reverie.inference import load_embedder
from reverie.language.contradiction import contradiction
from reverie.policy import load_policy

ROOT = Path(__file__).resolve().parent.parent
DEVELOPMENT = ROOT / "tests" / "consolidate" / "merge_pairs.dev.jsonl"
HARD = ROOT / "tests" / "language" / "merge_pairs.jsonl"
HEAD = ROOT / "reverie" / "consolidate" / "merge" / "head.json"
STRENGTH, FOLDS = 3.0, 10

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.bool_]


def main() -> None:
    """Evaluate by folds, then train on all pairs and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--apart", action="store_true")
    arguments = parser.parse_args()
    policy = load_policy("reverie").merge
    pairs = [json.loads(line) for path in (DEVELOPMENT, HARD) for line in path.read_text("utf-8").splitlines()]
    own = len(DEVELOPMENT.read_text("utf-8").splitlines())
    cosines = _cosines(pairs, arguments.model)
    values = np.array(
        [pair_features(said(pair["a"]), said(pair["b"]), cosine) for pair, cosine in zip(pairs, cosines, strict=True)]
    )
    labels = np.array([pair["merge"] for pair in pairs])
    reasons = [
        "far" if cosine <= (policy.near or policy.threshold) else why_apart(pair["a"], pair["b"])
        for pair, cosine in zip(pairs, cosines, strict=True)
    ]
    left = np.array([reason is None for reason in reasons])
    print(f"left: {left.sum()} of {len(pairs)}, {labels[left].sum()} of them the same")
    strangers = _strangers(pairs, arguments.model, policy.near or policy.threshold)
    print(f"strangers: {len(strangers)}")
    chances = _by_folds(values, labels, left, strangers)
    for least in (0.4, 0.5, 0.6, 0.7, 0.8):
        for name, part in (("development", slice(own)), ("hard", slice(own, None))):
            merged, same = (left & (chances >= least))[part], labels[part]
            right = int((merged & same).sum())
            print(
                f"{least} {name}: precision {right / max(merged.sum(), 1):.3f} ({right}/{merged.sum()}), "
                f"recall {right / same.sum():.3f}"
            )
    if arguments.apart:
        for pair, reason, chance, cosine in zip(pairs[:own], reasons, chances, cosines, strict=False):
            if pair["merge"] != (reason is None and chance >= policy.probability):
                print(f"{pair['merge']!s:5} {reason} {chance:.2f} {cosine:.2f} {pair['a']} | {pair['b']}")
    head = _train(values[left], labels[left], strangers)
    stored = {
        "weights": [round(float(weight), 4) for weight in head.coef_[0]],
        "bias": round(float(head.intercept_[0]), 4),
    }
    HEAD.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def said(text: str) -> Any:
    """Return a text as a memory without a relation."""
    return SimpleNamespace(content=text, polarity=0, who=None, relation=None, topic=None, object=None, phase=None)


def why_apart(one: str, other: str) -> str | None:
    """Return the rule that separates two texts, without the classifier; None: no rule does."""
    first, second = read_wording(one), read_wording(other)
    return (
        states_otherwise(said(one), said(other)) or differs(first, second) or contradiction(first.folded, second.folded)
    )


def _cosines(pairs: list[dict[str, Any]], model: str) -> list[float]:
    texts = sorted({pair[side] for pair in pairs for side in ("a", "b")})
    vectors = dict(zip(texts, load_embedder(model).encode(texts), strict=True))
    return [float(vectors[pair["a"]] @ vectors[pair["b"]]) for pair in pairs]


def _strangers(pairs: list[dict[str, Any]], model: str, near: float) -> Floats:
    """Return features of near texts of different pairs that no rule separates and whose words are not the same."""
    of: dict[str, set[int]] = {}
    for number, pair in enumerate(pairs):
        for side in ("a", "b"):
            of.setdefault(pair[side], set()).add(number)
    texts = sorted(of)
    vectors = np.array(load_embedder(model).encode(texts))
    rows = []
    for i, j in np.argwhere(np.triu(vectors @ vectors.T, 1) > near):
        one, other = texts[i], texts[j]
        if of[one] & of[other] or read_wording(one).words == read_wording(other).words or why_apart(one, other):
            continue
        if {text for number in of[one] for text in (pairs[number]["a"], pairs[number]["b"])} & {
            text for number in of[other] for text in (pairs[number]["a"], pairs[number]["b"])
        }:
            continue
        if crossed(read_wording(one), read_wording(other))[0] == 0:
            continue
        rows.append(pair_features(said(one), said(other), float(vectors[i] @ vectors[j])))
    return np.array(rows).reshape(len(rows), -1)


def _by_folds(values: Floats, labels: Labels, left: Labels, strangers: Floats) -> Floats:
    chances = np.zeros(len(labels))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(values, labels):
        kept = train[left[train]]
        chances[test] = _train(values[kept], labels[kept], strangers).predict_proba(values[test])[:, 1]
    return chances


def _train(values: Floats, labels: Labels, strangers: Floats) -> LogisticRegression:
    values, labels = np.vstack([values, strangers]), np.concatenate([labels, np.zeros(len(strangers), bool)])
    return LogisticRegression(C=STRENGTH, max_iter=1000).fit(values, labels)


if __name__ == "__main__":
    main()
