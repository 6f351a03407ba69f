"""What a person wrote in the place of a wrong memory is recalled at once: where the wrong one would have been."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from reverie.recall.result import Hit
from reverie.store.queries import queries
from reverie.store.steps import Statement, Steps

#: Reasons for which a candidate is left out because of a correction; `replaced`: a replacement takes its place.
REPLACED, CORRECTED = "replaced", "corrected"

Found = list[tuple[Hit, str | None]]


def replacing(found: Found, *, tenant_id: str, subject_id: str) -> Steps[Found]:
    """Return candidates with each replacement once, at the place of the best of what it replaces.

    Only between a correction and the deferred tier that works it in is there anything to read.
    """
    ids = [hit.id for hit, reason in found if reason == REPLACED]
    if not ids:
        return found
    params = {"tenant": tenant_id, "subject": subject_id, "ids": ids}
    rows = yield Statement(queries("recall")["replacements"], params, last=True)
    return replaced(found, rows)


def replaced(found: Found, rows: Sequence[tuple[UUID, UUID, str, str, datetime, float]]) -> Found:
    """Put replacements, rows of (item, id, kind, content, time, importance), where their items are."""
    best: Found = []
    dropped: Found = []
    seen: set[UUID] = set()
    for hit, reason in found:
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
