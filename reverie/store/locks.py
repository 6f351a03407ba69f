"""Locks: one writer at a time works on a subject, and nobody writes what was erased since they read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from reverie.model import Scope
from reverie.store.queries import queries


def lock_subjects(conn: Connection[Any], tenant_id: str, subject_ids: Sequence[str]) -> None:
    """Lock these subjects, in their order, until the transaction ends."""
    conn.execute(queries("subjects")["lock_subjects"], {"tenant": tenant_id, "subjects": list(subject_ids)})


def lock_scope(conn: Connection[Any], scope: Scope) -> None:
    """Lock the subjects of a scope, in their order, until the transaction ends."""
    conn.execute(queries("subjects")["lock_scope"], scope.params())


def add_subjects(conn: Connection[Any], tenant_id: str, subject_ids: Sequence[str]) -> None:
    """Make subjects known, in the order in which they are locked: only a known subject can be locked."""
    conn.execute(queries("subjects")["add_subjects"], {"tenant": tenant_id, "subjects": list(subject_ids)})


def count_erasures(conn: Connection[Any], tenant_id: str) -> int:
    """Return the number of the tenant's last erasure, for `is_unerased`; 0: there was none."""
    row = conn.execute(queries("subjects")["count_erasures"], {"tenant": tenant_id}).fetchone()
    return int(row[0]) if row else 0


def is_unerased(conn: Connection[Any], tenant_id: str, since: int) -> bool:
    """Return whether nothing of the tenant was erased after erasure `since`; nothing is until the transaction ends.

    Called before rows are written that were read in an earlier transaction: if it is False, they are read again.
    """
    hold_off_erasures(conn, tenant_id)
    return count_erasures(conn, tenant_id) == since


def hold_off_erasures(conn: Connection[Any], tenant_id: str) -> None:
    """Let nothing of the tenant be erased until the transaction ends."""
    conn.execute(queries("subjects")["hold_off_erasures"], {"tenant": tenant_id})


def begin_erasing(conn: Connection[Any], tenant_id: str) -> None:
    """Wait for those who write what they read earlier, and let them read again: comes before all other locks."""
    conn.execute(queries("subjects")["begin_erasing"], {"tenant": tenant_id})
