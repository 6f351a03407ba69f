"""compress: episodes become patterns, sessions summaries (spec B6, C2, C3; Brain 4.4, Chat flow 1, Logic 3).

What is replaced stays, in state `compressed` and with its lineage, but leaves the context. A pattern or summary is as
old as the last thing it was made from, not as the run that made it, and fades from there: a late run, a skipped cycle
or a backfill gives the same memory as a live system, and compressing makes nothing younger than it is.

`compress_themes` makes patterns, `compress_sessions` summaries, `compress_write` writes both; a model's words come from
`retell_themes` and `retell`.
"""

from __future__ import annotations

from uuid import UUID

from reverie.consolidate.compress.patterns import compress_themes
from reverie.consolidate.compress.sessions import compress_running, compress_sessions
from reverie.consolidate.compress.write import Params
from reverie.store.runs import Report, run
from reverie.store.work import Work


def compress(work: Work) -> Report:
    """Make patterns and summaries; counts `patterns`, `summaries` of sessions and of `ranges` of a running one's turns,
    patterns and ranges `replaced`, and `episodes` compressed.

    `model` names the vectors that closeness to a theme is measured with. New memories have none yet: embed follows.
    With a `language_model`, both are in its words where these stand on what was said, else the rules'; the counts of
    `ask` come with them, and `retold`. A dry run asks no model. `pulse` is called now and then while a model is asked.

    Raises:
        UnansweredError, InferenceError: the model cannot be used at all; what was done before stands.
    """
    store, policy = work.store, work.policy
    with run(work, "compress") as attempt:
        for name in ("patterns", "replaced", "summaries", "ranges", "episodes"):
            attempt.report.add(name, 0)
        asked = None if work.dry_run else work.language_model
        if asked is not None:
            attempt.report.add("retold", 0)
        params: Params = attempt.params() | {
            "model": work.embedder.model,
            "least": policy.compress.pattern_episodes,
            "threshold": policy.compress.session_threshold,
            "running": policy.compress.running_turns,
            "half": max(policy.compress.session_threshold // 2, 1),
        }
        taken: set[UUID] = set()
        told: set[tuple[str, str]] = set()
        if policy.compress.pattern_episodes:
            taken = compress_themes(store, attempt, policy, params, asked)
        if policy.compress.session_threshold:
            # in a dry run no state says which episodes the patterns took, nor which sessions are told
            told = compress_sessions(store, attempt, policy, params, taken, asked)
        if policy.compress.running_turns:
            compress_running(store, attempt, policy, params, told, asked)
        with work.transaction() as conn:
            attempt.record(conn)
    return attempt.report
