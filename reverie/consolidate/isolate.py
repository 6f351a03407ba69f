"""isolate: an item that fails unexpectedly is set aside, and the rest of the work goes on (docs/decisions/0026).

An unexpected error is one that no rule of a stage provides for: a bug that one record brings to light. Reverie's own
errors and those of the database and the machine say nothing about a record, so they are raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import psycopg

from reverie.errors import ReverieError, StageError
from reverie.model import SHARDS, Scope
from reverie.store.database import Store
from reverie.store.failures import ItemFailure, failed_subjects, record_failures, subjects_with_shards
from reverie.store.runs import Report, failed_stage

T = TypeVar("T")
R = TypeVar("R")

#: Number of failures without a success from which the items are not to blame.
_SYSTEMIC = 10

Failed = list[tuple[T, Exception]]


def is_unexpected(error: Exception) -> bool:
    """Return whether an error may be the fault of the item that was processed."""
    if isinstance(error, psycopg.Error):
        return isinstance(error, (psycopg.DataError, psycopg.IntegrityError))
    return not isinstance(error, (ReverieError, OSError, MemoryError))


def apart(items: Sequence[T], decide: Callable[[list[T]], R]) -> tuple[R, Failed[T]]:
    """Return a pure function's decision on the items that it can process, and the items on which it fails.

    Raises:
        StageError: the function fails on all of many items, so the items are not to blame.
        Exception: the function's own, if it fails on no item alone or its error is not an unexpected one.
    """
    try:
        return decide(list(items)), []
    except Exception as error:
        if not is_unexpected(error):
            raise
        failed: dict[int, Exception] = {}
        succeeded = _bisect(items, range(len(items)), decide, failed, error)
        if not failed:
            raise
        if not succeeded and len(failed) >= _SYSTEMIC:
            raise StageError(f"The stage fails on every item, with {type(error).__name__}.") from None
    left = [item for place, item in enumerate(items) if place not in failed]
    return decide(left), [(items[place], error) for place, error in failed.items()]


def _bisect(
    items: Sequence[T],
    places: range,
    decide: Callable[[list[T]], R],
    failed: dict[int, Exception],
    error: Exception,
    succeeded: bool = False,
) -> bool:
    """Find the places of a failing range whose items fail alone; return whether any part succeeded."""
    if len(places) == 1:
        failed[places[0]] = error
        return succeeded
    for half in (places[: len(places) // 2], places[len(places) // 2 :]):
        if not succeeded and len(failed) >= _SYSTEMIC:
            return False
        try:
            decide([items[place] for place in half])
            succeeded = True
        except Exception as reason:
            if not is_unexpected(reason):
                raise
            succeeded = _bisect(items, half, decide, failed, reason, succeeded)
    return succeeded


def by_subject(
    store: Store, scope: Scope, stages: Sequence[str], work: Callable[[Scope], Iterator[Report]]
) -> Iterator[Report]:
    """Do idempotent work on a scope without the subjects that its stages have set aside; yield its reports.

    If the work fails unexpectedly, the scope is halved until the failing subjects are found. Each becomes a dead letter
    and is left out until it is redriven; it then goes on where it stopped.

    Raises:
        StageError: the work fails on all of several subjects, so the subjects are not to blame.
        Exception: the work's own, if it is not an unexpected one.
    """
    with store.transaction(scope.tenant_id) as conn:
        aside = failed_subjects(conn, scope, stages)
    halving = _Halving(store, scope.tenant_id, work)
    for part in _without(store, scope, aside):
        yield from halving.work(part)
    halving.write()


class _Halving:
    """The search for the failing subjects of one scope."""

    def __init__(self, store: Store, tenant_id: str, work: Callable[[Scope], Iterator[Report]]) -> None:
        self._store, self._tenant_id, self._work = store, tenant_id, work
        self._failed: list[tuple[str, ItemFailure]] = []
        self._succeeded = False

    def work(self, scope: Scope) -> Iterator[Report]:
        try:
            yield from self._work(scope)
            self._succeeded = True
            return
        except Exception as error:
            subjects = _subjects(self._store, scope) if is_unexpected(error) else []
            if not subjects:
                raise
            if not self._succeeded and len(self._failed) >= _SYSTEMIC:
                return
            if len(subjects) == 1:
                failure = ItemFailure(subject_id=subjects[0][0], item=None, error=type(error).__name__)
                self._failed.append((failed_stage(error), failure))
                return
        for half in _halves(scope, subjects):
            yield from self.work(half)

    def write(self) -> None:
        """Set the failing subjects aside."""
        if not self._succeeded and len(self._failed) > 1:
            stage, failure = self._failed[0]
            raise StageError(f"The stage {stage} fails on every subject, with {failure.error}.")
        if self._failed:
            with self._store.transaction(self._tenant_id) as conn:
                for stage, failure in self._failed:
                    record_failures(conn, self._tenant_id, stage, [failure])


def _subjects(store: Store, scope: Scope) -> list[tuple[str, int]]:
    """Return the subjects of a scope with their shards, in the order of the shards."""
    with store.transaction(scope.tenant_id) as conn:
        return subjects_with_shards(conn, scope)


def _halves(scope: Scope, subjects: Sequence[tuple[str, int]]) -> tuple[Scope, Scope]:
    """Return two scopes with half of the subjects each, divided at a shard if possible, otherwise by name."""
    middle = len(subjects) // 2
    shard = subjects[middle][1]
    if scope.subjects is None and subjects[middle - 1][1] < shard:
        return replace(scope, shard_to=shard), replace(scope, shard_from=shard)
    names = [name for name, _ in subjects]
    return replace(scope, subjects=tuple(names[:middle])), replace(scope, subjects=tuple(names[middle:]))


def _without(store: Store, scope: Scope, aside: dict[str, int]) -> Iterator[Scope]:
    """Yield the scope without some subjects: the shards between theirs, and the rest of their shards by name."""
    if not aside:
        yield scope
        return
    if scope.subjects is not None:
        if left := tuple(name for name in scope.subjects if name not in aside):
            yield replace(scope, subjects=left)
        return
    start = scope.shard_from
    for shard in sorted({*aside.values(), SHARDS}):
        if start < (end := min(shard, scope.shard_to)):
            yield replace(scope, shard_from=start, shard_to=end)
        if shard < scope.shard_to:
            of_shard = replace(scope, shard_from=shard, shard_to=shard + 1)
            if left := tuple(name for name, _ in _subjects(store, of_shard) if name not in aside):
                yield replace(of_shard, subjects=left)
        start = shard + 1
