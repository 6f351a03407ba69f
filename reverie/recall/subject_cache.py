"""The row of a subject that a recall needs before it searches, and its cache: a recall then takes one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from reverie.inference import Embedder
from reverie.store.queries import queries
from reverie.store.session import Statement

#: Rows of `subject_statement`.
Rows: TypeAlias = Sequence[tuple[Any, ...]]

#: Most subjects in the cache; a full cache is emptied.
MOST = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownSubject:
    """The information about a subject that a recall needs before it searches."""

    #: Rows of `subject_statement`; none if the subject is unknown.
    rows: Rows
    #: Whether they may be out of date; the search then checks them.
    is_cached: bool = False

    def __bool__(self) -> bool:
        """Return whether there is such a subject."""
        return bool(self.rows)

    @property
    def speakers(self) -> Sequence[str]:
        """The speakers of the subject's conversations."""
        return self.rows[0][0] if self.rows else ()

    @property
    def is_withheld(self) -> bool:
        """Whether the subject does not want to be recalled."""
        return bool(self.rows) and bool(self.rows[0][2])

    @property
    def model(self) -> str | None:
        """The model by which the tenant's memory is embedded; None: nothing is embedded yet."""
        return self.rows[0][1] if self.rows else None

    @property
    def may_wait(self) -> bool:
        """Whether turns of the subject may wait to become memory."""
        return bool(self.rows and self.rows[0][3])


def subject_statement(tenant_id: str, subject_id: str) -> Statement[tuple[Any, ...]]:
    """Return the statement that reads the row of a subject that a recall needs."""
    return Statement(queries("recall")["read_subject"], {"tenant": tenant_id, "subject": subject_id})


class SubjectCache:
    """The latest row of each subject: speakers, embedding model, whether it is withheld, whether turns may wait."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Rows] = {}

    def get(self, tenant_id: str, subject_id: str) -> Rows | None:
        """Return the cached rows of `subject_statement`; None: there are none."""
        return self._rows.get((tenant_id, subject_id))

    def cached(self, tenant_id: str, subject_id: str, embedder: Embedder | None) -> Rows | None:
        """Return the cached rows for a recall whose search checks them; None: the recall must read them first.

        With a hosted model the rows are read first: its cost is booked before the search, and must be booked once. So
        are those of a subject that does not want to be recalled, as no search is made that could check them.
        """
        if embedder is not None and embedder.price_per_token:
            return None
        rows = self.get(tenant_id, subject_id)
        return rows if rows and not KnownSubject(rows=rows).is_withheld else None

    def put(self, tenant_id: str, subject_id: str, rows: Rows) -> None:
        """Cache the rows; an unknown subject has none."""
        if len(self._rows) >= MOST:
            self._rows.clear()
        if rows:
            self._rows[tenant_id, subject_id] = rows
        else:
            self._rows.pop((tenant_id, subject_id), None)
