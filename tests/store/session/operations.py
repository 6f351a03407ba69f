"""Statements and operations that the tests of sessions share."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import psycopg

from reverie.store.session import Statement, TenantSession

TENANT = "acme"
BOUND = Statement("select current_setting('reverie.tenant')")
TRANSACTION = Statement("select pg_current_xact_id()::text")
FAILS = Statement("select 1 / 0")

Operation = Callable[[TenantSession], Coroutine[Any, Any, Any]]
Run = Callable[..., Any]


def add(name: str) -> Statement[tuple[Any, ...]]:
    return Statement("insert into ops.tenants (tenant_id) values (%(name)s)", {"name": name})


def running(*statements: Statement[Any]) -> Operation:
    """An operation of one round trip."""

    async def operation(session: TenantSession) -> Any:
        if len(statements) == 1:
            return await session.run(statements[0])
        return await session.run_all(*statements)

    return operation


def tenants(conn: psycopg.Connection[Any]) -> list[str]:
    return [row[0] for row in conn.execute("select tenant_id from ops.tenants order by 1")]
