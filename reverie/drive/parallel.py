"""Parallel buckets: processes several buckets of a tenant at once, in threads of one process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Event
from typing import TypeVar

from reverie.model import SHARDS, Scope

T = TypeVar("T")

#: Seconds after which the waiting thread wakes up. Python runs signal handlers only in the main thread, which stays
#: asleep if the system delivers the signal to another thread.
_WAKE_SECONDS = 0.2


def buckets(scope: Scope, number: int) -> list[Scope]:
    """Divide a scope into `number` ranges of the 1024 shards. A scope that is already limited stays whole."""
    if scope.subjects is not None or (scope.shard_from, scope.shard_to) != (0, SHARDS):
        return [scope]
    return [
        Scope.bucket(scope.tenant_id, bucket, number, since=scope.since, until=scope.until) for bucket in range(number)
    ]


def in_parallel(scopes: list[Scope], work: Callable[[Scope], Iterator[T]]) -> Iterator[T]:
    """Run `work` on each scope in its own thread; yield the results as they come.

    The first error is raised; it ends every thread after its current step.
    """
    if len(scopes) == 1:
        yield from work(scopes[0])
        return
    results: SimpleQueue[T | None] = SimpleQueue()
    stopped = Event()

    def collect(scope: Scope) -> None:
        try:
            for item in work(scope):
                results.put(item)
                if stopped.is_set():
                    return
        except BaseException:
            stopped.set()
            raise
        finally:
            results.put(None)

    with ThreadPoolExecutor(len(scopes), thread_name_prefix="bucket") as pool:
        futures = [pool.submit(collect, scope) for scope in scopes]
        try:
            for _ in scopes:
                while (item := _next(results)) is not None:
                    yield item
        finally:
            stopped.set()
    for future in futures:
        future.result()


def _next(results: SimpleQueue[T | None]) -> T | None:
    while True:
        try:
            return results.get(timeout=_WAKE_SECONDS)
        except Empty:
            continue
