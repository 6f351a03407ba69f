"""undo: a merged memory is separated from its survivor, or a superseded one holds beside its successor.

This is permanent unless somebody takes it back: `retract_correction` in `reverie/capture/live/corrections.py`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.memories import set_live
from reverie.errors import NotFoundError
from reverie.model import require_aware, stable_id
from reverie.policy import Policy
from reverie.policy.fading import as_real
from reverie.store.database import Store
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries


def undo(
    store: Store, *, tenant_id: str, loser_id: UUID, policy: Policy, as_of: datetime, actor: str | None = None
) -> UUID:
    """Undo a merge or a supersession; return the id of the other memory. Undoing twice changes nothing.

    A merged memory is active again. A superseded memory holds beside the one that superseded it. The log names `actor`,
    who asked for the undo.

    Raises:
        NotFoundError: the memory was neither merged nor superseded.
    """
    as_of = require_aware(as_of)
    sql = queries("undo")
    params: dict[str, Any] = {"tenant": tenant_id, "loser": loser_id, "as_of": as_of, "actor": actor}
    with store.transaction(tenant_id) as conn:
        # locked before it is read, so that of two requests at once the second finds nothing left to undo
        if known := conn.execute(sql["read_subject"], params).fetchone():
            lock_subjects(conn, tenant_id, [known[0]])
        merge = conn.execute(sql["read_merge"], params).fetchone()
        if merge is None:
            return _restore(conn, params, policy)
        survivor_id: UUID
        survivor_id, subject_id, gained, root_id, kind, peak, accessed_at, access_count, lasting, expires_at = merge
        apart = {survivor_id, root_id}
        due = policy.fading.forget_at(kind, peak, accessed_at, lasting=lasting, expires_at=expires_at)
        conn.execute(sql["revive"], params | {"forget_at": due})
        set_live(conn, tenant_id, [loser_id], live=True)
        gain: dict[str, Any] | None = {"survivor": survivor_id, "gained": gained, "access_count": access_count}
        while gain is not None:
            apart.add(gain["survivor"])
            _weaken(conn, params | gain, policy)
            gain = _passed_on(conn, params | gain, policy)
        for other in sorted(apart):
            _keep_apart(conn, params | {"subject": subject_id, "other": other})
        conn.execute(sql["unpin_survivors"], params | {"subject": subject_id})
        conn.execute(sql["forget_merge"], params)
    return survivor_id


def _restore(conn: Connection[Any], params: dict[str, Any], policy: Policy) -> UUID:
    """Put a superseded memory back into force; return the memory that superseded it, even if this was undone before."""
    sql, tenant_id, loser_id = queries("undo"), params["tenant"], params["loser"]
    superseded = conn.execute(sql["read_superseded"], params).fetchone()
    other_id: UUID
    if superseded is None:
        undone = conn.execute(sql["read_undone"], params).fetchone()
        if undone is None:
            raise NotFoundError(
                f"Nothing to undo: memory {loser_id} is neither merged nor superseded, "
                "and no correction of it is in force."
            )
        other_id = undone[0]
        return other_id
    other_id, subject_id, kind, peak, accessed_at, lasting, expires_at = superseded
    _keep_apart(conn, params | {"subject": subject_id, "other": other_id})
    forget_at = policy.fading.forget_at(kind, peak, accessed_at, lasting=lasting, expires_at=expires_at)
    conn.execute(sql["restore"], params | {"forget_at": forget_at})
    set_live(conn, tenant_id, [loser_id], live=True)
    return other_id


def _keep_apart(conn: Connection[Any], params: dict[str, Any]) -> None:
    """Write to the log that two memories are kept apart: again if this was taken back, even at the same time."""
    sql, pair = queries("undo"), (params["tenant"], str(params["loser"]), str(params["other"]))
    (before,) = conn.execute(sql["count_apart"], params).fetchone() or (0,)
    id_ = stable_id(params["as_of"], "keep_apart", *pair, *([str(before)] if before else []))
    conn.execute(sql["write_correction"], params | {"id": id_})


def _weaken(conn: Connection[Any], params: dict[str, Any], policy: Policy) -> None:
    """Take back the gain of the survivor from the merge."""
    sql = queries("undo")
    survivor = conn.execute(sql["read_survivor"], params).fetchone()
    if survivor is None:
        return
    kind, state, peak, accessed_at, expires_at, relation, phase, holds_lasting = survivor
    peak = as_real(max(peak - params["gained"], 0.0))
    lasting = holds_lasting or policy.lasts(relation, phase)
    # a lasting memory fades while it is superseded
    keeps = lasting and state != "superseded"
    due = policy.fading.forget_at(kind, peak, accessed_at, lasting=keeps, expires_at=expires_at)
    conn.execute(
        sql["weaken"], params | {"peak": peak, "forget_at": None if state == "merged" else due, "lasting": lasting}
    )


def _passed_on(conn: Connection[Any], params: dict[str, Any], policy: Policy) -> dict[str, Any] | None:
    """Return the gain of the memory into which a weakened survivor was merged in turn; None: it stands for itself."""
    merge = conn.execute(queries("undo")["read_next_survivor"], params).fetchone()
    if merge is None:
        return None
    survivor_id, before, after, merged_at, kind, peak, accessed_at, lasting = merge
    worth = policy.fading.value_at(kind, peak, accessed_at, merged_at, lasting=lasting)
    without = min(1.0, max(before, worth) + policy.merge.reinforce)
    gained = min(max(after - without, 0.0), params["gained"])
    conn.execute(queries("undo")["lessen_merge"], params | {"gained": gained})
    return {"survivor": survivor_id, "gained": gained, "access_count": params["access_count"]}
