"""The judge of ends: upper layers of its own on the states of the embedder MiniLM, in eight bits, on ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from reverie.errors import InferenceError
from reverie.inference.batching import equal_length_batches, work_batches
from reverie.inference.judge.kept import KeptTexts, ReadText
from reverie.inference.judge.pairs import (
    MOST_BEFORE,
    MOST_OF_MESSAGE,
    MOST_OF_STATEMENT,
    EndPair,
    Shown,
    statement_kinds,
)
from reverie.inference.minilm.lower import below
from reverie.inference.minilm.onnx import BATCH_TOKENS, MiniLM, session_on_one_thread
from reverie.inference.reader.decoding import MOST_TOKENS, letters_of
from reverie.inference.version import code_version

#: Tokens of the texts whose states are kept for the next call: 25 MB. Statements meet message after message.
_KEPT_TOKENS = 16_384
#: Pairs and messages that are read at once: the part of a message that statements see takes 14 KB of memory per token.
_AT_ONCE, _MESSAGES = 512, 64
#: Lengths in tokens to which statements and messages are padded, each by its own length, so that a pair is read the
#: same in any batch. With more lengths there is less padding, but a call of a few dozen pairs needs more batches.
_STATEMENTS = (12, 20, 32, MOST_OF_STATEMENT)
_SHOWN = (20, 40, 64, MOST_OF_MESSAGE, MOST_BEFORE + MOST_OF_MESSAGE)
#: Decimals of a logit that count: the last bits of a sum differ between processors and must not decide.
_DIGITS = 2
#: The fused operator takes ten times as long as the two that it replaces.
_UNFUSED = ["SkipLayerNormFusion"]

Array = npt.NDArray[Any]


class _ReadMessage(NamedTuple):
    """A message as statements see it, padded: (tokens, 9 * 384), which tokens are real, and the ids of these."""

    read: Array
    real: Array
    ids: Array


class TrainedJudge:
    """Judges pairs. The result depends on the pair alone."""

    def __init__(self, embedder: MiniLM | None = None, *, threads: int = 2) -> None:
        """Load the model (0.1 s); `embedder` shares its weights. Raises InferenceError when its files are missing."""
        folder = files(__package__)
        try:
            self._numbers = orjson.loads(folder.joinpath("judge.json").read_bytes())
            layers = folder.joinpath("judge.onnx").read_bytes()
        except OSError:
            raise InferenceError("The files of the judge are missing; reinstall reverie.") from None
        self._of_message, self._of_statement = (
            session_on_one_thread(below(layers, output), unfused=_UNFUSED) for output in ("message", "ends")
        )
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
        """The version of the model and the code around it: the result for a pair changes with this alone."""
        of_code = code_version("reverie.inference.minilm", "reverie.inference.reader", __package__)
        return f"{self.model}/{of_code}"

    def chances(self, pairs: Sequence[EndPair]) -> list[float]:
        """Return for each pair the chance that its message makes the statement untrue, 0 to 1, to three decimals.

        A message is read once for all consecutive pairs with it.
        """
        return [chance for some in _at_once(pairs) for chance in self._chances(some)]

    def _chances(self, pairs: Sequence[EndPair]) -> list[float]:
        shown = [pair.shown() for pair in pairs]
        read = [*(pair.statement for pair in pairs), *(text for each in shown for _, text, _ in each)]
        texts = self._texts(list(dict.fromkeys(read)))
        messages = self._messages(list(dict.fromkeys(shown)), texts)
        said = [texts[pair.statement].cut(MOST_OF_STATEMENT) for pair in pairs]
        found = np.zeros(len(pairs))

        def work(batch: list[int]) -> None:
            given = [(said[at], messages[shown[at]]) for at in batch]
            length = _filled(len(given[0][0].ids), _STATEMENTS)
            kinds = [statement_kinds(own.ids, own.letters, message.ids) for own, message in given]
            found[batch] = self._of_statement.run(["ends"], {
                "states": _stacked([own.states for own, _ in given], length),
                "kinds": _stacked(kinds, length),
                "real": _stacked([np.ones(len(own.ids), np.int32) for own, _ in given], length),
                "read": np.stack([message.read for _, message in given]),
                "read_real": np.stack([message.real for _, message in given]),
            })[0][:, 0]  # fmt: skip

        lengths = [
            (_filled(len(own.ids), _STATEMENTS), len(messages[of].real)) for own, of in zip(said, shown, strict=True)
        ]
        work_batches(_alike(lengths), work, threads=self._threads)
        chances: npt.NDArray[np.float64] = 1 / (1 + np.exp(-np.round(found, _DIGITS)))
        return [round(float(chance), 3) for chance in chances]

    def _messages(self, shown: Sequence[Shown], texts: Mapping[str, ReadText]) -> dict[Shown, _ReadMessage]:
        """Read messages, each with the text before it."""
        parts = [[(side, texts[text].cut(most)) for side, text, most in each] for each in shown]
        sides = [np.repeat([side for side, _ in each], [len(text.ids) for _, text in each]) for each in parts]
        joined = [ReadText(*map(np.concatenate, zip(*(text for _, text in each), strict=True))) for each in parts]
        found: dict[Shown, _ReadMessage] = {}

        def work(batch: list[int]) -> None:
            length = _filled(len(joined[batch[0]].ids), _SHOWN)
            given = {
                "message_states": _stacked([joined[at].states for at in batch], length),
                "message_side": _stacked([sides[at] for at in batch], length),
                "message_kinds": _stacked([joined[at].letters for at in batch], length),
                "message_real": _stacked([np.ones(len(joined[at].ids), np.int32) for at in batch], length),
            }
            read = self._of_message.run(["message"], given)[0]
            for at, of, real in zip(batch, read, given["message_real"], strict=True):
                found[shown[at]] = _ReadMessage(of, real, joined[at].ids)

        work_batches(_alike([(_filled(len(each.ids), _SHOWN), 0) for each in joined]), work, threads=self._threads)
        return found

    def _texts(self, texts: Sequence[str]) -> Mapping[str, ReadText]:
        """Return the states of texts after the embedder's lower layers, each read alone, and once while it is kept."""
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


def _at_once(pairs: Sequence[EndPair]) -> Iterator[list[EndPair]]:
    """Yield pairs in order, in groups that are read at once."""
    some: list[EndPair] = []
    messages: set[Shown] = set()
    for pair in pairs:
        messages.add(pair.shown())
        if len(some) == _AT_ONCE or len(messages) > _MESSAGES:
            yield some
            some, messages = [], {pair.shown()}
        some.append(pair)
    if some:
        yield some


def _filled(length: int, lengths: Sequence[int]) -> int:
    """Return the next length to which a text is padded."""
    return next(each for each in lengths if each >= length)


def _stacked(rows: Sequence[Array], length: int) -> Array:
    """Return rows as one array, padded with zeros."""
    found = np.zeros((len(rows), length, *rows[0].shape[1:]), rows[0].dtype)
    for at, row in enumerate(rows):
        found[at, : len(row)] = row
    return found


def _alike(lengths: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return batches of places with equal lengths; the first of the lengths counts for the token budget."""
    places: dict[tuple[int, int], list[int]] = {}
    for place, length in enumerate(lengths):
        places.setdefault(length, []).append(place)
    return [
        same[at : at + size]
        for length, same in sorted(places.items(), reverse=True)
        for size in [max(1, BATCH_TOKENS // length[0])]
        for at in range(0, len(same), size)
    ]
