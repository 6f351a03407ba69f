"""Forgetting, for the stages that forget: memories are deleted, and tombstones without content stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.store.queries import queries
from reverie.store.runs import Run


def forget(conn: Connection[Any], attempt: Run, doomed: Sequence[tuple[UUID, datetime]], reason: str) -> Counter[str]:
    """Delete memories, each as of a time, and those that were merged into them; return the number deleted by kind."""
    if not doomed:
        return Counter()
    policy = attempt.work.policy
    params = (
        attempt.params()
        | policy.fading.params()
        | {
            "ids": [id_ for id_, _ in doomed],
            "forgotten_at": [at for _, at in doomed],
            "reason": reason,
            "language": policy.language,
        }
    )
    return Counter(kind for (kind,) in conn.execute(queries("forgetting")["forget"], params))
