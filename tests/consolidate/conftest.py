"""A store for each test, empty or with the shipped sample in its log."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from reverie.capture.history.importing import import_file
from reverie.store.database import Store
from reverie.testing import DatabaseFactory
from tests.conftest import Databases
from tests.promises.world import SAMPLE


@pytest.fixture(scope="session")
def logged(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with the shipped sample in the log of tenant `t`: to copy."""
    records = [json.loads(line) | {"tenant_id": "t"} for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    path = tmp_path_factory.mktemp("sample") / "sample.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")

    def take_in(url: str) -> None:
        with Store.open(url, size=1) as store:
            import_file(store, path, tenant_id="t", now=datetime(2026, 9, 1, tzinfo=UTC))

    return database_factory.prepared("sample_of_t", take_in)


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """The sample is in the log where a test asks for `told`."""
    return {"told": "logged"}


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """A worker's store on this test's database."""
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture
def told(store: Store) -> Store:
    """The shipped sample in the log of tenant `t`."""
    return store


@pytest.fixture
def other_store(databases: Databases) -> Iterator[Store]:
    """A second database: ids are made of the tenant, so the same tenant is needed twice."""
    with databases() as url, Store.open(url) as opened:
        yield opened


@pytest.fixture
def tenant(store: Store) -> Store:
    """A store that knows the tenant `t`."""
    with store.transaction("t") as conn:
        conn.execute("insert into ops.tenants (tenant_id, policy) values ('t', 'contact')")
    return store
