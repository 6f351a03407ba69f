"""What the small models gave of a text is kept for the tests of a process, which read the same histories all the time.

What a model gives depends on its input alone, to the bit, in any company and on any number of threads:
`tests/inference` proves it, on models that keep nothing. So nothing that a test can see changes, and the processes that
tests start keep nothing either.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from reverie.inference.judge.judge import TrainedJudge
from reverie.inference.minilm.onnx import MiniLM
from reverie.inference.reader.reader import TrainedReader

#: Tests of the models themselves and of how long they take, by a part of their path.
OF_MODELS = ("tests/inference/", "tests/training/", "tests/api/test_fairness.py", "tests/fuzz/")


class Known:
    """Puts what is known before the models; they are asked all the same where it is not `on`."""

    def __init__(self) -> None:
        """Put it there, not on."""
        self.on = False
        TrainedReader.read = self._keeping(TrainedReader.read, list)  # type: ignore[method-assign]
        TrainedJudge.chances = self._keeping(TrainedJudge.chances, list)  # type: ignore[method-assign]
        MiniLM.encode = self._keeping(MiniLM.encode, _stacked)  # type: ignore[method-assign]

    def use_in(self, path: str) -> None:
        """Let the tests of a file have what is known, but for those of models."""
        self.on = not any(part in path for part in OF_MODELS)

    def _keeping(self, model: Callable[..., Any], made: Callable[[list[Any]], Any]) -> Callable[..., Any]:
        kept: dict[Hashable, Any] = {}

        @wraps(model)
        def work(of: Any, asked: Sequence[Hashable]) -> Any:
            if not (self.on and asked):
                return model(of, asked)
            if new := [one for one in dict.fromkeys(asked) if one not in kept]:
                kept.update(zip(new, model(of, new), strict=True))
            return made([kept[one] for one in asked])

        return work


def _stacked(vectors: list[Any]) -> Any:
    return np.stack(vectors)
