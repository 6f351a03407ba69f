"""A cache of texts that the judge has read; the least recently used goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class ReadText(NamedTuple):
    """The first tokens of a text: states (tokens, 384), ids, and the kinds of their letters."""

    states: npt.NDArray[np.float32]
    ids: npt.NDArray[np.int64]
    letters: npt.NDArray[np.int64]

    def cut(self, most: int) -> ReadText:
        """Return the first `most` tokens."""
        return ReadText(self.states[:most], self.ids[:most], self.letters[:most])

    def copied(self) -> ReadText:
        """Return the same with arrays of its own."""
        return ReadText(self.states.copy(), self.ids.copy(), self.letters.copy())


class KeptTexts:
    """A cache of texts by their wording, up to a total number of tokens; threads may share it."""

    def __init__(self, most: int) -> None:
        """Begin empty; `most`: the total number of tokens."""
        self._most, self._tokens = most, 0
        self._texts: OrderedDict[str, ReadText] = OrderedDict()
        self._lock = Lock()

    def of(self, texts: Iterable[str]) -> dict[str, ReadText]:
        """Return the texts that are in the cache."""
        with self._lock:
            found = {text: self._texts[text] for text in texts if text in self._texts}
            for text in found:
                self._texts.move_to_end(text)
            return found

    def keep(self, texts: Mapping[str, ReadText]) -> None:
        """Add texts, and evict the least recently used ones beyond the limit."""
        # copies: a slice of a batch would keep all of it in memory
        copied = {text: each.copied() for text, each in texts.items()}
        with self._lock:
            for text, each in copied.items():
                if text not in self._texts:
                    self._texts[text], self._tokens = each, self._tokens + len(each.ids)
            while self._tokens > self._most:
                self._tokens -= len(self._texts.popitem(last=False)[1].ids)
