"""merge: candidates become memories, or merge into the memory that they repeat; the more specific text survives.

Only groups (subject and kind) with candidates are compared. Both sources are kept, and `undo` separates them again.
Source: docs/design-sources.md, Brain 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from psycopg import Connection

from reverie.consolidate.merge.decide import MergeDecision, NearMemory, decide_merges
from reverie.consolidate.merge.pairs import Group, group_params, near_pairs
from reverie.consolidate.merge.write import write_merges
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work

#: Rows compared in one transaction: their vectors (3 MB) fit the server's default work_mem.
_CHUNK_ROWS = 4000


def merge(work: Work) -> Report:
    """Merge each candidate that has a vector into the memory that it repeats, or make it a memory of its own."""
    with run(work, "merge") as attempt:
        rules = work.policy.merge
        threshold = rules.threshold if rules.near is None else rules.near
        params = attempt.params() | {"model": work.embedder.model, "threshold": threshold}
        with work.transaction() as conn:
            dirty: list[Group] = conn.execute(queries("merge")["read_dirty"], params).fetchall()
            attempt.report.add("groups", len(dirty))
            for name in ("near_pairs", "merged", "activated"):
                attempt.report.add(name, 0)
            if not dirty:
                attempt.record(conn)
        for groups in _chunks(dirty):
            chunk = params | {"dirty": sorted({group[0] for group in groups})}
            for until in _slices(work, groups, chunk):
                with work.transaction() as conn:
                    _merge_chunk(conn, attempt, groups, chunk | {"until": until})
                    attempt.record(conn)
    return attempt.report


def _merge_chunk(conn: Connection[Any], attempt: Run, groups: list[Group], params: dict[str, Any]) -> None:
    sql, report, policy = queries("merge"), attempt.report, attempt.work.policy
    lock_subjects(conn, attempt.work.tenant_id, params["dirty"])
    pairs = near_pairs(conn, params, [group for group in groups if group[1] in policy.merge.kinds])
    decision = MergeDecision()
    if pairs:
        ids = list({id_ for pair in pairs for id_ in pair[:2]})
        members = [NearMemory(*row) for row in conn.execute(sql["read_members"], params | {"ids": ids})]
        decision = decide_merges(members, pairs, conn.execute(sql["read_apart"], params).fetchall(), policy)
    write_merges(conn, attempt, decision)
    report.add("activated", conn.execute(sql["activate"], params | group_params(groups)).rowcount)
    report.add("near_pairs", len(pairs))
    report.add("merged", len(decision.merges))
    for member, error in decision.failed:
        attempt.bury(member.subject_id, member.id, error)
    for reason, number in sorted(decision.kept_apart.items()):
        report.add(f"kept_apart_{reason}", number)


def _chunks(dirty: Sequence[Group]) -> Iterator[list[Group]]:
    """Yield the groups of whole subjects, cut when there are too many rows to compare in one transaction."""
    chunk: list[Group] = []
    rows = 0
    for _, of_subject in groupby(dirty, key=lambda group: group[0]):
        groups = list(of_subject)
        size = sum(group[2] for group in groups)
        if chunk and rows + size > _CHUNK_ROWS:
            yield chunk
            chunk, rows = [], 0
        chunk, rows = chunk + groups, rows + size
    if chunk:
        yield chunk


def _slices(work: Work, groups: Sequence[Group], params: dict[str, Any]) -> list[datetime]:
    """Return the times up to which a chunk is merged, in turn: only the end, unless a subject is too large.

    Candidates are merged in event order, so slicing does not change the result; but a thousand repeats are half a
    million pairs. A dry run keeps nothing from slice to slice, so it merges all at once.
    """
    if work.dry_run or sum(group[2] for group in groups) <= _CHUNK_ROWS:
        return [work.as_of]
    with work.transaction() as conn:
        times = conn.execute(queries("merge")["read_slices"], params | {"slice": _CHUNK_ROWS // 2}).fetchall()
    return sorted({*(row[0] for row in times), work.as_of})
