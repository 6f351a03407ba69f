"""Texts that the judge keeps: how many, which, and from several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from reverie.inference.judge.kept import KeptTexts, ReadText


def text(tokens: int) -> ReadText:
    batch = np.zeros((8, tokens, 384), np.float32)
    return ReadText(batch[0], np.arange(tokens), np.zeros(tokens, np.int64))


def test_what_was_not_met_for_longest_goes_first() -> None:
    kept = KeptTexts(10)
    kept.keep({"a": text(4), "b": text(4)})
    assert list(kept.of(["a", "c"])) == ["a"]
    kept.keep({"c": text(5)})
    assert set(kept.of(["a", "b", "c"])) == {"a", "c"}
    kept.keep({"long": text(11)})
    assert kept.of(["a", "c", "long"]) == {}, "one that is too long by itself is not kept"


def test_what_is_kept_holds_no_batch() -> None:
    kept = KeptTexts(10)
    kept.keep({"a": text(4)})
    states = kept.of(["a"])["a"].states
    assert states.base is None
    assert len(kept.of(["a"])["a"].cut(2).states) == 2


def test_threads_share_it() -> None:
    kept = KeptTexts(20)

    def meet(number: int) -> None:
        kept.keep({f"{number % 7}": text(4)})
        assert len(kept.of([f"{each}" for each in range(7)])) <= 5

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(meet, range(400)))
    assert len(kept.of([f"{each}" for each in range(7)])) == 5
