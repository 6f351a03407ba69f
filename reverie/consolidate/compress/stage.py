"""compress: episodes become patterns, sessions become summaries, and memories beyond the budget are forgotten.

Replaced memories stay, in state `compressed` and with their lineage, but leave the context. A pattern or summary takes
the event time of its latest source, not the time of its run, and fades from there. So a late run, a skipped cycle or a
backfill gives the same memory as a live system, and compressing makes nothing younger than it is.
Source: docs/design-sources.md, Brain 4.4 and Logic 3.
"""

from __future__ import annotations

from uuid import UUID

from reverie.consolidate.compress.budget import keep_within_budget
from reverie.consolidate.compress.folds import fold_summaries
from reverie.consolidate.compress.patterns import compress_themes
from reverie.consolidate.compress.sessions import compress_long_sessions, compress_old_sessions
from reverie.store.runs import Report, run
from reverie.store.work import Work


def compress(work: Work) -> Report:
    """Make patterns and summaries, and keep within the budget.

    Counts `patterns`, `summaries` of sessions, summaries of `ranges` of a running session's turns, `folds` of summaries
    by week, month and year, patterns and summaries `replaced`, `episodes` compressed, and memories `forgotten` because
    they are beyond the budget; discards parts of sessions that are not worth a summary.

    The vectors of the embedder's model measure how close an episode is to a theme. New memories have no vectors yet;
    embed must follow. With a language model, accepted texts are in its words, the others in the rules'; the report then
    has the counts of `ask`, and `retold`. A dry run asks no model.

    Raises:
        UnansweredError, InferenceError: the model cannot be used at all; earlier work is kept.
    """
    return _compress(work, running_alone=False)


def compress_running(work: Work) -> Report:
    """Make only the summaries of `ranges` of running sessions: the part of `compress` that runs between cycles."""
    return _compress(work, running_alone=True)


def _compress(work: Work, *, running_alone: bool) -> Report:
    numbers = work.policy.compress
    with run(work, "compress") as attempt:
        for name in ("patterns", "replaced", "summaries", "ranges", "folds", "episodes", "forgotten"):
            attempt.report.add(name, 0)
        model = None if work.dry_run else work.language_model
        if model is not None:
            attempt.report.add("retold", 0)
        # ranges come first, as if each had been made when it was due, whether or not anything ran between two cycles
        if numbers.running_turns:
            compress_long_sessions(attempt, model)
        # kept here because a dry run writes no state for the episodes that joined a pattern
        taken: set[UUID] = set()
        if numbers.pattern_episodes and not running_alone:
            taken = compress_themes(attempt, model)
        if numbers.session_threshold and not running_alone:
            compress_old_sessions(attempt, taken, model)
        if numbers.fold_summaries and not running_alone:
            fold_summaries(attempt)
        if work.policy.prune.budget and not running_alone:
            keep_within_budget(attempt)
        attempt.settle()
    return attempt.report
