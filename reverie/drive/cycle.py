"""Cycles: the stages in the order and at the logical times at which a live system would have run them.

A history is read and embedded in bulk; then state is worked in cycle by cycle, skipping the cycles in which nothing can
change. Two things need no cycle of their own: importance follows from peak and accessed_at whenever it is asked for,
and each memory knows when it is forgotten, so that a prune makes up for all the cycles since the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from reverie.consolidate.compress.stage import compress
from reverie.consolidate.correct.stage import correct, correction_times
from reverie.consolidate.decay.stage import decay
from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.stage import extract
from reverie.consolidate.facts.stage import structure
from reverie.consolidate.isolate import by_subject
from reverie.consolidate.link.stage import link
from reverie.consolidate.merge.stage import merge
from reverie.consolidate.prune.stage import prune
from reverie.consolidate.score.stage import score
from reverie.consolidate.synthesize.stage import lag, synthesize
from reverie.errors import UnansweredError
from reverie.inference import Embedder
from reverie.inference.completions import LanguageModel
from reverie.model import Kind, Scope, require_aware
from reverie.policy import Policy
from reverie.store.clock import tenant_time
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report

#: The stages in order, for reports and pictures.
STAGES = ("extract", "embed", "merge", "link", "structure", "synthesize", "compress", "score", "prune", "decay")

#: A subject that one of these fails on is left out of them; of all others, where another stage fails on it.
INGEST = ("extract", "embed")
AFTER_INGEST = (*STAGES, "correct", "unknown")

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
#: A cycle that concerns no more subjects than these is limited to them; the ledger names them.
_FEW_SUBJECTS = 100

#: Told of `number` more items that a long stage has done.
OnProgress = Callable[[str, int], None]


def ingest(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    embedder: Embedder,
    language_model: LanguageModel | None = None,
    driver: str = "reverie",
    on_progress: OnProgress | None = None,
) -> Iterator[Report]:
    """Extract and embed everything said up to `as_of`, in bulk; yields the two reports.

    A `language_model` reads turns beside the rules.

    Raises:
        UnansweredError: it answered about no turn; what the rules found is there, and embedded.
    """
    common: dict[str, Any] = {"scope": scope, "policy": policy, "as_of": as_of, "driver": driver}
    told = on_progress or (lambda stage, number: None)
    reading: dict[str, Any] = {"count_tokens": embedder.count_tokens, "language_model": language_model}
    away: UnansweredError | None = None

    def read_and_embed(part: Scope) -> Iterator[Report]:
        nonlocal away
        common["scope"] = part
        try:
            read = extract(store, **common, **reading, on_progress=lambda done: told("extract", done))
        except UnansweredError as error:
            away = error
        else:
            yield read
        yield embed(store, **common, embedder=embedder, on_progress=lambda done: told("embed", done))

    embedded: int | float = 0
    for report in by_subject(store, scope, INGEST, read_and_embed):
        yield report
        embedded += report["turns"] if report.stage == "embed" else 0
    if embedded:
        with store.transaction(scope.tenant_id) as conn:
            conn.execute(queries("cycle")["analyze_tables"])
    if away is not None:
        raise away


def catch_up(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    until: datetime,
    embedder: Embedder,
    language_model: LanguageModel | None = None,
    driver: str = "reverie",
    on_progress: OnProgress | None = None,
) -> Iterator[Report]:
    """Bring memory from wherever it is to `until`, cycle by cycle in event time; yields each stage's report.

    Cycles lie at multiples of the policy's period since midnight UTC. What was said after the last whole cycle is
    merged and linked, as the deferred tier would have done it; compressing, scoring and pruning wait for their cycle.
    A `language_model` words what it can, at cycles alone, since what it says depends on what it is told at a time;
    without one, rules do. A tenant whose clock was stopped is brought to that time and no further.
    """
    until = tenant_time(store, scope.tenant_id, require_aware(until, "until"))
    told = on_progress or (lambda stage, number: None)
    told("cycles", 0)

    def work(part: Scope) -> Iterator[Report]:
        return _catch_up(store, part, policy, until, embedder, language_model, driver, told)

    yield from by_subject(store, scope, AFTER_INGEST, work)


def _catch_up(
    store: Store,
    scope: Scope,
    policy: Policy,
    until: datetime,
    embedder: Embedder,
    language_model: LanguageModel | None,
    driver: str,
    told: OnProgress,
) -> Iterator[Report]:
    period = policy.cycle.period
    last = floor_cycle(until, period)
    common: dict[str, Any] = {"policy": policy, "driver": driver}
    for at, limited in _pending(store, scope, policy, last, language_model):
        yield prune(store, scope=scope, as_of=at - period, **common)
        asking: dict[str, Any] = {"language_model": language_model, "pulse": lambda: told("cycles", 0)}
        yield from _cycle(store, limited, at, embedder, asking, common)
        told("cycles", 1)
    yield prune(store, scope=scope, as_of=last, **common)
    if until > last:
        yield from work_in(store, scope=scope, as_of=until, embedder=embedder, **common)
        if language_model is None:
            yield synthesize(store, scope=scope, as_of=until, **common)
    yield decay(store, scope=scope, as_of=until, **common)


def work_in(store: Store, *, scope: Scope, as_of: datetime, embedder: Embedder, **common: Any) -> Iterator[Report]:
    """Merge, link and key what is new at `as_of`: the work of the deferred tier.

    What a person corrected is worked in first, each at its time: after what was known by then, before what came later.
    """
    for at in correction_times(store, scope=scope, as_of=as_of):
        yield from _new(store, scope=scope, as_of=at, embedder=embedder, **common)
        corrected = correct(store, scope=scope, as_of=at, **common)
        yield corrected
        if corrected["replaced"]:
            yield embed(store, scope=scope, as_of=at, embedder=embedder, items=("memory",), **common)
    yield from _new(store, scope=scope, as_of=as_of, embedder=embedder, **common)


def _new(store: Store, *, scope: Scope, as_of: datetime, embedder: Embedder, **common: Any) -> Iterator[Report]:
    yield merge(store, scope=scope, as_of=as_of, model=embedder.model, **common)
    yield link(store, scope=scope, as_of=as_of, **common)
    yield structure(store, scope=scope, as_of=as_of, **common)


def _cycle(
    store: Store,
    scope: Scope,
    at: datetime,
    embedder: Embedder,
    asking: dict[str, Any],
    common: dict[str, Any],
) -> Iterator[Report]:
    """Work in what happened up to `at`. Score is last: it marks what is done, and a killed cycle stays pending."""
    yield from work_in(store, scope=scope, as_of=at, embedder=embedder, **common)
    synthesized = synthesize(store, scope=scope, as_of=at, **asking, **common)
    yield synthesized
    if synthesized["facts"]:
        facts: tuple[Kind, ...] = ("fact",)
        yield embed(store, scope=scope, as_of=at, embedder=embedder, items=("memory",), kinds=facts, **common)
        yield from _new(store, scope=scope, as_of=at, embedder=embedder, **common)
    compressed = compress(store, scope=scope, as_of=at, model=embedder.model, **asking, **common)
    yield compressed
    if compressed["patterns"] or compressed["summaries"] or compressed["ranges"]:
        new: tuple[Kind, ...] = ("pattern", "summary")
        yield embed(store, scope=scope, as_of=at, embedder=embedder, items=("memory",), kinds=new, **common)
    yield score(store, scope=scope, as_of=at, model=embedder.model, **common)


def floor_cycle(at: datetime, period: timedelta) -> datetime:
    """Return the last cycle at or before `at`."""
    return at - (at - _EPOCH) % period


def _pending(
    store: Store, scope: Scope, policy: Policy, until: datetime, language_model: LanguageModel | None
) -> Iterator[tuple[datetime, Scope]]:
    """The cycles up to `until` at which something is to be worked in, each with the scope of what it concerns."""
    params = scope.params() | {
        "until": until,
        "period": policy.cycle.period,
        "session_threshold": policy.compress.session_threshold,
        "running": policy.compress.running_turns,
        "range_turns": policy.compress.range_turns,
        "most": _FEW_SUBJECTS,
        "asks": language_model is not None,
        "lag": lag(policy) if language_model else timedelta(),
        "from_memories": policy.profile.from_memories and language_model is not None,
    }
    with store.transaction(scope.tenant_id) as conn:
        cycles = conn.execute(queries("cycle")["pending_cycles"], params).fetchall()
    for at, subjects, number in cycles:
        yield at, replace(scope, subjects=tuple(subjects)) if number <= _FEW_SUBJECTS else scope
