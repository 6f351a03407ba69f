"""An operation written once: the same answer and the same transactions without and with asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.pq import TransactionStatus
from psycopg_pool import PoolTimeout

from reverie.errors import DatabaseError, InputError
from reverie.store.database import AsyncStore, Store
from reverie.store.steps import Awaited, Outside, Statement, Steps, numbered, perform, perform_async

TENANT = "acme"
SEEN = Statement("select tenant_id, policy from ops.tenants")
BOUND = Statement("select current_setting('reverie.tenant')", last=True)
TRANSACTION = Statement("select pg_current_xact_id()::text")

Run = Callable[..., Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest, database_url: str) -> Iterator[Run]:
    """Runs an operation for a tenant, either way."""
    if request.param == "sync":
        with Store.open(database_url, size=1) as store:
            yield lambda steps, tenant=TENANT: perform(store, tenant, steps)
    else:

        async def once(steps: Steps[Any], tenant: str) -> Any:
            async with await AsyncStore.open(database_url, role="worker", size=1) as store:
                return await perform_async(store, tenant, steps)

        yield lambda steps, tenant=TENANT: asyncio.run(once(steps, tenant))


def known(name: str, *, last: bool = False) -> Statement:
    return Statement("insert into ops.tenants (tenant_id) values (%(name)s)", {"name": name}, last=last)


def one(statement: Statement | Outside | Awaited) -> Steps[Any]:
    return (yield statement)


def test_a_single_statement_acts_for_the_tenant(run: Run, conn: psycopg.Connection[Any]) -> None:
    conn.execute("insert into ops.tenants (tenant_id) values ('acme'), ('other')")
    reader = Statement("select tenant_id from log.turns union all select %(x)s || '%%'", {"x": "a"}, last=True)
    assert run(one(reader)) == [("a%",)]
    assert run(one(BOUND)) == [("acme",)]


def test_what_returns_nothing_gives_no_rows(run: Run, conn: psycopg.Connection[Any]) -> None:
    for last in (False, True):
        conn.execute("delete from ops.tenants")
        assert run(one(known(TENANT, last=last))) == []
        assert conn.execute("select tenant_id from ops.tenants").fetchall() == [(TENANT,)]


def test_several_statements_are_one_transaction(run: Run) -> None:
    def steps() -> Steps[Any]:
        first = yield TRANSACTION
        both = yield TRANSACTION, BOUND
        return first, both

    first, (second, tenant) = run(steps())
    assert first == second
    assert tenant == [(TENANT,)]


def test_outside_holds_no_connection_and_ends_the_transaction(run: Run, conn: psycopg.Connection[Any]) -> None:
    def open_transactions() -> Any:
        return conn.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and xact_start is not null"
            " and pid <> pg_backend_pid()"
        ).fetchone()

    def steps() -> Steps[Any]:
        before = yield TRANSACTION
        outside = yield Outside(open_transactions)
        after = yield TRANSACTION
        return before != after, outside

    assert run(steps()) == (True, (0,))


def test_an_error_outside_is_raised_inside(run: Run) -> None:
    def steps() -> Steps[Any]:
        try:
            yield Outside(lambda: 1 / 0)
        except ZeroDivisionError:
            return (yield BOUND)

    assert run(steps()) == [(TENANT,)]
    with pytest.raises(ZeroDivisionError):
        run(one(Outside(lambda: 1 / 0)))


def test_what_is_awaited_holds_no_connection(run: Run, conn: psycopg.Connection[Any]) -> None:
    def open_transactions() -> Any:
        return conn.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and xact_start is not null"
            " and pid <> pg_backend_pid()"
        ).fetchone()

    def steps(later: ThreadPoolExecutor) -> Steps[Any]:
        yield TRANSACTION
        seen = yield Outside(lambda: later.submit(open_transactions))
        return (yield Awaited(seen, 20)), (yield Awaited(seen, 0)), (yield BOUND)

    with ThreadPoolExecutor(1) as later:
        assert run(steps(later)) == ((0,), (0,), [(TENANT,)])


def test_what_does_not_come_in_time_is_left(run: Run) -> None:
    late: Future[str] = Future()

    def steps() -> Steps[Any]:
        missed = 0
        for seconds in (0.01, 0, -1):
            try:
                yield Awaited(late, seconds)
            except TimeoutError:
                missed += 1
        return missed, (yield BOUND)

    assert run(steps()) == (3, [(TENANT,)])
    assert not late.cancelled()
    failed: Future[str] = Future()
    failed.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        run(one(Awaited(failed, 1)))


@pytest.mark.parametrize("last", [False, True])
def test_an_error_undoes_the_transaction(run: Run, conn: psycopg.Connection[Any], last: bool) -> None:
    def fails_in_postgres() -> Steps[None]:
        yield known(TENANT)
        yield known(TENANT, last=last)

    def fails_in_between() -> Steps[None]:
        yield known(TENANT)
        raise ValueError("seen too late")

    with pytest.raises(errors.UniqueViolation):
        run(fails_in_postgres())
    with pytest.raises(ValueError, match="too late"):
        run(fails_in_between())
    assert conn.execute("select tenant_id from ops.tenants").fetchall() == []
    assert run(one(BOUND)) == [(TENANT,)], "the connection serves on"


def test_a_row_may_be_made_an_object(run: Run) -> None:
    assert run(one(Statement("select 1 as x", row=dict, last=True))) == [{"x": 1}]


def test_another_tenants_row_is_refused(run: Run) -> None:
    for last in (False, True):
        with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
            run(one(known("other", last=last)))


def test_a_tenant_has_a_name(run: Run) -> None:
    with pytest.raises(InputError, match="name"):
        run(one(BOUND), tenant="")


def test_a_generator_is_closed_when_its_statement_fails(run: Run) -> None:
    closed = []

    def steps() -> Steps[None]:
        try:
            yield Statement("select 1 / 0", last=True)
        finally:
            closed.append(True)

    with pytest.raises(errors.DivisionByZero):
        run(steps())
    assert closed == [True]


def test_numbers_stand_for_names() -> None:
    assert numbered("a %(x)s b %(y)s c %(x)s 5 %%") == ("a $1 b $2 c $1 5 %", ("x", "y"))


@pytest.mark.anyio
async def test_tenants_at_once_never_meet(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=3) as store:

        def twice() -> Steps[Any]:
            first = yield Statement(BOUND.sql)
            yield Outside(lambda: None)
            return first + (yield BOUND)

        names = [f"tenant-{number}" for number in range(60)]
        found = await asyncio.gather(*(perform_async(store, name, twice()) for name in names))
        assert found == [[(name,), (name,)] for name in names]
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
                await perform_async(store, TENANT, one(BOUND))
        assert await perform_async(store, TENANT, one(BOUND)) == [(TENANT,)]
        assert store.figures()["requests_waiting"] == 0


@pytest.mark.anyio
async def test_the_connection_used_last_is_lent_first(database_url: str) -> None:
    backend = Statement("select pg_backend_pid()", last=True)
    async with await AsyncStore.open(database_url, role="reader", size=3) as store:
        used = {(await perform_async(store, TENANT, one(backend)))[0][0] for _ in range(6)}
        assert len(used) == 1
        async with store.connection():  # what is in use is not lent again
            assert not {(await perform_async(store, TENANT, one(backend)))[0][0]} & used


@pytest.mark.anyio
async def test_what_an_error_leaves_begun_is_undone(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=1) as store:

        def failing() -> Steps[Any]:
            yield Statement(BOUND.sql)
            raise KeyError("ours")

        with pytest.raises(KeyError):
            await perform_async(store, TENANT, failing())
        async with store.connection() as conn:
            assert conn.info.transaction_status == TransactionStatus.IDLE


@pytest.mark.anyio
async def test_an_operation_that_is_cancelled_gives_its_connection_back(database_url: str) -> None:
    async with await AsyncStore.open(database_url, role="reader", size=1) as store:
        slow = Statement("select pg_sleep(20)::text", last=True)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await perform_async(store, TENANT, one(slow))
        async with asyncio.timeout(5):
            assert await perform_async(store, TENANT, one(BOUND)) == [(TENANT,)]


@pytest.mark.anyio
async def test_a_slow_statement_is_cut_off(database_url: str) -> None:
    async with await AsyncStore.open(database_url, size=1, statement_seconds=0.1) as store:
        with pytest.raises(errors.QueryCanceled):
            await perform_async(store, TENANT, one(Statement("select pg_sleep(20)::text", last=True)))


@pytest.mark.anyio
async def test_a_server_that_is_away_is_said_so_at_once() -> None:
    with pytest.raises(DatabaseError, match="No Postgres answers"):
        async with await AsyncStore.open("postgresql://nobody@127.0.0.1:1/none"):
            pass
