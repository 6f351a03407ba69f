"""Consent: whether a subject is captured and recalled, and for how long what it said is kept.

A subject without a row agrees to everything. The rows are settings, not memory: they outlive rebuilds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from reverie.errors import InputError
from reverie.model import Scope, require_aware
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Maximum of `retain_days`: a hundred years.
MOST_DAYS = 36_500
#: Maximum length of a subject's name, in characters.
_LONGEST = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Consent:
    """The consent of a subject."""

    subject_id: str
    #: Whether turns and events are captured.
    capture: bool = True
    #: Whether recalls and contexts use its memory.
    recall: bool = True
    #: Days after which what was said is erased, by the tenant's clock; None: never.
    retain_days: int | None = None
    #: Time of the last change, by the wall clock; None: never changed.
    changed_at: datetime | None = None
    #: The person who asked for that change, as named by the caller.
    actor: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsentChange:
    """A change of consent; None leaves a field as it is."""

    capture: bool | None = None
    recall: bool | None = None
    #: 0: keep for ever.
    retain_days: int | None = None


async def change_consent(
    session: TenantSession, subject_id: str, change: ConsentChange, *, at: datetime, actor: str | None = None
) -> Consent:
    """Change a subject's consent and return it. The change applies to requests that begin later.

    Raises InputError for a subject without a name, or a number of days out of range.
    """
    if not 0 < len(subject_id) <= _LONGEST:
        raise InputError(f"A subject has a name of 1 to {_LONGEST} characters.")
    if change.retain_days is not None and not 0 <= change.retain_days <= MOST_DAYS:
        raise InputError(f"retain_days is {change.retain_days}; expected 1 to {MOST_DAYS:,}, or 0 for ever.")
    params = {
        "tenant": session.tenant_id,
        "subject": subject_id,
        "capture": change.capture,
        "recall": change.recall,
        "retain_days": change.retain_days,
        "at": require_aware(at),
        "actor": actor,
    }
    (row,) = await session.run(Statement(queries("consents")["set"], params, row=Consent))
    return row


async def read_consent(session: TenantSession, subject_id: str) -> Consent:
    """Return the consent of a subject."""
    params = {"tenant": session.tenant_id, "subject": subject_id}
    rows = await session.run(Statement(queries("consents")["read"], params, row=Consent))
    return rows[0] if rows else Consent(subject_id=subject_id)


async def list_consents(session: TenantSession) -> Sequence[Consent]:
    """Return the consents of a tenant's subjects who do not agree to everything."""
    return await session.run(Statement(queries("consents")["list"], {"tenant": session.tenant_id}, row=Consent))


def overdue_subjects(conn: Connection[Any], scope: Scope, as_of: datetime) -> list[tuple[str, datetime]]:
    """Return subjects with data older than their `retain_days`, each with the time before which to erase it.

    `as_of`: the tenant's time.
    """
    return conn.execute(queries("consents")["overdue"], scope.params() | {"as_of": as_of}).fetchall()
