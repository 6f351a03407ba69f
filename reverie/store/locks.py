"""Locks: each subject has one writer at a time, and nothing is written that was erased after it was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from reverie.model import Scope
from reverie.store.queries import queries
from reverie.store.session import Statement


def lock_subjects(conn: Connection[Any], tenant_id: str, subject_ids: Sequence[str]) -> None:
    """Lock these subjects, in a fixed order, until the transaction ends."""
    conn.execute(queries("subjects")["lock_subjects"], {"tenant": tenant_id, "subjects": list(subject_ids)})


def lock_scope(conn: Connection[Any], scope: Scope) -> None:
    """Lock the subjects of a scope, in a fixed order, until the transaction ends."""
    conn.execute(queries("subjects")["lock_scope"], scope.params())


def add_subjects(conn: Connection[Any], tenant_id: str, subject_ids: Sequence[str]) -> None:
    """Add subjects, in the order in which they are locked: only a known subject can be locked."""
    conn.execute(queries("subjects")["add_subjects"], {"tenant": tenant_id, "subjects": list(subject_ids)})


def count_erasures(conn: Connection[Any], tenant_id: str) -> int:
    """Return the number of the tenant's last erasure, for `is_unerased`; 0 if there was none."""
    row = conn.execute(queries("subjects")["count_erasures"], {"tenant": tenant_id}).fetchone()
    return int(row[0]) if row else 0


def is_unerased(conn: Connection[Any], tenant_id: str, since: int) -> bool:
    """Return whether nothing of the tenant was erased after erasure `since`; prevent it until the transaction ends.

    Call it before writing rows that were read in an earlier transaction; if it returns False, read them again.
    """
    hold_off_erasures(conn, tenant_id)
    return count_erasures(conn, tenant_id) == since


def hold_off_erasures(conn: Connection[Any], tenant_id: str) -> None:
    """Prevent erasures of the tenant until the transaction ends."""
    conn.execute(queries("subjects")["hold_off_erasures"], {"tenant": tenant_id})


def begin_erasing(conn: Connection[Any], tenant_id: str) -> None:
    """Wait for those who write rows read earlier, and make later ones read again. Call it before taking other locks."""
    conn.execute(queries("subjects")["begin_erasing"], {"tenant": tenant_id})


def hold_tenant(tenant_id: str) -> Statement[Any]:
    """Return a statement that prevents the erasure of the whole tenant until the transaction ends.

    Erasures of its subjects go on. It comes before the statement that checks whether the tenant is still there.
    """
    return Statement(queries("subjects")["hold_tenant"], {"tenant": tenant_id})


def begin_erasing_tenant(conn: Connection[Any], tenant_id: str) -> None:
    """Wait for transactions with `hold_tenant`; later ones wait for this one, and then find no tenant."""
    conn.execute(queries("subjects")["begin_erasing_tenant"], {"tenant": tenant_id})
