"""Groups texts into batches for a model, and works through the batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from reverie.interruption import check_interruption


def equal_length_batches(lengths: Sequence[int], *, token_budget: int) -> list[list[int]]:
    """Return the indices of texts in batches, longest first; every text once.

    All texts of a batch have the same number of tokens, so nothing is padded: the arithmetic of a text does not depend
    on the others, and none is spent on padding. A batch holds at most `token_budget` tokens, or one text.
    """
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        by_length[length].append(index)
    batches = []
    for length in sorted(by_length, reverse=True):
        same = by_length[length]
        size = max(1, token_budget // max(1, length))
        batches += [same[at : at + size] for at in range(0, len(same), size)]
    return batches


def work_batches(batches: Sequence[list[int]], work: Callable[[list[int]], None], *, threads: int) -> None:
    """Call `work` with each batch, `threads` at once; end on an error or an interruption, after those under way."""

    def step(batch: list[int]) -> None:
        check_interruption()
        work(batch)

    if threads == 1 or len(batches) < 2:
        for batch in batches:
            step(batch)
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(step, batch) for batch in batches]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def threads_of(embedder: Any) -> int:
    """Return the number of threads of an embedder, so that models beside it use no more."""
    threads: int = getattr(embedder, "__dict__", {}).get("threads", 1)  # a placeholder for none has no attributes
    return threads
