"""Writes corrections: wrong memories are forgotten, replacements become candidates, pins are set or removed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import dict_row

from reverie.consolidate.correct.decide import revived
from reverie.consolidate.correct.read import Correction
from reverie.consolidate.forgetting import forget
from reverie.consolidate.memories import inherit_pins, write_candidates, write_lineage
from reverie.language.cues.entities import entities_one
from reverie.language.fact_keys import corrected_origin, reread
from reverie.language.text import strip_invisible
from reverie.model import Candidate, Lineage, replacement_of
from reverie.store.marks import ADD_PIN, MARK
from reverie.store.queries import queries
from reverie.store.runs import Run


def write_correction(conn: Connection[Any], attempt: Run, correction: Correction) -> None:
    """Write one correction; counts `forgotten`, `replaced`, `pinned` and `unpinned`."""
    if correction.asked in ("pin", "unpin"):
        _pin(conn, attempt, correction)
        return
    ids = _withhold(conn, attempt, correction)
    if correction.content is not None:
        correction = _stand_in(conn, attempt, correction, ids)
    _forget(conn, attempt, correction, ids)
    if correction.content is not None:
        _replace(conn, attempt, correction, strip_invisible(correction.content))


def _params(attempt: Run, correction: Correction) -> dict[str, Any]:
    return {
        "tenant": attempt.work.tenant_id,
        "subject": correction.subject_id,
        "memory": correction.memory_id,
        "id": correction.id,
        "run": attempt.id,
        "language": attempt.work.policy.language,
        "content": correction.content,
    }


def _withhold(conn: Connection[Any], attempt: Run, correction: Correction) -> list[UUID]:
    """Mark all that the correction withholds; return the ids of the memories that state it."""
    params = _params(attempt, correction)
    mark = "forgotten" if correction.asked == "forget" else "corrected"
    ids = [id_ for id_, is_stated in conn.execute(MARK, params | {"mark": mark}) if is_stated]
    conn.execute(queries("correct")["delete_marks"], params)
    return ids


def _stand_in(conn: Connection[Any], attempt: Run, correction: Correction, ids: list[UUID]) -> Correction:
    """Return the correction with the statement of a memory in `ids`, if its own memory was not made."""
    params = _params(attempt, correction) | {"ids": ids, "kind": correction.kind}
    with conn.cursor(row_factory=dict_row) as cursor:
        statement = cursor.execute(queries("correct")["read_stand_in"], params).fetchone()
    return replace(correction, **statement) if statement else correction


def _forget(conn: Connection[Any], attempt: Run, correction: Correction, ids: list[UUID]) -> None:
    """Forget memories and all made from them; structured facts that they had replaced are in force again."""
    sql, params, tenant = queries("correct"), _params(attempt, correction), {"tenant": attempt.work.tenant_id}
    reason = "forgotten_on_request" if correction.asked == "forget" else "wrong"
    conn.execute(sql["delete_pins"], params | {"ids": ids})
    gone = conn.execute(sql["delete_facts"], tenant | {"ids": ids}).fetchall()
    if gone:
        ended = conn.execute(sql["read_ended"], tenant | {"ids": [row[0] for row in gone]}).fetchall()
        conn.execute(sql["revive_facts"], tenant | revived(ended, gone))
    conn.execute(sql["reopen"], params | {"ids": ids})
    doomed = [(id_, correction.corrected_at) for id_ in ids]
    attempt.report.add("forgotten", forget(conn, attempt, doomed, reason).total())


def _pin(conn: Connection[Any], attempt: Run, correction: Correction) -> None:
    """Pin a memory, or unpin it with all that was merged into it and all that its pin passed to."""
    if not correction.memory_ids:
        return
    sql, params = queries("correct"), _params(attempt, correction)
    if correction.asked == "pin":
        conn.execute(ADD_PIN, params)
        conn.execute(sql["settle_pin"], params | {"at": correction.corrected_at})
        inherit_pins(conn, attempt.work.tenant_id, [correction.subject_id])
    else:
        unpinned = [row[0] for row in conn.execute(sql["unpin"], params | {"ids": correction.memory_ids})]
        at = {"ids": [*correction.memory_ids, *unpinned], "at": correction.corrected_at}
        conn.execute(sql["reschedule_unpinned"], params | at)
    attempt.report.add(f"{correction.asked}ned")


def _replace(conn: Connection[Any], attempt: Run, correction: Correction, content: str) -> None:
    """Write the replacement as a candidate of the wrong memory's kind; merge makes it a memory."""
    tenant_id, at = attempt.work.tenant_id, correction.corrected_at
    kind, id_ = replacement_of(correction.kind, at, tenant_id, correction.subject_id, correction.id)
    policy = attempt.work.policy
    statement, polarity = None, 0
    if correction.statement:
        statement, polarity = reread(policy, content, correction.statement, correction.polarity or 0)
    candidate = Candidate(
        id=id_,
        subject_id=correction.subject_id,
        kind=kind,
        content=content,
        polarity=polarity,
        importance=getattr(policy.extract.importance, kind),
        happened_at=at,
        mentions=tuple(entity.id for entity in entities_one(content)),
        session_id=correction.session_id,
        origin=corrected_origin(correction.origin),
        stated=correction.stated | {"value": content, "confidence": 1.0} if correction.stated else None,
        statement=statement,
        lasting=statement is not None and policy.lasts(statement.relation, statement.phase),
    )
    write_candidates(conn, attempt, [candidate])
    lineage = Lineage(memory_id=id_, relation="corrected", source="correction", source_id=correction.id, at=at)
    write_lineage(conn, attempt, [lineage])
    attempt.report.add("replaced")
