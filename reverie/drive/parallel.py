"""abreast: buckets of one tenant worked at once in one process, as an orchestrator would in several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Event
from typing import TypeVar

from reverie.model import SHARDS, Scope

T = TypeVar("T")

#: Seconds after which the waiting thread wakes up: Python runs signal handlers in the main thread only, and the system
#: may deliver the signal to another one, which leaves the main thread asleep.
_WAKE_SECONDS = 0.2


def buckets(scope: Scope, number: int) -> list[Scope]:
    """Return `number` scopes that together are this one: ranges of the 1024 shards. A limited one stays whole."""
    if scope.subjects is not None or (scope.shard_from, scope.shard_to) != (0, SHARDS):
        return [scope]
    return [
        Scope.bucket(scope.tenant_id, bucket, number, since=scope.since, until=scope.until) for bucket in range(number)
    ]


def abreast(scopes: list[Scope], work: Callable[[Scope], Iterator[T]]) -> Iterator[T]:
    """Run `work` on each scope in a thread of its own; yields what they yield, as it comes.

    The first error ends all of them, each after the step that it is in, and is raised.
    """
    if len(scopes) == 1:
        yield from work(scopes[0])
        return
    come: SimpleQueue[T | None] = SimpleQueue()
    stopped = Event()

    def drain(scope: Scope) -> None:
        try:
            for each in work(scope):
                come.put(each)
                if stopped.is_set():
                    return
        except BaseException:
            stopped.set()
            raise
        finally:
            come.put(None)

    with ThreadPoolExecutor(len(scopes), thread_name_prefix="bucket") as pool:
        futures = [pool.submit(drain, scope) for scope in scopes]
        try:
            for _ in scopes:
                while (each := _next(come)) is not None:
                    yield each
        finally:
            stopped.set()
    for future in futures:
        future.result()


def _next(come: SimpleQueue[T | None]) -> T | None:
    while True:
        try:
            return come.get(timeout=_WAKE_SECONDS)
        except Empty:
            continue
