"""Cycles: the stages in the order and at the logical times at which a live system would have run them.

A history is extracted and embedded in bulk. Then it is consolidated cycle by cycle, without the cycles in which nothing
can change. Two things need no cycle of their own: importance follows from peak and accessed_at at any time, and each
memory stores when it is due to be forgotten, so one prune makes up for all the cycles since the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from reverie.consolidate.compress.stage import compress, compress_running
from reverie.consolidate.correct.read import correction_times
from reverie.consolidate.correct.stage import correct
from reverie.consolidate.decay.stage import decay
from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.stage import extract
from reverie.consolidate.facts.stage import facts
from reverie.consolidate.isolate import by_subject
from reverie.consolidate.link.stage import link
from reverie.consolidate.merge.stage import merge
from reverie.consolidate.prune.stage import prune
from reverie.consolidate.score.stage import score
from reverie.consolidate.signal.stage import signal
from reverie.consolidate.stages import BY_NAME
from reverie.consolidate.synthesize.stage import lag, synthesize
from reverie.drive.expire import expire
from reverie.drive.retract import settle_retractions
from reverie.errors import UnansweredError
from reverie.model import Kind, Scope
from reverie.store.clock import tenant_time
from reverie.store.queries import queries
from reverie.store.runs import Report
from reverie.store.work import Work

#: Stages whose failure on a subject leaves it out of ingest, and out of everything that follows.
INGEST = ("extract", "embed", "signal")
AFTER_INGEST = (*BY_NAME, "unknown")

#: A part of a cycle, run at the logical time and in the scope of its work.
Part = Callable[[Work], Iterator[Report]]

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
#: Number of subjects up to which a cycle is limited to the subjects that it concerns; the ledger names them.
_FEW_SUBJECTS = 100


def ingest(work: Work) -> Iterator[Report]:
    """Extract, embed and make the signals of everything said up to `as_of`, in bulk; yield the reports.

    First, turns past their subject's retention are erased, and subjects with a correction that was taken back are
    emptied, so that they are extracted again.

    Raises:
        UnansweredError: the language model answered about no turn; the candidates of the rules are kept and embedded.
    """
    unanswered: UnansweredError | None = None
    yield from expire(work)
    yield from settle_retractions(work)

    def read_and_embed(part: Scope) -> Iterator[Report]:
        nonlocal unanswered
        try:
            extracted = extract(replace(work, scope=part))
        except UnansweredError as error:
            unanswered = error
        else:
            yield extracted
        yield embed(replace(work, scope=part))
        yield from tell_signals(replace(work, scope=part))

    embedded: int | float = 0
    for report in by_subject(work.store, work.scope, INGEST, read_and_embed):
        yield report
        embedded += report["turns"] if report.stage == "embed" else 0
    if embedded:
        analyze(work)
    if unanswered is not None:
        raise unanswered


def tell_signals(work: Work) -> Iterator[Report]:
    """Make the signals of embedded turns, and embed the memories that follow from them."""
    signalled = signal(work)
    yield signalled
    if signalled["memories"]:
        yield embed(work, items=("memory",))


def analyze(work: Work) -> None:
    """Update the planner's statistics, for the stages that follow a bulk load."""
    with work.transaction() as conn:
        conn.execute(queries("cycle")["analyze_tables"])


def catch_up(work: Work) -> Iterator[Report]:
    """Bring memory from its present state to `as_of`, cycle by cycle in event time; yield each stage's report.

    Cycles are at multiples of the policy's period since midnight UTC. Turns after the last whole cycle are merged,
    linked and, in running sessions, compressed, as the deferred tier would have done it; whole sessions, themes,
    scoring and pruning wait for their cycle. A language model words a range of turns whenever it is due, since the
    range is the same at any time, and everything else only at cycles; without a model, rules do this. A tenant with a
    fixed clock is brought to that time and no further.
    """
    work = replace(work, as_of=tenant_time(work.store, work.tenant_id, work.as_of))
    work.progress("cycles", 0)

    def run_cycles(part: Scope) -> Iterator[Report]:
        return _run_cycles(replace(work, scope=part))

    yield from by_subject(work.store, work.scope, AFTER_INGEST, run_cycles)


def _run_cycles(work: Work) -> Iterator[Report]:
    period = work.policy.cycle.period
    last = floor_cycle(work.as_of, period)
    for at, scope in pending_cycles(work, last):
        yield from run_cycle(work, at, scope)
    yield prune(replace(work, as_of=last))
    yield from work_in_since(work, last)
    yield decay(work)


