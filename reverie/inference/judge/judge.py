"""The judge of ends: upper layers of its own on the states of the embedder MiniLM, in eight bits, on ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from reverie.errors import InferenceError
from reverie.inference.batching import equal_length_batches, work_batches
from reverie.inference.judge.kept import KeptTexts, ReadText
from reverie.inference.judge.pairs import MOST_OF_MESSAGE, EndPair, kinds_of
from reverie.inference.minilm.onnx import BATCH_TOKENS, MiniLM, session_on_one_thread
from reverie.inference.reader.decoding import MOST_TOKENS, letters_of
from reverie.inference.version import code_version

#: Texts whose states are kept for the next call, by their tokens: 25 MB. Statements meet message after message.
_KEPT_TOKENS = 16_384
#: Pairs that are read at once: their states are in memory together, 1.5 KB a token.
_AT_ONCE = 512
#: Digits of a logit that count: the last bits of a sum differ between processors and must not decide.
_DIGITS = 2
#: The fused operator takes ten times as long as the two that it stands for.
_UNFUSED = ["SkipLayerNormFusion"]


class TrainedJudge:
    """Judges pairs. What it gives depends on the pair alone."""

    def __init__(self, embedder: MiniLM | None = None, *, threads: int = 2) -> None:
        """Load the model (0.1 s); `embedder` shares its weights. Raises InferenceError when its files are missing."""
        folder = files(__package__)
        try:
            self._numbers = orjson.loads(folder.joinpath("judge.json").read_bytes())
            layers = folder.joinpath("judge.onnx").read_bytes()
        except OSError:
            raise InferenceError("The files of the judge are missing; reinstall reverie.") from None
        self._layers = session_on_one_thread(layers, unfused=_UNFUSED)
        self._lower = embedder or MiniLM(threads=threads)
        self._threads = threads
        self._kept = KeptTexts(_KEPT_TOKENS)

    @property
    def model(self) -> str:
        """The name of the model, which changes with its weights."""
        name: str = self._numbers["model"]
        return name

    @property
    def version(self) -> str:
        """The model with the code around it: what it gives for a pair changes with this alone."""
        of_code = code_version("reverie.inference.minilm", "reverie.inference.reader", __package__)
        return f"{self.model}/{of_code}"

    def chances(self, pairs: Sequence[EndPair]) -> list[float]:
        """Return of each pair the chance that its message makes the statement untrue, 0 to 1, in three digits."""
        return [chance for at in range(0, len(pairs), _AT_ONCE) for chance in self._chances(pairs[at : at + _AT_ONCE])]

    def _chances(self, pairs: Sequence[EndPair]) -> list[float]:
        sides = [pair.sides() for pair in pairs]
        texts = self._texts(list(dict.fromkeys(text for each in sides for _, text, _ in each)))
        lengths = [sum(min(len(texts[text].letters), most) for _, text, most in each) for each in sides]
        found = np.zeros(len(pairs))

        def work(batch: list[int]) -> None:
            rows = [_joined(sides[at], texts) for at in batch]
            given = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
            found[batch] = self._layers.run(["ends"], given)[0][:, 0]

        work_batches(equal_length_batches(lengths, token_budget=BATCH_TOKENS), work, threads=self._threads)
        chances: npt.NDArray[np.float64] = 1 / (1 + np.exp(-np.round(found, _DIGITS)))
        return [round(float(chance), 3) for chance in chances]

    def _texts(self, texts: Sequence[str]) -> Mapping[str, ReadText]:
        """What the embedder's lower layers make of texts, each read alone, and once while it is kept."""
        found = self._kept.of(texts)
        new = [text for text in texts if text not in found]
        encoded = self._lower.tokens(new)
        ids = [np.array(encoding.ids, np.int64)[:MOST_TOKENS] for encoding in encoded]

        def work(batch: list[int]) -> None:
            for at, states in zip(batch, self._lower.middle(np.stack([ids[at] for at in batch])), strict=True):
                places = np.array(encoded[at].offsets, np.int64)[:MOST_TOKENS]
                found[new[at]] = ReadText(states, ids[at], letters_of(new[at], places)).cut(MOST_OF_MESSAGE)

        batches = equal_length_batches([len(each) for each in ids], token_budget=BATCH_TOKENS)
        work_batches(batches, work, threads=self._threads)
        self._kept.keep({text: found[text] for text in new})
        return found


def _joined(sides: Sequence[tuple[int, str, int]], texts: Mapping[str, ReadText]) -> dict[str, npt.NDArray[Any]]:
    """The tokens of a pair: states, of which text, kinds."""
    parts = [texts[text].cut(most) for _, text, most in sides]
    of = [side for side, _, _ in sides]
    return {
        "states": np.concatenate([part.states for part in parts]),
        "side": np.repeat(np.array(of, np.int64), [len(part.ids) for part in parts]),
        "kinds": kinds_of(of, [part.ids for part in parts], [part.letters for part in parts]),
    }
