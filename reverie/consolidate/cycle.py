"""Cycles: the stages in the order and at the logical times at which a live system would have run them.

A history is read and embedded in bulk; then state is worked in cycle by cycle, skipping the cycles in which nothing can
change. Decay needs no cycle of its own: it follows from peak and accessed_at whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from reverie.consolidate.compress import compress
from reverie.consolidate.decay import decay
from reverie.consolidate.embed import embed
from reverie.consolidate.extract import extract
from reverie.consolidate.link import link
from reverie.consolidate.merge import merge
from reverie.consolidate.prune import prune
from reverie.consolidate.score import score
from reverie.inference import Embedder
from reverie.model import Scope, require_aware
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report

#: The stages in order, for reports and pictures.
STAGES = ("extract", "embed", "merge", "link", "score", "decay", "compress", "prune")

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

#: Told of each finished stage run, or of `number` items that a long stage has done.
OnReport = Callable[[Report], None]
OnProgress = Callable[[str, int], None]


def ingest(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder,
    driver: str = "reverie",
    on_progress: OnProgress | None = None,
) -> Iterator[Report]:
    """Extract and embed everything said up to `as_of`, in bulk; yields the two reports."""
    common: dict[str, Any] = {"scope": scope, "policy": policy, "as_of": as_of, "driver": driver}
    told = on_progress or (lambda stage, number: None)
    yield extract(store, **common, count_tokens=embedder.count_tokens, on_progress=lambda done: told("extract", done))
    embedded = embed(store, **common, embedder=embedder, on_progress=lambda done: told("embed", done))
    yield embedded
    if embedded["turns"]:
        with store.transaction(scope.tenant_id) as conn:
            conn.execute(queries("cycle")["analyze_tables"])


def catch_up(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    until: datetime,
    embedder: Embedder,
    driver: str = "reverie",
    on_progress: OnProgress | None = None,
) -> Iterator[Report]:
    """Bring memory from wherever it is to `until`, cycle by cycle in event time; yields each stage's report.

    Cycles lie at multiples of the policy's period since midnight UTC. What was said after the last whole cycle is
    merged, linked and scored as the deferred tier would have done it; compressing and pruning wait for their cycle.
    """
    until = require_aware(until, "until")
    common: dict[str, Any] = {"scope": scope, "policy": policy, "driver": driver}
    told = on_progress or (lambda stage, number: None)
    last = floor_cycle(until, policy.cycle.period)
    pending = [at for at in _pending(store, scope, policy, until) if at <= last]
    told("cycles", 0)
    while (at := _next(store, scope, policy, pending)) is not None and at <= last:
        if pending and pending[0] == at:
            pending.pop(0)
            yield from work_in(store, as_of=at, embedder=embedder, **common)
            compressed = compress(store, as_of=at, model=embedder.model, **common)
            yield compressed
            if any(compressed[name] for name in ("patterns", "summaries")):
                yield embed(store, as_of=at, embedder=embedder, items=("memory",), **common)
        yield prune(store, as_of=at, **common)
        told("cycles", 1)
    if until > last:
        yield from work_in(store, as_of=until, embedder=embedder, **common)
    yield decay(store, as_of=until, **common)


def work_in(store: Store, *, as_of: datetime, embedder: Embedder, **common: Any) -> Iterator[Report]:
    """Merge, link and score what is new at `as_of`: the work of the deferred tier."""
    yield merge(store, as_of=as_of, model=embedder.model, **common)
    yield link(store, as_of=as_of, **common)
    yield score(store, as_of=as_of, model=embedder.model, **common)


def floor_cycle(at: datetime, period: timedelta) -> datetime:
    """Return the last cycle at or before `at`."""
    return at - (at - _EPOCH) % period


def ceil_cycle(at: datetime, period: timedelta) -> datetime:
    """Return the first cycle at or after `at`."""
    return at + (_EPOCH - at) % period


def _pending(store: Store, scope: Scope, policy: Policy, until: datetime) -> list[datetime]:
    params = scope.params() | {"until": until, "period": policy.cycle.period}
    with store.transaction(scope.tenant_id) as conn:
        return [row[0] for row in conn.execute(queries("cycle")["pending_cycles"], params)]


def _next(store: Store, scope: Scope, policy: Policy, pending: list[datetime]) -> datetime | None:
    """The next cycle at which something can change: new things to work in, or something to forget."""
    with store.transaction(scope.tenant_id) as conn:
        found = conn.execute(queries("cycle")["next_to_forget"], scope.params()).fetchone()
    due = pending[:1]
    if found:
        # forgotten once forget_at is past, so a memory due exactly at a cycle goes at the next one
        due.append(ceil_cycle(found[0] + timedelta(microseconds=1), policy.cycle.period))
    return min(due, default=None)
