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

#: Days for which something may be kept by consent: a hundred years.
MOST_DAYS = 36_500
#: Characters of the name of a subject, and of who asks.
_LONGEST = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Consent:
    """What a subject agrees to."""

    subject_id: str
    #: Whether turns and events are taken in.
    capture: bool = True
    #: Whether recalls and contexts answer from its memory.
    recall: bool = True
    #: Days after which what was said is erased, by the tenant's clock; None: never.
    retain_days: int | None = None
    #: When it was changed last, by the clock; None: never.
    changed_at: datetime | None = None
    #: Who asked for that, as the caller says.
    actor: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsentChange:
    """What is to change: None stays as it is."""

    capture: bool | None = None
    recall: bool | None = None
    #: 0: for ever.
    retain_days: int | None = None


async def change_consent(
    session: TenantSession, subject_id: str, change: ConsentChange, *, at: datetime, actor: str | None = None
) -> Consent:
    """Change what a subject agrees to, and return it. It holds for requests that begin later.

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
    """Return what a subject agrees to."""
    params = {"tenant": session.tenant_id, "subject": subject_id}
    rows = await session.run(Statement(queries("consents")["read"], params, row=Consent))
    return rows[0] if rows else Consent(subject_id=subject_id)


async def list_consents(session: TenantSession) -> Sequence[Consent]:
    """Return the subjects of a tenant that do not agree to everything, or once did not."""
    return await session.run(Statement(queries("consents")["list"], {"tenant": session.tenant_id}, row=Consent))


def overdue_subjects(conn: Connection[Any], scope: Scope, as_of: datetime) -> list[tuple[str, datetime]]:
    """Return the subjects of whom something is older than they agreed to, with the time before which it goes.

    `as_of`: the tenant's time.
    """
    return conn.execute(queries("consents")["overdue"], scope.params() | {"as_of": as_of}).fetchall()
