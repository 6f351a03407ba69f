"""Recalls a person's replacement of a wrong memory at once, with the rank of the wrong memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from reverie.recall.result import Hit
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Reasons to leave out a corrected candidate; `replaced`: a replacement takes its place.
REPLACED, CORRECTED = "replaced", "corrected"

Candidates = list[tuple[Hit, str | None]]


async def with_replacements(
    session: TenantSession, candidates: Candidates, *, subject_id: str, as_of: datetime
) -> Candidates:
    """Return candidates with each replacement once, at the place of the best candidate that it replaces.

    Replacements exist only until the deferred tier has applied the correction. One that was made after `as_of` takes no
    place; what it replaces is left out all the same.
    """
    ids = [hit.id for hit, reason in candidates if reason == REPLACED]
    if not ids:
        return candidates
    params = {"tenant": session.tenant_id, "subject": subject_id, "ids": ids, "as_of": as_of}
    return replaced(candidates, await session.run(Statement(queries("recall")["replacements"], params)))


def replaced(candidates: Candidates, rows: Sequence[tuple[Any, ...]]) -> Candidates:
    """Return candidates with replacements, rows of (item, id, kind, content, time, importance), in place of items."""
    best: Candidates = []
    dropped: Candidates = []
    seen: set[UUID] = set()
    for hit, reason in candidates:
        if reason != REPLACED:
            (dropped if reason else best).append((hit, reason))
            continue
        for item_id, id_, kind, content, at, importance in rows:
            if item_id == hit.id and id_ not in seen:
                seen.add(id_)
                new = hit._replace(
                    item="memory", id=id_, kind=kind, content=content, happened_at=at, importance=importance,
                    turn_id=None, session_id=None, reply_to=None, fresh=False,
                )  # fmt: skip
                best.append((new, None))
        dropped.append((hit, CORRECTED))
    return best + dropped
