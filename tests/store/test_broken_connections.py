"""Whatever happens on a connection, the next operation works: one that is out of step with its server is not reused."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from psycopg import OperationalError

from reverie.store.database import AsyncStore
from reverie.store.session import Statement

pytestmark = pytest.mark.anyio
TENANTS = ("acme", "other", "third")
BOUND = Statement("select current_setting('reverie.tenant'), current_user::text")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class OursError(Exception):
    """An operation's own error, such as an unknown id."""


async def not_found(store: AsyncStore, tenant: str) -> None:
    async with store.session(tenant).transaction() as transaction:
        await transaction.run(Statement("select 1"))
        raise OursError


async def reads(store: AsyncStore, tenant: str) -> Any:
    return await store.session(tenant).run(BOUND)


@pytest.mark.parametrize("forgets", ["deallocate all", "discard all"])
async def test_a_server_that_forgot_its_statements_is_asked_on_another_connection(
    database_url: str, forgets: str
) -> None:
    async with await AsyncStore.open(database_url, size=3) as store:
        for _ in range(2):
            await asyncio.gather(*(reads(store, tenant) for tenant in TENANTS))  # all three have prepared statements
            lent = [store.connection() for _ in range(3)]
            for each in [await one.__aenter__() for one in lent]:
                await each.execute(forgets)
            for one in lent:
                await one.__aexit__(None, None, None)
            # its role would be another's after `discard all`, and rows of all tenants might be seen
            assert await asyncio.gather(*(reads(store, tenant) for tenant in TENANTS * 3)) == [
                [(tenant, "reverie_reader")] for tenant in TENANTS * 3
            ]


async def test_a_transaction_begins_on_a_connection_that_remembers(database_url: str) -> None:
    async with await AsyncStore.open(database_url, size=1) as store:
        for forgets in ("deallocate all", "discard all"):
            await reads(store, "acme")
            async with store.connection() as conn:
                await conn.execute(forgets)
            async with store.session("acme").transaction() as transaction:
                assert await transaction.run(BOUND) == [("acme", "reverie_reader")]
                assert await transaction.commit(BOUND) == [("acme", "reverie_reader")]


async def test_a_new_connection_that_was_reset_is_not_used(database_url: str) -> None:
    async with await AsyncStore.open(database_url, size=1) as store:
        async with store.connection() as conn:
            await conn.execute("discard all")
        assert await reads(store, "acme") == [("acme", "reverie_reader")]


async def test_statements_stay_prepared_after_a_rollback(database_url: str) -> None:
    async with await AsyncStore.open(database_url, size=1) as store:
        for _ in range(8):  # psycopg would prepare it, and deallocate all after a rollback
            async with store.connection() as conn:
                await conn.execute("select 1")
        async with store.connection() as conn:
            backend = conn.info.backend_pid
        with pytest.raises(OursError):
            await not_found(store, "acme")
        assert await reads(store, "other") == [("other", "reverie_reader")]
        async with store.connection() as conn:
            assert conn.info.backend_pid == backend


async def test_statements_before_are_lost_with_the_session_and_not_done_twice(
    database_url: str, conn: psycopg.Connection[Any]
) -> None:
    """A transaction that has begun is not repeated: its operation has read what may be otherwise now."""
    insert = Statement("insert into ops.tenants (tenant_id) values (current_setting('reverie.tenant'))")
    async with await AsyncStore.open(database_url, role="worker", size=1) as store:
        await store.session("acme").run(Statement("select 2"))

        with pytest.raises(OperationalError, match="session"):
            async with store.session("acme").transaction() as transaction:
                await transaction.run(insert)
                await transaction.run(Statement("deallocate all"))
                await transaction.commit(Statement("select 2"))
        assert await reads(store, "acme") == [("acme", "reverie_worker")]
    assert conn.execute("select count(*) from ops.tenants").fetchone() == (0,)


