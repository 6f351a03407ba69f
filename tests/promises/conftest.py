"""The compact history as a file and worked in, and a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.testing import DatabaseFactory
from tests.promises import compact
from tests.promises.world import consolidate

#: Returns the name of the database in which the compact history was worked in by a policy up to a time: to copy.
WorkedIn = Callable[[Policy, datetime], str]


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compact history."""
    return compact.write_history(tmp_path_factory.mktemp("compact") / "history.jsonl")


@pytest.fixture(scope="session")
def worked_in(database_factory: DatabaseFactory, history: Path) -> WorkedIn:
    """Works the compact history in once for all tests that begin with the same policy and time; all is in the log."""

    def name(policy: Policy, until: datetime) -> str:
        def work_in(url: str) -> None:
            with Store.open(url, size=1) as store:
                import_file(store, history, tenant_id=compact.TENANT, now=compact.UNTIL)
                consolidate(store, compact.TENANT, policy, until)

        key = sha256(f"{policy.model_dump_json()} {until.isoformat()}".encode()).hexdigest()
        return database_factory.prepared(f"compact_{key[:16]}", work_in)

    return name


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """This test's database, as the worker."""
    with Store.open(database_url, size=2) as opened:
        yield opened
