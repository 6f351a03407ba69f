"""A process beside the server that applies the rules to long requests: a regex in a thread would hold the GIL.

It starts with the first long request (a second or two, 0.3 GB), handles one request at a time, and gives way to
everything else on the machine. If it dies, the pending requests fail and the next one starts another process.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from reverie.capture.live.readings import Reading, read_turns
from reverie.errors import InferenceError
from reverie.inference.loading import load_embedder
from reverie.inference.tokens import plain_count
from reverie.language.text import CountTokens
from reverie.model import Turn
from reverie.policy import Policy

#: The niceness by which it gives way to the server and Postgres, as in nice(1).
_NICENESS = 5


class TurnReader:
    """Reads turns in a process of its own. The tokens of `embedding_model` measure the chunks of a long text."""

    def __init__(self, embedding_model: str) -> None:
        self._embedding_model = embedding_model
        self._pool: ProcessPoolExecutor | None = None

    def begin(self, turns: Sequence[Turn], policy: Policy) -> Future[list[Reading]]:
        """Start reading. The future can be cancelled while others are processed."""
        if self._pool is None:
            self._pool = self._start()
        try:
            return self._pool.submit(_read, tuple(turns), policy)
        except BrokenProcessPool:
            self._pool = self._start()
            return self._pool.submit(_read, tuple(turns), policy)

    def end(self) -> None:
        """End the process after the current request."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _start(self) -> ProcessPoolExecutor:
        # a fork would share the server's sockets and the locks that its threads hold
        spawning = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, spawning, initializer=_begin, initargs=(self._embedding_model,))


_count_tokens: CountTokens


def _begin(embedding_model: str) -> None:
    """Prepare the process."""
    global _count_tokens
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(_NICENESS)
    try:
        embedder = load_embedder(embedding_model, threads=1)
        embedder.count_tokens("warm")
    except InferenceError:
        embedder = None
    _count_tokens = plain_count(embedder)


def _end_with_parent() -> None:
    """End with the server: a server that is killed cannot end its processes."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def _read(turns: Sequence[Turn], policy: Policy) -> list[Reading]:
    return read_turns(turns, policy, _count_tokens)
