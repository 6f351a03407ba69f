"""extract: what rules and a language model find in turns becomes candidates for memory (spec A3, A8, B5; Chat flow 2).

Every turn and event leaves a row that says how many candidates it gave, or why none, and whether a model has read it.
The rules' candidates are written first (Brain 4.2, Contact 3.1, Logic 1) and wait for no model (`reread`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import polars as pl
from psycopg import Connection

from reverie.consolidate.extract.decide import BY_RULE, Columns, decide
from reverie.consolidate.extract.events import TYPES, Event, decide_events
from reverie.consolidate.extract.language_model import reread
from reverie.consolidate.isolate import apart
from reverie.errors import UnansweredError
from reverie.inference.completions import LanguageModel
from reverie.interruption import check_interruption
from reverie.language.cues.immediate import compiled
from reverie.model import Scope
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.failures import REASON
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
            found = decide_turns(rows, scope.tenant_id, policy, count_tokens)
            if language_model is None:
                found.verdicts["waits"] = [False] * len(rows)
            with store.transaction(scope.tenant_id) as conn:
                write_candidates(conn, attempt, scope.tenant_id, policy, found)
                attempt.record(conn)
            after = UUID(rows[-1][0])
            check_interruption()
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
        (candidates, verdicts), failed = apart(
            events, lambda some: decide_events(some, scope.tenant_id, policy, count_tokens)
        )
        for event, error in failed:
            attempt.bury(event.subject_id, event.id, error)
            for name, value in zip(verdicts, (event.id, event.subject_id, 0, 0, REASON), strict=True):
                verdicts[name].append(value)
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


@dataclass(frozen=True, slots=True)
class Decided:
    """What the rules make of some turns, as columns for SQL."""

    candidates: Columns
    #: One of each turn; that of a failed one has the reason `stage_failed`.
    verdicts: Columns
    #: (turn_id, subject_id, error) of the turns on which the rules failed.
    failed: list[tuple[str, str, Exception]]


def decide_turns(
    rows: Sequence[tuple[Any, ...]], tenant_id: str, policy: Policy, count_tokens: Callable[[str], int]
) -> Decided:
    """Return what the rules make of turns, rows of the columns `TURNS`; pure."""

    def of_rows(some: list[tuple[Any, ...]]) -> tuple[Columns, Columns]:
        turns = pl.DataFrame(some, schema=TURNS, orient="row")
        return decide(turns, tenant_id, policy, compiled(policy), count_tokens)

    (candidates, verdicts), failures = apart(rows, of_rows)
    failed = [(row[0], row[1], error) for row, error in failures]
    for turn_id, subject_id, _ in failed:
        verdict = {
            "turn_ids": turn_id,
            "subject_ids": subject_id,
            "candidates": 0,
            "reasons": REASON,
            "waits": False,
            "left_out": 0,
        }
        for name, values in verdicts.items():
            values.append(verdict[name])
    return Decided(candidates, verdicts, failed)


def write_candidates(conn: Connection[Any], attempt: Run, tenant_id: str, policy: Policy, found: Decided) -> None:
    """Write and count what the rules made of turns, in the caller's transaction; what is there already stays."""
    sql = queries("extract")
    provenance = {"tenant": tenant_id, "run_id": attempt.id, "policy_hash": policy.hash}
    conn.execute(sql["write_candidates"], provenance | BY_RULE | found.candidates)
    conn.execute(sql["write_lineage"], provenance | found.candidates)
    conn.execute(sql["write_extractions"], provenance | found.verdicts)
    report = attempt.report
    report.add("turns", len(found.verdicts["reasons"]))
    report.discard("beyond_turn_candidates", sum(found.verdicts["left_out"]))
    report.add("candidates", len(found.candidates["kinds"]))
    for kind in found.candidates["kinds"]:
        report.add(kind)
    for reason in found.verdicts["reasons"]:
        if reason not in (None, REASON):
            report.discard(reason)
    for turn_id, subject_id, error in found.failed:
        attempt.bury(subject_id, turn_id, error)
