"""Merge: what was said before in other words becomes one memory; the more specific text stands for both (Brain 4.3).

Only groups (subject and kind) with candidates are looked at. Both sources are kept, and `undo` parts them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.merge.decide import Decision, Member, fold
from reverie.consolidate.merge.pairs import Group, named, near_pairs
from reverie.errors import NotFoundError
from reverie.model import Scope, require_aware, stable_id
from reverie.policy import Policy
from reverie.policy.fading import as_real, forget_at
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run

#: Rows compared in one transaction: their vectors (3 MB) stay within the server's default work_mem.
_CHUNK_ROWS = 4000


def merge(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    model: str,
    driver: str = "reverie",
    dry_run: bool = False,
) -> Report:
    """Take each candidate that has a vector of `model` into the memory it repeats, or make it one of its own."""
    as_of = require_aware(as_of)
    params = scope.params() | {"as_of": as_of, "model": model, "threshold": policy.merge.threshold}
    with run(store, "merge", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt:
        with store.transaction(scope.tenant_id) as conn:
            dirty: list[Group] = conn.execute(queries("merge")["read_dirty"], params).fetchall()
        attempt.report.add("groups", len(dirty))
        for name in ("near_pairs", "merged", "activated"):
            attempt.report.add(name, 0)
        for groups in _chunks(dirty):
            chunk = params | {"dirty": sorted({group[0] for group in groups}), "run_id": attempt.id}
            for until in _slices(store, groups, chunk, dry_run=dry_run):
                with store.transaction(scope.tenant_id) as conn:
                    _merge_chunk(conn, attempt, groups, policy, chunk | {"until": until})
                    attempt.record(conn)
        if not dirty:
            with store.transaction(scope.tenant_id) as conn:
                attempt.record(conn)
    return attempt.report


def _merge_chunk(
    conn: Connection[Any], attempt: Run, groups: list[Group], policy: Policy, params: dict[str, Any]
) -> None:
    sql, report = queries("merge"), attempt.report
    conn.execute(queries("subjects")["lock_subjects"], params | {"subjects": params["dirty"]})
    conn.execute(queries("plans")["by_key"])
    pairs = near_pairs(conn, params, [group for group in groups if group[1] in policy.merge.kinds])
    decision = Decision()
    if pairs:
        ids = list({id for pair in pairs for id in pair[:2]})
        members = [Member(*row) for row in conn.execute(sql["read_members"], params | {"ids": ids})]
        decision = fold(members, pairs, conn.execute(sql["read_apart"], params).fetchall(), policy)
    _write(conn, decision, policy, params)
    report.add("activated", conn.execute(sql["activate"], params | named(groups)).rowcount)
    report.add("near_pairs", len(pairs))
    report.add("merged", len(decision.merges))
    for member, error in decision.failed:
        attempt.bury(member.subject_id, member.id, error)
    for reason, number in sorted(decision.kept_apart.items()):
        report.add(f"kept_apart_{reason}", number)


def undo(store: Store, *, tenant_id: str, loser_id: UUID, policy: Policy, as_of: datetime) -> UUID:
    """Part a merged memory from its survivor for good; returns the survivor's id. Undoing twice changes nothing.

    Raises:
        NotFoundError: there is no such merge.
    """
    as_of = require_aware(as_of)
    sql = queries("merge")
    params: dict[str, Any] = {"tenant": tenant_id, "loser": loser_id, "as_of": as_of}
    with store.transaction(tenant_id) as conn:
        found = conn.execute(sql["read_merge"], params).fetchone()
        if found is None:
            undone = conn.execute(sql["read_undone"], params).fetchone()
            if undone is None:
                raise NotFoundError(f"No memory {loser_id} was merged into another.")
            survivor_id: UUID = undone[0]
            return survivor_id
        survivor_id, subject, gained, root_id, kind, peak, accessed_at, access_count = found
        conn.execute(queries("subjects")["lock_subjects"], params | {"subjects": [subject]})
        for other in {survivor_id, root_id}:
            correction = stable_id(as_of, "keep_apart", tenant_id, str(loser_id), str(other))
            conn.execute(sql["write_correction"], params | {"id": correction, "subject": subject, "other": other})
        conn.execute(sql["revive"], params | {"forget_at": _forget_at(kind, peak, accessed_at, policy)})
        conn.execute(sql["set_live"], params | {"ids": [loser_id], "live": True})
        survivor = conn.execute(sql["read_survivor"], params | {"survivor": survivor_id}).fetchone()
        if survivor is not None:
            kind, state, peak, accessed_at = survivor
            peak = as_real(max(peak - gained, 0.0))
            weakened = {
                "survivor": survivor_id,
                "peak": peak,
                "gained": gained,
                "access_count": access_count,
                "forget_at": None if state == "merged" else _forget_at(kind, peak, accessed_at, policy),
            }
            conn.execute(sql["weaken"], params | weakened)
        conn.execute(sql["forget_merge"], params)
    return survivor_id


def _chunks(dirty: Sequence[Group]) -> Iterator[list[Group]]:
    """Groups of whole subjects, cut where the rows to compare would be too many for one transaction."""
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


def _slices(store: Store, groups: Sequence[Group], params: dict[str, Any], *, dry_run: bool) -> list[datetime]:
    """The times up to which a chunk is worked in, one after the other: the end, unless one subject is too large.

    The fold goes in event order, so cutting it changes nothing; but a thousand repeats are half a million pairs. A dry
    run, which keeps nothing from slice to slice, takes all at once.
    """
    end: datetime = params["as_of"]
    if dry_run or sum(group[2] for group in groups) <= _CHUNK_ROWS:
        return [end]
    with store.transaction(params["tenant"]) as conn:
        times = conn.execute(queries("merge")["read_slices"], params | {"slice": _CHUNK_ROWS // 2}).fetchall()
    return sorted({*(row[0] for row in times), end})


def _write(conn: Connection[Any], decision: Decision, policy: Policy, params: dict[str, Any]) -> None:
    if not decision.merges:
        return
    sql = queries("merge")
    merges, root, survivors = decision.merges, decision.root(), decision.survivors()
    losers = [merge.loser.id for merge in merges]
    params = params | {
        "losers": losers,
        "roots": [root[loser] for loser in losers],
        "winners": [merge.survivor.id for merge in merges],
        "losers_subject": [merge.loser.subject_id for merge in merges],
        "similarities": [merge.similarity for merge in merges],
        # not when merge ran: that differs between live and a backfill, and memory must not
        "merged_at": [max(merge.loser.happened_at, merge.survivor.happened_at) for merge in merges],
        "peaks_before": [merge.peak_before for merge in merges],
        "peaks_after": [merge.peak_after for merge in merges],
        "survivors": [member.id for member in survivors],
        "peaks": [member.peak for member in survivors],
        "accessed_at": [member.accessed_at for member in survivors],
        "access_counts": [member.access_count for member in survivors],
        "forget_at": [_forget_at(member.kind, member.peak, member.accessed_at, policy) for member in survivors],
        "ids": losers,
        "live": False,
    }
    for name in ("write_losers", "write_survivors", "write_merges", "set_live"):
        conn.execute(sql[name], params)
    conn.execute(queries("correct")["inherit_pins"], params | {"subject_ids": params["losers_subject"]})


def _forget_at(kind: Any, peak: float, accessed_at: datetime, policy: Policy) -> datetime | None:
    return forget_at(
        peak,
        accessed_at,
        rate=policy.decay.rates[kind],
        grace_days=policy.decay.grace_days,
        below=policy.prune.below,
        unaccessed_days=policy.prune.unaccessed_days,
    )