async def test_a_plan_that_no_longer_fits_its_table_is_made_anew(
    database_url: str, conn: psycopg.Connection[Any]
) -> None:
    conn.execute("create table public.t (x int); grant select on public.t to public")
    every = Statement("select * from public.t")
    async with await AsyncStore.open(database_url, size=1) as store:
        assert await store.session("acme").run(every) == []
        conn.execute("alter table public.t add y int default 2; insert into public.t values (1)")
        assert await store.session("acme").run(every) == [(1, 2)]


async def test_a_rollback_that_is_cancelled_or_fails_ends_the_connection(
    database_url: str, conn: psycopg.Connection[Any]
) -> None:
    async with await AsyncStore.open(database_url, size=1) as store:
        with pytest.raises(OursError):
            async with store.connection() as lent:
                await lent.execute("begin")
                conn.execute("select pg_terminate_backend(%s, 5000)", [lent.info.backend_pid])
                raise OursError
        assert lent.closed
        assert await reads(store, "acme") == [("acme", "reverie_reader")]


async def test_a_connection_on_which_something_waits_to_be_read_is_not_lent(
    database_url: str, conn: psycopg.Connection[Any]
) -> None:
    async with await AsyncStore.open(database_url, size=2) as store:
        await asyncio.gather(*(reads(store, tenant) for tenant in TENANTS))
        conn.execute("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
                     " and datname = current_database()")  # fmt: skip
        await asyncio.sleep(0.2)
        for tenant in TENANTS:
            assert await reads(store, tenant) == [(tenant, "reverie_reader")]


@pytest.mark.parametrize("seed", range(4))
async def test_reads_of_every_tenant_work_whatever_happened_before(
    database_url: str, conn: psycopg.Connection[Any], seed: int
) -> None:
    chance = random.Random(seed)

    async def unknown(store: AsyncStore) -> None:
        await not_found(store, chance.choice(TENANTS))

    async def wrong(store: AsyncStore) -> None:
        session = store.session(chance.choice(TENANTS))
        if chance.random() < 0.5:
            await session.run(Statement("select 1 / 0"))
        async with session.transaction() as transaction:
            await transaction.run(Statement("select 1 / 0"))

    async def slow(store: AsyncStore) -> None:
        await store.session(chance.choice(TENANTS)).run(Statement("select pg_sleep(9)::text"))

    async def cancelled(store: AsyncStore) -> None:
        async with asyncio.timeout(chance.random() * 0.02):
            await asyncio.gather(slow(store), unknown(store), unknown(store))

    async def plain(store: AsyncStore) -> None:
        for _ in range(6):
            async with store.connection() as lent:
                await lent.execute("select 1")

    async def forgotten(store: AsyncStore) -> None:
        async with store.connection() as lent:
            await lent.execute(chance.choice(["discard all", "deallocate all"]))

    async def killed(store: AsyncStore) -> None:
        async with store.connection() as lent:
            conn.execute("select pg_terminate_backend(%s, 5000)", [lent.info.backend_pid])

    async def killed_at_work(store: AsyncStore) -> None:
        work = asyncio.create_task(slow(store))
        await asyncio.sleep(0.02)
        conn.execute("select pg_terminate_backend(pid, 5000) from pg_stat_activity where query like 'select pg_sleep%'"
                     " and datname = current_database()")  # fmt: skip
        await work

    happenings: list[Callable[[AsyncStore], Awaitable[None]]] = [
        unknown, wrong, slow, cancelled, plain, forgotten, killed, killed_at_work
    ]  # fmt: skip
    async with await AsyncStore.open(database_url, size=3, statement_seconds=0.3) as store:
        for _ in range(25):
            several = chance.choices(happenings, k=chance.randrange(1, 4))
            await asyncio.gather(*(happens(store) for happens in several), return_exceptions=True)
            found = await asyncio.gather(*(reads(store, tenant) for tenant in TENANTS * 2))
            assert found == [[(tenant, "reverie_reader")] for tenant in TENANTS * 2]
