"""Locks of subjects: one writer at a time works on a subject, and two never wait for each other."""

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
