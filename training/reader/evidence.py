"""Weigh the evidence about an end: `python -m training.reader.evidence PAIRS`.

`PAIRS` is from `python -m bench.end_pairs --read`: pairs of memories and messages of `dev` and `test`, which neither
the reader nor the judge learned from. A logistic regression over the judge's log-odds and the other evidence of a pair
(`reverie/inference/judge/evidence.py`) is written to `evidence.json`. The figures printed are of ten folds of voices:
average precision of the judge alone and with the evidence, then precision and recall by least chance.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from reverie.inference.judge import EndPair, shared_judge
from reverie.inference.judge.evidence import PairEvidence, evidence_columns
from reverie.policy import load_policy

FILE = Path(__file__).resolve().parents[2] / "reverie" / "inference" / "judge" / "evidence.json"
FOLDS, DIGITS = 10, 3
LEAST = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)

Array = npt.NDArray[Any]


def is_judged(pair: Mapping[str, Any]) -> bool:
    """Return whether the stage `facts` would have the judge read a pair, by the policy `reverie`."""
    numbers = load_policy("reverie").structured_facts
    least = math.log(numbers.judge_chance / (1 - numbers.judge_chance))
    near: float = pair["near"]
    return near >= least and pair["rank"] < (numbers.silent_near if pair["silent"] else numbers.near)


def evidence_of(pairs: Sequence[Mapping[str, Any]]) -> list[PairEvidence]:
    """Return the evidence about pairs; the judge reads each."""
    judged = shared_judge().chances([EndPair(pair["old"], pair["t"], pair["q"]) for pair in pairs])
    return [
        PairEvidence(chance, pair["near"], pair["alike"], pair["days"], pair["lasting"], pair["silent"])
        for pair, chance in zip(pairs, judged, strict=True)
    ]


def fitted(read: Array, ended: Array) -> dict[str, Any]:
    """Return the weights of features and the bias."""
    model = LogisticRegression(C=10, max_iter=5000).fit(read, ended)
    weights = dict(zip(PairEvidence._fields, model.coef_[0].round(DIGITS).tolist(), strict=True))
    return {"bias": round(float(model.intercept_[0]), DIGITS), "weights": weights}


def by_folds(read: Array, ended: Array, voices: Sequence[str]) -> Array:
    """Return for each pair the chance by weights that were fitted on other voices."""
    model = LogisticRegression(C=10, max_iter=5000)
    folds = GroupKFold(min(FOLDS, len(set(voices))))
    return np.asarray(cross_val_predict(model, read, ended, groups=voices, cv=folds, method="predict_proba"))[:, 1]


def main() -> None:
    """Fit, write and measure."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    pairs = [pair for pair in map(json.loads, lines) if pair["part"] in ("dev", "test") and is_judged(pair)]
    read = evidence_columns(evidence_of(pairs))
    ended = np.array([pair["ended"] for pair in pairs])
    chance = by_folds(read, ended, [pair["voice"] for pair in pairs])
    alone, weighed = (average_precision_score(ended, score) for score in (read[:, 0], chance))
    print(f"{len(pairs)} pairs, {ended.sum()} ended, average precision: judge {alone:.3f}, evidence {weighed:.3f}")
    for least in LEAST:
        taken = chance >= least
        right = (ended & taken).sum()
        print(f"  {least}: {right / max(taken.sum(), 1):.2f}, {right / ended.sum():.2f} ({taken.sum()} taken)")
    FILE.write_text(json.dumps(fitted(read, ended), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
