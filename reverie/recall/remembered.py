"""A recall in one statement: what it has to know of its subject is remembered; the search tells if it still holds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from reverie.inference import Embedder
from reverie.recall.recall import recalling, subject_statement
from reverie.recall.result import RecallResult
from reverie.recall.search import GuessError
from reverie.store.steps import Rows, Steps

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


def recalling_at_once(
    question: str,
    remembered: Remembered,
    *,
    tenant_id: str,
    subject_id: str,
    as_of: datetime,
    embedder: Embedder | None,
    **given: Any,
) -> Steps[RecallResult]:
    """Return what `recalling` returns, in one round trip where what is remembered still holds, else as it does."""
    common: dict[str, Any] = {"tenant_id": tenant_id, "subject_id": subject_id, "as_of": as_of, "embedder": embedder}
    guess = remembered.guess(tenant_id, subject_id, embedder)
    if guess is not None:
        try:
            return (yield from recalling(question, **common, **given, known=guess, guessed=True))
        except GuessError:
            pass  # and is read anew
    now = yield subject_statement(tenant_id, subject_id, last=embedder is not None)
    remembered.put(tenant_id, subject_id, now)
    return (yield from recalling(question, **common, **given, known=now))
