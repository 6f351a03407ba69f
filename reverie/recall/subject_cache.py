"""A recall in one statement: what it must know of its subject is cached, and the search checks the cached row."""

from __future__ import annotations

from typing import Any

from reverie.inference import Embedder
from reverie.recall.recall import Rows, recall, subject_statement
from reverie.recall.result import RecallResult
from reverie.recall.search import StaleCacheError
from reverie.store.session import TenantSession

#: Subjects in the cache; a full cache is emptied.
MOST = 10_000


class SubjectCache:
    """The latest row of each subject: its speakers, and its embedding model."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Rows] = {}

    def get(self, tenant_id: str, subject_id: str) -> Rows | None:
        """Return the cached rows of `subject_statement`; None: there are none."""
        return self._rows.get((tenant_id, subject_id))

    def cached(self, tenant_id: str, subject_id: str, embedder: Embedder | None) -> Rows | None:
        """Return the cached rows for a recall whose search checks them; None: the recall must read them first.

        With a hosted model the rows are read first: its cost is booked before the search, and must be booked once.
        """
        return None if embedder is not None and embedder.price_per_token else self.get(tenant_id, subject_id)

    def put(self, tenant_id: str, subject_id: str, rows: Rows) -> None:
        """Cache the rows; a subject that is not known has none."""
        if len(self._rows) >= MOST:
            self._rows.clear()
        if rows:
            self._rows[tenant_id, subject_id] = rows
        else:
            self._rows.pop((tenant_id, subject_id), None)


async def recall_at_once(
    session: TenantSession,
    question: str,
    subject_cache: SubjectCache,
    *,
    subject_id: str,
    embedder: Embedder | None,
    **options: Any,
) -> RecallResult:
    """Return what `recall` returns, in one round trip if the cached rows are up to date."""
    cached = subject_cache.cached(session.tenant_id, subject_id, embedder)
    if cached is not None:
        try:
            return await recall(
                session, question, subject_id=subject_id, embedder=embedder, **options, known=cached, from_cache=True
            )
        except StaleCacheError:
            pass  # the cached rows are out of date
    rows = await session.run(subject_statement(session.tenant_id, subject_id))
    subject_cache.put(session.tenant_id, subject_id, rows)
    return await recall(session, question, subject_id=subject_id, embedder=embedder, **options, known=rows)
