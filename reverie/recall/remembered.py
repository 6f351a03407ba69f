"""A recall in one statement: what it has to know of its subject is remembered; the search tells if it still holds."""

from __future__ import annotations

from typing import Any

from reverie.inference import Embedder
from reverie.recall.recall import Rows, recall, subject_statement
from reverie.recall.result import RecallResult
from reverie.recall.search import GuessError
from reverie.store.session import TenantSession

#: Subjects that are remembered; then all are forgotten at once.
MOST = 10_000


class Remembered:
    """What was last read of each subject: who speaks, and by which model it is embedded."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Rows] = {}

    def get(self, tenant_id: str, subject_id: str) -> Rows | None:
        """Return the rows of `subject_statement` as they were; None: nothing is remembered."""
        return self._rows.get((tenant_id, subject_id))

    def guess(self, tenant_id: str, subject_id: str, embedder: Embedder | None) -> Rows | None:
        """Return the same for a recall whose search tells if it still holds; None: it has to read first.

        What a hosted model costs is booked before the search, and nothing is to be booked twice.
        """
        return None if embedder is not None and embedder.price_per_token else self.get(tenant_id, subject_id)

    def put(self, tenant_id: str, subject_id: str, rows: Rows) -> None:
        """Remember them; of a subject that nobody knows there are none."""
        if len(self._rows) >= MOST:
            self._rows.clear()
        if rows:
            self._rows[tenant_id, subject_id] = rows
        else:
            self._rows.pop((tenant_id, subject_id), None)


async def recall_at_once(
    session: TenantSession,
    question: str,
    remembered: Remembered,
    *,
    subject_id: str,
    embedder: Embedder | None,
    **options: Any,
) -> RecallResult:
    """Return what `recall` returns, in one round trip where what is remembered still holds."""
    guess = remembered.guess(session.tenant_id, subject_id, embedder)
    if guess is not None:
        try:
            return await recall(
                session, question, subject_id=subject_id, embedder=embedder, **options, known=guess, guessed=True
            )
        except GuessError:
            pass  # and is read anew
    rows = await session.run(subject_statement(session.tenant_id, subject_id))
    remembered.put(session.tenant_id, subject_id, rows)
    return await recall(session, question, subject_id=subject_id, embedder=embedder, **options, known=rows)
