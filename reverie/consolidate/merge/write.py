"""Writes merges."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from reverie.consolidate.memories import inherit_pins, set_live
from reverie.consolidate.merge.decide import MergeDecision
from reverie.store.queries import queries
from reverie.store.runs import Run


def write_merges(conn: Connection[Any], attempt: Run, decision: MergeDecision) -> None:
    """Write the losers with their final survivors, and the survivors with their gains."""
    if not decision.merges:
        return
    sql, fading, tenant_id = queries("merge"), attempt.work.policy.fading, attempt.work.tenant_id
    merges, root, survivors = decision.merges, decision.root(), decision.survivors()
    losers = [merge.loser.id for merge in merges]
    params = attempt.params() | {
        "losers": losers,
        "roots": [root[loser] for loser in losers],
        "winners": [merge.survivor.id for merge in merges],
        "losers_subject": [merge.loser.subject_id for merge in merges],
        "similarities": [merge.similarity for merge in merges],
        # not the time of the run: it differs between live and a backfill, and memory must not
        "merged_at": [max(merge.loser.happened_at, merge.survivor.happened_at) for merge in merges],
        "peaks_before": [merge.peak_before for merge in merges],
        "peaks_after": [merge.peak_after for merge in merges],
        "survivors": [member.id for member in survivors],
        "peaks": [member.peak for member in survivors],
        "accessed_at": [member.accessed_at for member in survivors],
        "access_counts": [member.access_count for member in survivors],
        "forget_at": [
            fading.forget_at(
                member.kind,
                member.peak,
                member.accessed_at,
                lasting=member.lasting and member.state != "superseded",
                expires_at=member.expires_at,
            )
            for member in survivors
        ],
        "lasting": [member.lasting for member in survivors],
        "expires_at": [member.expires_at for member in survivors],
    }
    # survivors first: one that was merged in turn gets its gains, and then its state as a loser
    for name in ("write_survivors", "write_losers", "write_merges"):
        conn.execute(sql[name], params)
    set_live(conn, tenant_id, losers, live=False)
    inherit_pins(conn, tenant_id, params["losers_subject"])
