"""Hints to the planner for one transaction (docs/decisions/0022)."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from reverie.store.queries import queries


def plan_by_key(conn: Connection[Any]) -> None:
    """Look rows up by their keys until the transaction ends, whatever the statistics say."""
    conn.execute(queries("plans")["by_key"])


def plan_by_group(conn: Connection[Any]) -> None:
    """Join rows group by group, as hash joins, until the transaction ends."""
    conn.execute(queries("plans")["by_group"])
