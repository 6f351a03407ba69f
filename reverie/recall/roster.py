"""The subjects of a tenant and the tenants of the database, page by page, with counts.

Listing does not count as an access.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedSubject:
    """A subject with its counts."""

    subject_id: str
    turns: int
    #: Memories in force: neither candidates, nor merged or compressed into others, nor forgotten.
    memories: int
    #: Event time of the latest turn; None: it has none.
    last_turn: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedTenant:
    """A tenant with its counts."""

    tenant_id: str
    #: Name or path.
    policy: str
    subjects: int
    turns: int
    memories: int
    last_turn: datetime | None


def list_subjects(
    store: Store, tenant_id: str, *, search: str | None = None, after: str | None = None, limit: int = 50
) -> list[ListedSubject]:
    """Return up to `limit` subjects after the name `after`, in the order of their names.

    `search`: a part of the name, or of a speaker's name, in any case, with or without accents. A speaker who is new
    since the last run is found after the next one.
    """
    params = {"tenant": tenant_id, "search": search, "after": after or "", "limit": limit}
    with store.transaction(tenant_id) as conn, conn.cursor(row_factory=class_row(ListedSubject)) as cursor:
        return cursor.execute(queries("roster")["page_subjects"], params).fetchall()


def list_tenants(
    store: Store, *, search: str | None = None, after: str | None = None, limit: int = 50
) -> list[ListedTenant]:
    """Return up to `limit` tenants after the name `after`, in the order of their names; a query for each.

    `search`: a part of the name, in any case. `store` is the worker's: no other role can read several tenants.
    """
    asked = (search or "").casefold()
    named = sorted((name, policy) for name, policy in store.tenants() if asked in name.casefold())
    found: list[ListedTenant] = []
    for tenant_id, policy in [each for each in named if each[0] > (after or "")][:limit]:
        params = {"tenant": tenant_id, "policy": policy}
        with store.transaction(tenant_id) as conn, conn.cursor(row_factory=class_row(ListedTenant)) as cursor:
            found += cursor.execute(queries("roster")["count_tenant"], params).fetchall()
    return found


def subjects_around(store: Store, tenant_id: str, name: str, *, limit: int) -> list[str]:
    """Return the subjects of the log nearest to a name in the order of names, up to `limit` on either side."""
    params = {"tenant": tenant_id, "subject": name, "limit": limit}
    with store.transaction(tenant_id) as conn:
        return [row[0] for row in conn.execute(queries("roster")["subjects_around"], params)]


def knows_subject(store: Store, tenant_id: str, subject_id: str) -> bool:
    """Return whether anything was said by or about a subject; `store` acts as the worker."""
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("roster")["knows_subject"], {"tenant": tenant_id, "subject": subject_id}).fetchone()
    return bool(row and row[0])
