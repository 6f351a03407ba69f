"""The known tenants and the policy of each."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from reverie.store.queries import queries
from reverie.store.session import Statement


def ensure_tenant(conn: Connection[Any], tenant_id: str, policy: str) -> None:
    """Add the tenant; a known one keeps its policy."""
    conn.execute(queries("tenants")["ensure_tenant"], {"tenant": tenant_id, "policy": policy})


def ensure_tenant_statement(tenant_id: str, policy: str) -> Statement[Any]:
    """Return the statement of `ensure_tenant`, for an operation over a session."""
    return Statement(queries("tenants")["ensure_tenant"], {"tenant": tenant_id, "policy": policy})


def read_policy_name(conn: Connection[Any], tenant_id: str) -> str | None:
    """Return the name or path of the tenant's policy; None: the tenant is not known."""
    row = conn.execute(queries("tenants")["read_policy"], {"tenant": tenant_id}).fetchone()
    return row[0] if row else None


def set_policy_name(conn: Connection[Any], tenant_id: str, policy: str) -> None:
    """Set the name or path of the tenant's policy; an unknown tenant is added."""
    conn.execute(queries("tenants")["set_policy"], {"tenant": tenant_id, "policy": policy})
