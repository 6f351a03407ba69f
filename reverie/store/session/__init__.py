"""Operations on the database, written once for callers with and without asyncio.

An operation is an `async def` over a session of one tenant:

    async def speakers(session: TenantSession, subject_id: str) -> list[str]:
        params = {"tenant": session.tenant_id, "subject": subject_id}
        rows = await session.run(Statement(queries("recall")["read_subject"], params))
        return rows[0][0] if rows else []

    perform(speakers(store.session("acme"), "ana"))      # from synchronous code, on a Store
    await speakers(async_store.session("acme"), "ana")   # from asyncio, on an AsyncStore

Each call of `run` or `run_all` is one round trip and one transaction. An operation that must read, decide and write in
one transaction opens it with `transaction()`. Between calls the session holds no connection, so a slow call (`offload`,
`wait`), such as one to a model, never occupies one.

- `interface`: `TenantSession` and `Transaction`; `perform`
- `statement`: `Statement`, a query with the type of its rows
- `blocking`, `on_asyncio`: the sessions without and with asyncio
- `pipeline`: several statements in one round trip, for asyncio
- `piggyback`: statements sent with those of another operation
"""

from reverie.store.session.interface import TenantSession, Transaction, perform
from reverie.store.session.statement import Statement

__all__ = ["Statement", "TenantSession", "Transaction", "perform"]
