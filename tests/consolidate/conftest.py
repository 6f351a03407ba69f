"""A store for each test, empty or with the shipped sample in its log."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.store.database import Store
from tests.conftest import Databases
from tests.promises.world import SAMPLE


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """A worker's store on an empty database."""
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture
def told(store: Store, tmp_path: Path) -> Store:
    """The shipped sample in the log of tenant `t`."""
    records = [json.loads(line) | {"tenant_id": "t"} for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    path = tmp_path / "sample.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    import_file(store, path, tenant_id="t", now=datetime(2026, 9, 1, tzinfo=UTC))
    return store


@pytest.fixture
def other_store(databases: Databases) -> Iterator[Store]:
    """A second database: ids are made of the tenant, so the same tenant is needed twice."""
    with databases() as url, Store.open(url) as opened:
        yield opened
