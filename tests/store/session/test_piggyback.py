"""Statements that travel with those of another operation."""

from __future__ import annotations

from typing import Any

from reverie.store.session import TenantSession
from reverie.store.session.piggyback import Piggyback
from tests.store.session.operations import BOUND, TENANT, TRANSACTION, Run


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
