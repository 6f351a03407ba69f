"""Finds sensitive content by the vector of a text, besides the rules of `classes`, if no word gives it away.

One logistic regression per class; a score of 0 or more is in the class. `training/sensitivity/train.py` makes
`cues/sensitive_weights.json`. English only.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from reverie.language.cues import linear
from reverie.policy.sensitivity import SENSITIVE_CLASSES, SensitiveClass

WEIGHTS: Final = "sensitive_weights.json"
#: Decimals of a score that decide: sums in another order and half-precision vectors differ in later ones.
_DIGITS: Final = 2


def sensitive_by_vector(vector: npt.ArrayLike | None, embedding_model: str | None) -> frozenset[SensitiveClass]:
    """Return the classes by which a text with this unit vector is sensitive; about 10 us.

    No class without a vector, or with one of another embedding model than the classifier was trained on.
    """
    classifier = linear.load(WEIGHTS)
    if vector is None or embedding_model != classifier.embedding_model:
        return frozenset()
    scores = np.round(classifier.weights @ np.asarray(vector, np.float32) + classifier.bias, _DIGITS)
    return frozenset(name for name, score in zip(SENSITIVE_CLASSES, scores, strict=True) if score >= 0)