def run_cycle(work: Work, at: datetime, scope: Scope) -> Iterator[Report]:
    """Run one cycle on the part of the work's scope that it concerns; memories due before it are forgotten first."""
    yield prune(replace(work, as_of=at - work.policy.cycle.period))
    for part in PARTS.values():
        yield from part(replace(work, scope=scope, as_of=at))
    work.progress("cycles", 1)


def work_in_since(work: Work, last: datetime) -> Iterator[Report]:
    """Consolidate turns after the `last` whole cycle, as the deferred tier would have done it."""
    if work.as_of > last:
        yield from work_in(work)
        yield from _shorten_running(work)
        if work.language_model is None:
            yield synthesize(work)


def work_in(work: Work) -> Iterator[Report]:
    """Merge and link new memories at `as_of` and decide their facts: the work of the deferred tier.

    Corrections are applied first, each at its own time: after everything known by then, before everything later.
    """
    yield from _work_in_corrections(work)
    yield from _merge_new(work)


def _work_in_corrections(work: Work) -> Iterator[Report]:
    for at in correction_times(work):
        then = replace(work, as_of=at)
        yield from _merge_new(then)
        yield from _shorten_running(then)
        corrected = correct(then)
        yield corrected
        if corrected["replaced"]:
            yield embed(then, items=("memory",))


def _shorten_running(work: Work) -> Iterator[Report]:
    """Compress the oldest turns of running sessions; a range depends only on its turns, not on when this runs."""
    if work.policy.compress.running_turns:
        compressed = compress_running(work)
        yield compressed
        if compressed["ranges"]:
            yield _embed_made(work)


def _embed_made(work: Work) -> Report:
    made: tuple[Kind, ...] = ("pattern", "summary")
    return embed(work, items=("memory",), kinds=made)


def _merge_new(work: Work, *, undecided: bool = False) -> Iterator[Report]:
    yield merge(work)
    yield link(work)
    yield from _facts(work, undecided=undecided)


def _merge(work: Work) -> Iterator[Report]:
    yield merge(work)


def _link(work: Work) -> Iterator[Report]:
    yield link(work)


def _facts(work: Work, *, undecided: bool = False) -> Iterator[Report]:
    settled = facts(_asking(work), undecided=undecided)
    yield settled
    if settled["rests"]:  # these, the remainders of statements that ended in part, are the only new memories
        yield embed(work, items=("memory",))
        yield from _merge_new(work, undecided=True)


def _synthesize(work: Work) -> Iterator[Report]:
    synthesized = synthesize(_asking(work))
    yield synthesized
    if synthesized["facts"]:
        new_facts: tuple[Kind, ...] = ("fact",)
        yield embed(work, items=("memory",), kinds=new_facts)
        yield from _merge_new(work)


def _compress(work: Work) -> Iterator[Report]:
    compressed = compress(_asking(work))
    yield compressed
    if any(compressed[made] for made in ("patterns", "summaries", "ranges", "folds")):
        yield _embed_made(work)


def _score(work: Work) -> Iterator[Report]:
    yield score(work)


def _asking(work: Work) -> Work:
    """Return the work, with progress during calls of a model reported as that of cycles."""
    return replace(work, progress=lambda _stage, _number: work.progress("cycles", 0))


#: The parts of a cycle, in order, each by the name of its stage. Score is last because it marks memories as done, so
#: that a cycle that was killed stays pending.
PARTS: dict[str, Part] = {
    "correct": _work_in_corrections,
    "merge": _merge,
    "link": _link,
    "facts": _facts,
    "synthesize": _synthesize,
    "compress": _compress,
    "score": _score,
}


def floor_cycle(at: datetime, period: timedelta) -> datetime:
    """Return the last cycle at or before `at`."""
    return at - (at - _EPOCH) % period


def pending_cycles(work: Work, until: datetime) -> Iterator[tuple[datetime, Scope]]:
    """Yield the cycles up to `until` that have something to process, each with the scope that it concerns."""
    policy, asks = work.policy, work.language_model is not None
    params = work.scope.params() | {
        "until": until,
        "period": policy.cycle.period,
        "session_threshold": policy.compress.session_threshold,
        "running": policy.compress.running_turns,
        "range_turns": policy.compress.range_turns,
        "most": _FEW_SUBJECTS,
        "asks": asks,
        "asks_ends": asks and policy.structured_facts.near > 0,
        "lag": lag(policy) if asks else timedelta(),
        "from_memories": policy.profile.from_memories and asks,
    }
    with work.transaction() as conn:
        cycles = conn.execute(queries("cycle")["pending_cycles"], params).fetchall()
    for at, subjects, number in cycles:
        few = number <= _FEW_SUBJECTS
        yield at, replace(work.scope, subjects=tuple(subjects)) if few else work.scope
