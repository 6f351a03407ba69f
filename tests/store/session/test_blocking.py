"""Sessions of synchronous code do everything where they are called."""

from __future__ import annotations

import threading

import pytest
from psycopg.pq import TransactionStatus

from reverie.store.database import Store
from reverie.store.session import TenantSession, perform
from tests.store.session.operations import BOUND, TENANT


def test_what_is_offloaded_runs_in_the_callers_thread(database_url: str) -> None:
    with Store.open(database_url, size=1) as store:
        assert perform(store.session(TENANT).offload(threading.get_ident)) == threading.get_ident()


def test_an_error_leaves_no_transaction_open(database_url: str) -> None:
    async def fails(session: TenantSession) -> None:
        async with session.transaction() as transaction:
            await transaction.run(BOUND)
            raise KeyError("ours")

    with Store.open(database_url, size=1) as store:
        with pytest.raises(KeyError):
            perform(fails(store.session(TENANT)))
        with store.transaction(TENANT) as conn:
            pass
        assert conn.info.transaction_status == TransactionStatus.IDLE
