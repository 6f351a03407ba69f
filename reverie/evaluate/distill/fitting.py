"""A head of the reader, fitted on a language model's claims about turns: a regularised logistic regression; pure.

Source: Newton's method (iteratively reweighted least squares) on the penalised likelihood.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import orjson

from reverie.evaluate.distill.labels import TurnExample
from reverie.inference.reader import ReaderHead

_Floats = npt.NDArray[np.float64]

#: Penalty on the square of a weight, in turns; on our voices 3 to 100 give the same curve.
_PENALTY = 10.0
#: Penalty on the bias, which is free; it keeps the equations solvable.
_FREE = 1e-6
_ROUNDS, _ENOUGH = 50, 1e-8
#: Minimum spread of a sign, as one may be the same in all turns.
_LEAST_SCALE = 1e-3
#: Decimals of the numbers of a head, and points of its scale.
_DIGITS, _POINTS = 5, 201


def fitted_head(examples: Sequence[TurnExample], reader: str) -> ReaderHead:
    """Return the head that separates turns that the reader and the model read alike from others.

    The same turns give the same head. Its version names the reader and the head's numbers.
    """
    signs = np.array([one.signs for one in examples], np.float64)
    agrees = np.array([not one.errors for one in examples], np.float64)
    means, scales = signs.mean(axis=0).round(_DIGITS), np.maximum(signs.std(axis=0), _LEAST_SCALE).round(_DIGITS)
    weights = _weights((signs - means) / scales, agrees).round(_DIGITS)
    bare = ReaderHead(
        version="", reader=reader, means=tuple(means.tolist()), scales=tuple(scales.tolist()),
        weights=tuple(weights.tolist()), steps=(),
    )  # fmt: skip
    logits = np.array([bare.logit(one.signs) for one in examples])
    numbers = bare.numbers() | {"steps": _steps(logits, np.array([one.sureness for one in examples]))}
    mark = hashlib.sha256(orjson.dumps(numbers)).hexdigest()[:8]
    return ReaderHead.of_numbers(f"{reader}+{mark}", reader, numbers)


def _weights(signs: _Floats, agrees: _Floats) -> _Floats:
    """Return the bias and the weights of scaled signs."""
    given = np.hstack([np.ones((len(signs), 1)), signs])
    weights = np.zeros(given.shape[1])
    penalty = np.full(given.shape[1], _PENALTY)
    penalty[0] = _FREE
    for _ in range(_ROUNDS):
        chances = 1 / (1 + np.exp(-given @ weights))
        slope = given.T @ (chances - agrees) + penalty * weights
        curvature = (given * (chances * (1 - chances))[:, None]).T @ given + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        weights -= step
        if np.abs(step).max() < _ENOUGH:
            break
    return weights


def _steps(logits: _Floats, sureness: _Floats) -> list[tuple[float, float]]:
    """Return quantiles of the logits, paired with the same quantiles of the reader's own confidence."""
    at = np.linspace(0, 1, _POINTS)
    pairs = zip(np.quantile(logits, at).round(_DIGITS), np.quantile(sureness, at).round(_DIGITS), strict=True)
    steps: dict[float, float] = {}
    for logit, own in pairs:
        steps.setdefault(float(logit), float(own))
    return list(steps.items())
