"""Buckets on Ray: an actor with the models and a connection processes a whole bucket, on any machine of a cluster.

Only scopes and reports are sent between machines: an actor reads from Postgres and writes to it, by the same code that
runs without Ray. Ray is imported only when it is used.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from socket import create_connection
from threading import current_thread, main_thread
from typing import Any, Generic, TypeVar

from reverie.errors import SettingsError, StageError
from reverie.inference.extras import load_extra
from reverie.interruption import check_interruption
from reverie.model import Scope
from reverie.store.work import Progress

T = TypeVar("T")

#: Makes, once per actor, the function that processes a bucket. Pickled, so each node must be able to import its parts.
OpenWork = Callable[[], Callable[[Scope, Progress], Iterator[T]]]

#: Seconds between two checks whether the process was asked to stop.
_WAKE_SECONDS = 0.2
_CONNECT_SECONDS = 5
#: Bytes of shared memory of a cluster on this machine: the minimum of Ray, since no data goes through it.
_SHARED_BYTES = 80 << 20


@dataclass(frozen=True, kw_only=True)
class RayCluster:
    """The cluster on which the actors run, and their number."""

    #: Address as in RAY_ADDRESS; None: a cluster on this machine that ends with the work.
    address: str | None = None
    workers: int = 2
    #: CPUs of an actor, for the threads of its embedder.
    threads: int = 1


def on_ray(scopes: list[Scope], open_work: OpenWork[T], cluster: RayCluster, progress: Progress) -> Iterator[T]:
    """Process each scope in an actor and yield the results as they come. A free actor takes the next scope.

    `progress` is called in this process with the reports of the actors. The first error is raised and ends every actor;
    a running step is rolled back, and the same call goes on from there.

    Raises:
        SettingsError: Ray is not installed, or no cluster answers at the address.
        StageError: an actor's process ended, or cannot be placed.
    """
    with connected(cluster) as ray:
        from ray.util.queue import Queue

        steps = Queue(actor_options={"num_cpus": 0})
        make = ray.remote(num_cpus=cluster.threads)(_Worker)
        workers = [make.remote(open_work, steps) for _ in range(min(cluster.workers, len(scopes)))]
        try:
            yield from _spread(ray, workers, deque(scopes), lambda: _report(steps, progress))
        finally:
            for worker in workers:
                ray.kill(worker)
            steps.shutdown()


class _Worker(Generic[T]):
    """An actor. It opens its models and connection for its first bucket and keeps them until its process ends."""

    def __init__(self, open_work: OpenWork[T], steps: Any) -> None:
        self._open_work = open_work
        self._steps = steps

    @cached_property
    def _work(self) -> Callable[[Scope, Progress], Iterator[T]]:
        # not in the constructor: an error there reaches the driver as the death of the actor, without the error
        return self._open_work()

    def work(self, scope: Scope) -> Iterator[T]:
        # not `yield from`: Ray sends values into the generator, and other iterators do not accept any
        for item in self._work(scope, lambda stage, number: self._steps.put((stage, number))):  # noqa: UP028
            yield item


def _spread(ray: Any, workers: list[Any], waiting: deque[Scope], report: Callable[[], None]) -> Iterator[Any]:
    under_way = {_begin(worker, waiting.popleft()): worker for worker in workers}
    while under_way:
        ready, _ = ray.wait(list(under_way), timeout=_WAKE_SECONDS)
        check_interruption()
        report()
        for stream in ready:
            try:
                item = ray.get(next(stream))
            except StopIteration:
                worker = under_way.pop(stream)
                if waiting:
                    under_way[_begin(worker, waiting.popleft())] = worker
                continue
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None  # the actor's own error, as a thread would raise it
            except ray.exceptions.RayError as error:
                raise StageError(_ENDED) from error
            yield item
    report()


_ENDED = "A Ray worker ended before its bucket was done. Run the command again: it goes on where it stopped."


def _begin(worker: Any, scope: Scope) -> Any:
    return worker.work.options(num_returns="streaming").remote(scope)


def _report(steps: Any, progress: Progress) -> None:
    for stage, number in steps.get_nowait_batch(steps.qsize()):
        progress(stage, number)


def _load_ray() -> Any:
    # read when Ray is imported: without it, Ray reports usage statistics to its makers
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # suppresses warnings about a future default on machines without an accelerator
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    return load_extra("ray", extra="ray", needed_by="REVERIE_EXECUTOR=ray")


@contextmanager
def connected(cluster: RayCluster) -> Iterator[Any]:
    """Join the cluster, or start one on this machine; yield Ray's module, then leave or end the cluster.

    A process that has already joined a cluster stays in it. Raises SettingsError as `on_ray` does.
    """
    ray = _load_ray()
    if ray.is_initialized():
        yield ray
        return
    arguments = _arguments(cluster)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        ray.init(**arguments, log_to_driver=False, logging_level="error", configure_logging=False)
    except Exception as error:  # Ray raises a bare Exception if a node starts too slowly
        raise SettingsError(
            f"Ray cannot be used ({type(error).__name__}): check RAY_ADDRESS, or unset REVERIE_EXECUTOR."
        ) from error
    if current_thread() is main_thread():
        for number, handler in handlers.items():  # Ray would end the process at once
            signal.signal(number, handler)
    try:
        yield ray
    finally:
        ray.shutdown()


def _arguments(cluster: RayCluster) -> dict[str, Any]:
    if cluster.address is None:
        return {
            "address": "local",
            "num_cpus": cluster.workers * cluster.threads,
            "object_store_memory": _SHARED_BYTES,
            "include_dashboard": False,
            "_node_ip_address": "127.0.0.1",  # nothing listens for other machines
        }
    host, _, port = cluster.address.rpartition(":")
    if cluster.address != "auto":
        try:
            # Ray itself would retry for minutes
            create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()
        except (OSError, ValueError):
            raise SettingsError(
                f"No Ray cluster answers at {cluster.address}: RAY_ADDRESS is host:port of its head, or auto."
            ) from None
    return {"address": cluster.address}
