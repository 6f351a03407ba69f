"""Train the classifier of moods: `python bench/train_mood.py [--cache FOLDER]`.

Writes `reverie/language/cues/mood_weights.json`.

Multinomial logistic regression over MiniLM vectors of GoEmotions' training part and of `mood_examples.tsv`. The weight
of a mood's messages is the square root of its rarity: with full weights rare moods are predicted too often, with none
never. The same data and libraries give the same bytes. Takes five minutes, most of it embedding.
"""

from __future__ import annotations

import argparse
import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bench.mood_data import ROOT, embedded, go_emotions, own
from reverie.inference import load_embedder
from reverie.language.cues.mood import MOODS

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

WEIGHTS = ROOT / "reverie" / "language" / "cues" / "mood_weights.json"
#: Inverse strength of regularisation, and the power of rarity; half a dozen nearby values differ by less than a point.
STRENGTH, POWER = 1.0, 0.5
ATTRIBUTION = (
    "Trained on GoEmotions (Demszky et al., 2020; Google Research), Apache License 2.0, "
    "https://github.com/google-research/google-research/tree/master/goemotions, its 28 emotions mapped to ten moods, "
    "and on messages of our own for bored and flirty."
)


def regression() -> LogisticRegression:
    """Return the untrained classifier."""
    from sklearn.linear_model import LogisticRegression  # takes a second

    return LogisticRegression(C=STRENGTH, max_iter=1000)


def weights_of(moods: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the weight of each message."""
    counts = Counter(moods)
    return np.array([(len(moods) / len(counts) / counts[mood]) ** POWER for mood in moods])


def trained(vectors: npt.NDArray[np.float32], moods: Sequence[str]) -> npt.NDArray[np.float16]:
    """Return weights of shape (moods, dimensions + 1), the bias last, in the order of `MOODS`; each mood must occur."""
    model = regression().fit(vectors.astype(np.float64), list(moods), sample_weight=weights_of(moods))
    order = [list(model.classes_).index(mood) for mood in MOODS]
    return np.hstack([model.coef_, model.intercept_[:, None]])[order].astype(np.float16)


def written(table: npt.NDArray[np.float16], embedding_model: str, counts: Mapping[str, int], attribution: str) -> str:
    """Return the file's text: the weights, with a row for each class of `counts`, and their sources."""
    stored = {
        "what": "Multinomial logistic regression over unit vectors, a row a class, the bias last (bench/README.md).",
        "attribution": attribution,
        "license": "Apache-2.0",
        "embedding_model": embedding_model,
        "classes": list(counts),
        "messages": counts,
        "scikit_learn": version("scikit-learn"),
        "shape": table.shape,
        "weights": base64.b64encode(table.astype("<f2").tobytes()).decode(),
    }
    return json.dumps(stored, indent=1, ensure_ascii=False) + "\n"


def threshold(vectors: npt.NDArray[np.float32], moods: Sequence[str]) -> float:
    """Return the least confidence, in hundredths, around which (±.05) half of the unseen messages are right."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    params = {"sample_weight": weights_of(moods)}
    odds = cross_val_predict(
        regression(), vectors.astype(np.float64), list(moods), cv=folds, method="predict_proba", params=params
    )
    right = np.array(sorted(set(moods)))[odds.argmax(1)] == np.array(moods)
    sure = odds.max(1)
    for hundredths in range(15, 100):
        near = np.abs(sure - hundredths / 100) <= 0.05
        if near.sum() >= 100 and right[near].mean() >= 0.5:
            return hundredths / 100
    return 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors for the next run")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--threshold", action="store_true", help="also print the threshold for the policy (minutes)")
    options = parser.parse_args()
    embedder = load_embedder("minilm")
    parts = [go_emotions("train"), own("train")]
    vectors = np.vstack([embedded(part.texts, embedder, options.cache) for part in parts])
    moods = [mood for part in parts for mood in part.moods]
    counts: dict[str, int] = {mood: moods.count(mood) for mood in MOODS}
    options.out.write_text(written(trained(vectors, moods), embedder.model, counts, ATTRIBUTION), encoding="utf-8")
    print(f"{len(moods)} messages -> {options.out}")
    if options.threshold:
        print(f"classifier_confidence = {threshold(vectors, moods):.2f}")


if __name__ == "__main__":
    main()
