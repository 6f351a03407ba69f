"""Either kind of session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from reverie.store.database import AsyncStore, Store
from reverie.store.session import perform
from tests.store.session.operations import TENANT, Operation, Run


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
