"""An operation written once: the same result and the same transactions without and with asyncio."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from psycopg import errors

from reverie.errors import InputError
from reverie.store.session import Statement, TenantSession, perform
from tests.store.session.operations import BOUND, FAILS, TENANT, TRANSACTION, Operation, Run, add, running, tenants

#: What another connection sees of those of the test's database.
OPEN_TRANSACTIONS = (
    "select count(*) from pg_stat_activity where datname = current_database() and xact_start is not null"
    " and pid <> pg_backend_pid() and backend_type = 'client backend'"  # no autovacuum
)


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


def test_another_tenants_row_is_refused(run: Run) -> None:
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        run(running(add("other")))


def test_a_tenant_has_a_name(run: Run) -> None:
    with pytest.raises(InputError, match="name"):
        run(running(BOUND), tenant="")


def test_an_asyncio_operation_is_not_performed_without_a_loop() -> None:
    async def sleeps() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="event loop"):
        perform(sleeps())
