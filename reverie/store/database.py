"""The one handle that stages, capture and recall get to Postgres: a pool, one role, transactions of one tenant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Self

from psycopg import Connection
from psycopg_pool import ConnectionPool

from reverie.store.connect import open_pool, tenant_transaction
from reverie.store.queries import queries


class Store:
    """A pool of connections in one role. Close it, or use it as a context manager."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    @classmethod
    def open(cls, url: str, *, role: Literal["worker", "reader"] = "worker", size: int = 4) -> Self:
        """Connect to the database of `url`.

        Raises:
            DatabaseError: unreachable, wrong password, too old, without pgvector or not migrated; one sentence each.
        """
        return cls(open_pool(url, role=role, size=size))

    @contextmanager
    def transaction(self, tenant_id: str) -> Iterator[Connection]:
        """Yield a connection inside a transaction that sees the rows of this tenant and no other."""
        with self._pool.connection() as conn, tenant_transaction(conn, tenant_id):
            yield conn

    def tenants(self) -> list[tuple[str, str]]:
        """Return (tenant_id, policy) of every tenant, by tenant_id. For the worker role only."""
        with self._pool.connection() as conn:
            return conn.execute(queries("tenants")["list_tenants"]).fetchall()

    def close(self) -> None:
        """Give the connections back."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
