"""An operation written once: the same result and the same transactions without and with asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import TransactionStatus
from psycopg_pool import PoolTimeout

from reverie.errors import DatabaseError, InputError
from reverie.store.database import AsyncStore, Store
from reverie.store.session import TenantSession, perform
from reverie.store.session.piggyback import Piggyback
from reverie.store.session.statement import Statement, numbered

TENANT = "acme"
BOUND = Statement("select current_setting('reverie.tenant')")
TRANSACTION = Statement("select pg_current_xact_id()::text")
FAILS = Statement("select 1 / 0")
#: What another connection sees of those of the test's database.
OPEN_TRANSACTIONS = (
    "select count(*) from pg_stat_activity where datname = current_database() and xact_start is not null"
    " and pid <> pg_backend_pid()"
)

Operation = Callable[[TenantSession], Coroutine[Any, Any, Any]]
Run = Callable[..., Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest, database_url: str) -> Iterator[Run]:
    """Runs an operation for a tenant, either way; there is one connection."""
    if request.param == "sync":
        with Store.open(database_url, size=1) as store:
            yield lambda operation, tenant=TENANT: perform(operation(store.session(tenant)))
    else:

        async def once(operation: Operation, tenant: str) -> Any:
            async with await AsyncStore.open(database_url, role="worker", size=1) as store:
                return await operation(store.session(tenant))

        yield lambda operation, tenant=TENANT: asyncio.run(once(operation, tenant))


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


def test_a_statement_acts_for_the_tenant(run: Run, conn: psycopg.Connection[Any]) -> None:
    conn.execute("insert into ops.tenants (tenant_id) values ('acme'), ('other')")
    reader = Statement("select tenant_id from log.turns union all select %(x)s || '%%'", {"x": "a"})
    assert run(running(reader)) == [("a%",)]
    assert run(running(BOUND)) == [(TENANT,)]


def test_a_statement_is_stored_when_it_returns_and_may_have_no_rows(run: Run, conn: psycopg.Connection[Any]) -> None:
    async def operation(session: TenantSession) -> Any:
        rows = await session.run(add(TENANT))
        return rows, tenants(conn)

    assert run(operation) == ([], [TENANT])


def test_statements_of_one_call_are_one_transaction(run: Run, conn: psycopg.Connection[Any]) -> None:
    async def operation(session: TenantSession) -> Any:
        (first,), (second,), bound = await session.run_all(TRANSACTION, TRANSACTION, BOUND)
        (third,) = await session.run(TRANSACTION)
        return first == second, second == third, bound

    assert run(operation) == (True, False, [(TENANT,)])
    with pytest.raises(errors.DivisionByZero):
        run(running(add(TENANT), FAILS))
    assert tenants(conn) == []


def test_round_trips_in_a_block_are_one_transaction(run: Run, conn: psycopg.Connection[Any]) -> None:
    async def operation(session: TenantSession) -> Any:
        async with session.transaction() as transaction:
            (first,) = await transaction.run(TRANSACTION)
            (second,), bound = await transaction.run_all(TRANSACTION, BOUND)
            await transaction.run(add(TENANT))
            before = tenants(conn)
            last = await transaction.commit(Statement("select 1 as x", row=dict))
            after = tenants(conn)
        return first == second, bound, before, last, after

    assert run(operation) == (True, [(TENANT,)], [], [{"x": 1}], [TENANT])


def test_a_block_commits_at_its_end_and_may_be_empty(run: Run, conn: psycopg.Connection[Any]) -> None:
    async def operation(session: TenantSession) -> Any:
        async with session.transaction():
            pass
        async with session.transaction() as transaction:
            await transaction.run(add(TENANT))
        return tenants(conn)

    assert run(operation) == [TENANT]


def test_several_statements_may_go_out_with_the_commit(run: Run, conn: psycopg.Connection[Any]) -> None:
    async def operation(session: TenantSession) -> Any:
        async with session.transaction() as transaction:
            _, bound = await transaction.commit_all(add(TENANT), BOUND)
            return bound, tenants(conn)

    assert run(operation) == ([(TENANT,)], [TENANT])


def test_nothing_runs_in_a_transaction_after_its_commit(run: Run, conn: psycopg.Connection[Any]) -> None:
    async def operation(session: TenantSession) -> Any:
        async with session.transaction() as transaction:
            await transaction.commit(add(TENANT))
            with pytest.raises(RuntimeError, match="ended"):
                await transaction.run(add("other"))
            await transaction.commit(BOUND)

    with pytest.raises(RuntimeError, match="ended"):
        run(operation)
    assert tenants(conn) == [TENANT]


def test_no_connection_is_held_outside_a_transaction(run: Run, conn: psycopg.Connection[Any]) -> None:
    def count() -> Any:
        return conn.execute(OPEN_TRANSACTIONS).fetchone()

    async def operation(session: TenantSession, executor: ThreadPoolExecutor) -> Any:
        await session.run(TRANSACTION)
        called = await session.offload(count)
        future = executor.submit(count)
        return called, await session.wait(future, 20), await session.wait(future, 0), await session.run(BOUND)

    with ThreadPoolExecutor(1) as executor:
        assert run(lambda session: operation(session, executor)) == ((0,), (0,), (0,), [(TENANT,)])


def test_in_a_transaction_nothing_else_is_done(run: Run, conn: psycopg.Connection[Any]) -> None:
    """A model that is called there would hold a connection, and a second transaction might wait for one for ever."""
    done: Future[int] = Future()
    done.set_result(1)
    others: list[Operation] = [
        lambda session: session.offload(lambda: 1),
        lambda session: session.wait(done, 1),
        running(BOUND),
        lambda session: session.run_all(BOUND, BOUND),
        nested,
    ]
    for other in others:

        async def operation(session: TenantSession, other: Operation = other) -> None:
            async with session.transaction() as transaction:
                await transaction.run(add(TENANT))
                await other(session)

        with pytest.raises(RuntimeError, match="is open"):
            run(operation)
    assert tenants(conn) == []
    assert run(running(BOUND)) == [(TENANT,)]


async def nested(session: TenantSession) -> None:
    async with session.transaction():
        pass


def test_an_error_of_what_is_offloaded_is_raised_and_may_be_caught(run: Run) -> None:
    async def operation(session: TenantSession) -> Any:
        try:
            await session.offload(lambda divisor: 1 / divisor, 0)
        except ZeroDivisionError:
            return await session.run(BOUND)

    assert run(operation) == [(TENANT,)]


def test_waiting_ends_in_time_and_cancels_nothing(run: Run) -> None:
    late: Future[str] = Future()

    async def operation(session: TenantSession) -> Any:
        missed = 0
        for seconds in (0.01, 0, -1):
            try:
                await session.wait(late, seconds)
            except TimeoutError:
                missed += 1
        return missed, await session.run(BOUND)

    assert run(operation) == (3, [(TENANT,)])
    assert not late.cancelled()
    failed: Future[str] = Future()
    failed.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        run(lambda session: session.wait(failed, 1))


@pytest.mark.parametrize("with_commit", [False, True])
def test_an_error_rolls_the_transaction_back(run: Run, conn: psycopg.Connection[Any], with_commit: bool) -> None:
    async def in_postgres(session: TenantSession) -> None:
        async with session.transaction() as transaction:
            await transaction.run(add(TENANT))
            await (transaction.commit if with_commit else transaction.run)(add(TENANT))

    async def in_between(session: TenantSession) -> None:
        async with session.transaction() as transaction:
            await transaction.run(add(TENANT))
            raise ValueError("seen too late")

    async def hidden(session: TenantSession) -> None:
        async with session.transaction() as transaction:
            await transaction.run(add(TENANT))
            with suppress(errors.DivisionByZero):  # Postgres would make a rollback of the commit and say nothing
                await transaction.run(FAILS)

    for operation, expected in (
        (in_postgres, errors.UniqueViolation),
        (in_between, ValueError),
        (hidden, RuntimeError),
    ):
        with pytest.raises(expected):
            run(operation)
    assert tenants(conn) == []
    assert run(running(BOUND)) == [(TENANT,)], "the connection serves on"


@dataclass(frozen=True)
class Pair:
    x: int
    y: str


def test_rows_may_be_objects(run: Run) -> None:
    assert run(running(Statement("select 1 as x, 'a' as y", row=dict))) == [{"x": 1, "y": "a"}]
    assert run(running(Statement("select 1 as x, 'a' as y", row=Pair))) == [Pair(1, "a")]


def test_another_tenants_row_is_refused(run: Run) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        run(running(add("other")))


def test_a_tenant_has_a_name(run: Run) -> None:
    with pytest.raises(InputError, match="name"):
        run(running(BOUND), tenant="")


def test_statements_travel_with_the_first_ones_of_another_operation(run: Run) -> None:
    async def operation(session: TenantSession) -> Any:
        piggyback = Piggyback(session, (BOUND, TRANSACTION))
        (first,), (second,) = await piggyback.run_all(TRANSACTION, TRANSACTION)
        (third,) = await piggyback.run(TRANSACTION)
        bound, (fourth,) = await piggyback.rows()
        return bound, first == second == fourth, third == fourth, await piggyback.offload(lambda: 1)

    assert run(operation) == ([(TENANT,)], True, False, 1)


def test_statements_travel_alone_where_the_other_operation_has_none(run: Run) -> None:
    async def operation(session: TenantSession) -> Any:
        piggyback = Piggyback(session, (BOUND, TRANSACTION))
        return await piggyback.rows() == await piggyback.rows()

    assert run(operation)


def test_an_asyncio_operation_is_not_performed_without_a_loop() -> None:
    async def sleeps() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="event loop"):
        perform(sleeps())


def test_numbers_stand_for_names() -> None:
    assert numbered("a %(x)s b %(y)s c %(x)s 5 %%") == ("a $1 b $2 c $1 5 %", ("x", "y"))


@pytest.mark.anyio
async def test_a_commit_is_announced_before_it_is_sent(database_url: str, conn: psycopg.Connection[Any]) -> None:
    announced: list[list[str]] = []
    async with await AsyncStore.open(database_url, role="worker", size=1) as store:
        session = store.session(TENANT, on_commit=lambda: announced.append(tenants(conn)))
        async with session.transaction() as transaction:
            await transaction.run(BOUND)
            assert announced == []
            await transaction.commit(add(TENANT))
        assert announced == [[]]
        async with session.transaction() as transaction:
            await transaction.run(Statement("delete from ops.tenants"))
        assert announced == [[], [TENANT]]
        await session.run(add(TENANT))
        assert announced == [[], [TENANT], []]


@pytest.mark.anyio
async def test_tenants_at_once_never_meet(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=3) as store:

        async def twice(session: TenantSession) -> Any:
            first = await session.run(BOUND)
            await session.offload(lambda: None)
            return first + await session.run(BOUND)

        names = [f"tenant-{number}" for number in range(60)]
        rows = await asyncio.gather(*(twice(store.session(name)) for name in names))
        assert rows == [[(name,), (name,)] for name in names]
        async with store.connection() as conn:
            cursor = await conn.execute("select current_setting('reverie.tenant', true)")
            assert await cursor.fetchone() == ("",)


@pytest.mark.anyio
async def test_connections_are_lent_in_turn(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=1, timeout=0.2) as store:
        served: list[int] = []

        async def ask(number: int) -> None:
            async with store.connection():
                served.append(number)
                await asyncio.sleep(0)

        async with store.connection():
            waiting = [asyncio.create_task(ask(number)) for number in range(5)]
            await asyncio.sleep(0)
            assert store.figures()["requests_waiting"] == 5
        await asyncio.gather(*waiting)
        assert served == [0, 1, 2, 3, 4]
        async with store.connection():
            with pytest.raises(PoolTimeout):
                await store.session(TENANT).run(BOUND)
            assert store.figures()["pool_available"] == 0
        assert await store.session(TENANT).run(BOUND) == [(TENANT,)]
        assert (store.figures()["requests_waiting"], store.figures()["pool_available"]) == (0, 1)


@pytest.mark.anyio
async def test_the_connection_used_last_is_lent_first(database_url: str) -> None:
    backend = Statement("select pg_backend_pid()")
    async with await AsyncStore.open(database_url, role="reader", size=3) as store:
        session = store.session(TENANT)
        used = {(await session.run(backend))[0][0] for _ in range(6)}
        assert len(used) == 1
        async with store.connection():  # what is in use is not lent again
            assert not {(await session.run(backend))[0][0]} & used


@pytest.mark.anyio
async def test_an_old_connection_is_replaced(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Statement("select pg_backend_pid()")
    async with await AsyncStore.open(database_url, role="reader", size=1) as store:
        (young,) = await store.session(TENANT).run(backend)
        now = time.monotonic
        monkeypatch.setattr("reverie.store.database.time.monotonic", lambda: now() + 3601)
        (old,) = await store.session(TENANT).run(backend)
        assert old != young


@pytest.mark.anyio
async def test_an_error_leaves_no_transaction_open(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=1) as store:
        with pytest.raises(KeyError):
            async with store.session(TENANT).transaction() as transaction:
                await transaction.run(BOUND)
                raise KeyError("ours")
        async with store.connection() as conn:
            assert conn.info.transaction_status == TransactionStatus.IDLE


@pytest.mark.anyio
async def test_an_operation_that_is_cancelled_gives_its_connection_back(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=1) as store:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await store.session(TENANT).run(Statement("select pg_sleep(20)::text"))
        async with asyncio.timeout(5):
            assert await store.session(TENANT).run(BOUND) == [(TENANT,)]


@pytest.mark.anyio
async def test_a_slow_statement_is_cut_off(database_url: str) -> None:
    async with await AsyncStore.open(database_url, size=1, statement_seconds=0.1) as store:
        with pytest.raises(errors.QueryCanceled):
            await store.session(TENANT).run(Statement("select pg_sleep(20)::text"))


@pytest.mark.anyio
async def test_a_server_that_is_away_is_reported_at_once() -> None:
    with pytest.raises(DatabaseError, match="No Postgres answers"):
        async with await AsyncStore.open("postgresql://nobody@127.0.0.1:1/none"):
            pass
