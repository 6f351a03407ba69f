"""The compact history as a file, and a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.store.database import Store
from tests.promises import compact


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compact history."""
    return compact.write_history(tmp_path_factory.mktemp("compact") / "history.jsonl")


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """This test's database, as the worker."""
    with Store.open(database_url, size=2) as opened:
        yield opened
