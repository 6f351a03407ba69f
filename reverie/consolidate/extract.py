"""extract: what rules and a language model find in turns becomes candidates for memory (spec A3, A8, B5; Chat flow 2).

Every turn and event leaves a row that says how many candidates it gave, or why none, and whether a model has read it.
The rules' candidates are written first (Brain 4.2, Contact 3.1, Logic 1) and wait for no model (`reread`).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

import polars as pl
from psycopg import Connection

from reverie.consolidate.candidates import BY_RULE, Columns, decide
from reverie.consolidate.observe import TYPES, Event, decide_events
from reverie.consolidate.reread import reread
from reverie.cues.noticed import compiled
from reverie.errors import UnansweredError
from reverie.inference.completions import LanguageModel
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run

#: Turns read, decided and written at a time.
_CHUNK = 10_000
#: Events, which may be documents.
_CHUNK_EVENTS = 200
_FIRST = UUID(int=0)

#: What `decide` reads of turns.
TURNS = pl.Schema(
    {
        "id": pl.String(),
        "subject_id": pl.String(),
        "session_id": pl.String(),
        "role": pl.String(),
        "speaker": pl.String(),
        "said_at": pl.Datetime("us", "UTC"),
        "text": pl.String(),
        "tool_calls": pl.String(),
    }
)


def extract(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    count_tokens: Callable[[str], int],
    language_model: LanguageModel | None = None,
    driver: str = "reverie",
    dry_run: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Report:
    """Read turns and events that no run has read and write candidates.

    Counts `turns`, `events` where there are some, `candidates`, each kind, each discard. `count_tokens` measures chunks
    of long turns and documents; `on_progress` hears how many turns each chunk finished. A `language_model` reads the
    turns too, and those that wait for it since an earlier run; what `reread` counts comes with it. Turns that were read
    without one stay as they are. A dry run asks no model.

    Raises:
        UnansweredError: nobody answered about any turn. It comes last: what the rules found is written, and which turns
            wait.
    """
    sql, told = queries("extract"), on_progress or (lambda number: None)
    limits: dict[str, Any] = {"scope": scope, "policy": policy, "as_of": as_of}
    away: UnansweredError | None = None
    with run(store, "extract", **limits, driver=driver, dry_run=dry_run, pulse=lambda: told(0)) as attempt:
        after = _FIRST
        for name in ("turns", "candidates"):
            attempt.report.add(name, 0)
        while True:
            with store.transaction(scope.tenant_id) as conn:
                params = scope.params() | {"as_of": as_of, "after": after, "limit": _CHUNK}
                rows = conn.execute(sql["read_turns"], params).fetchall()
            if not rows:
                break
            turns = pl.DataFrame(rows, schema=TURNS, orient="row")
            candidates, verdicts = decide(turns, scope.tenant_id, policy, compiled(policy), count_tokens)
            if language_model is None:
                verdicts["waits"] = [False] * len(rows)
            with store.transaction(scope.tenant_id) as conn:
                write_candidates(conn, attempt, scope.tenant_id, policy, candidates, verdicts)
                count_candidates(attempt.report, candidates["kinds"], verdicts)
                attempt.record(conn)
            after = UUID(rows[-1][0])
            told(len(rows))
        _read_events(store, attempt, scope, policy, as_of, count_tokens)
        if language_model is not None and not dry_run:
            away = reread(store, attempt, language_model, **limits)
        with store.transaction(scope.tenant_id) as conn:
            if language_model is None:
                conn.execute(sql["let_be"], scope.params() | {"as_of": as_of})
            attempt.record(conn)
        if away is not None:
            raise away
    return attempt.report


def _read_events(
    store: Store, attempt: Run, scope: Scope, policy: Policy, as_of: datetime, count_tokens: Callable[[str], int]
) -> None:
    sql, report = queries("extract"), attempt.report
    after = _FIRST
    while True:
        params = scope.params() | {"as_of": as_of, "after": after, "limit": _CHUNK_EVENTS, "types": list(TYPES)}
        with store.transaction(scope.tenant_id) as conn:
            events = [Event(*row) for row in conn.execute(sql["read_events"], params)]
        if not events:
            return
        candidates, verdicts = decide_events(events, scope.tenant_id, policy, count_tokens)
        provenance = {"tenant": scope.tenant_id, "run_id": attempt.id, "policy_hash": policy.hash}
        with store.transaction(scope.tenant_id) as conn:
            conn.execute(sql["write_candidates"], provenance | BY_RULE | candidates)
            conn.execute(sql["write_event_lineage"], provenance | candidates)
            conn.execute(sql["write_observations"], provenance | verdicts)
            report.add("events", len(events))
            report.add("candidates", len(candidates["kinds"]))
            for kind in candidates["kinds"]:
                report.add(kind)
            report.discard("low_content", sum(verdicts["discarded"]))
            attempt.record(conn)
        after = events[-1].id


def write_candidates(
    conn: Connection[Any], attempt: Run, tenant_id: str, policy: Policy, candidates: Columns, verdicts: Columns
) -> None:
    """Write what `decide` gave, in the caller's transaction; what is there already is left as it is."""
    sql = queries("extract")
    provenance = {"tenant": tenant_id, "run_id": attempt.id, "policy_hash": policy.hash}
    conn.execute(sql["write_candidates"], provenance | BY_RULE | candidates)
    conn.execute(sql["write_lineage"], provenance | candidates)
    conn.execute(sql["write_extractions"], provenance | verdicts)


def count_candidates(report: Report, kinds: list[str], verdicts: Columns) -> None:
    """Count turns, candidates, each kind, each discard, and candidates beyond the policy's number for one turn."""
    reasons = verdicts["reasons"]
    report.add("turns", len(reasons))
    report.discard("beyond_turn_candidates", sum(verdicts["left_out"]))
    report.add("candidates", len(kinds))
    for kind in kinds:
        report.add(kind)
    for reason in reasons:
        if reason is not None:
            report.discard(reason)
