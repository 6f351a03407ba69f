"""What a person wrote in place of a wrong memory is recalled at once, with the rank that the wrong memory had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from reverie.recall.result import Hit
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Reasons for which a candidate is left out because of a correction; `replaced`: a replacement takes its place.
REPLACED, CORRECTED = "replaced", "corrected"

Candidates = list[tuple[Hit, str | None]]


async def with_replacements(session: TenantSession, candidates: Candidates, *, subject_id: str) -> Candidates:
    """Return candidates with each replacement once, at the place of the best of what it replaces.

    There is something to read only until the deferred tier has worked the correction in.
    """
    ids = [hit.id for hit, reason in candidates if reason == REPLACED]
    if not ids:
        return candidates
    params = {"tenant": session.tenant_id, "subject": subject_id, "ids": ids}
    return replaced(candidates, await session.run(Statement(queries("recall")["replacements"], params)))


def replaced(candidates: Candidates, rows: Sequence[tuple[Any, ...]]) -> Candidates:
    """Put replacements, rows of (item, id, kind, content, time, importance), where their items are."""
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
                    turn_id=None, session_id=None,
                )  # fmt: skip
                best.append((new, None))
        dropped.append((hit, CORRECTED))
    return best + dropped
