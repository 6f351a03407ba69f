"""More than one database a test, and the compact history as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from psycopg.sql import SQL, Identifier

from reverie.store.connect import connect
from reverie.store.database import Store
from tests.promises import compact

Databases = Callable[[], AbstractContextManager[str]]


@pytest.fixture(scope="session")
def databases(server_url: str, run_directory: Path, template: str) -> Databases:
    """Makes a migrated, empty database that lives as long as a `with` block."""

    @contextmanager
    def make() -> Iterator[str]:
        name = f"{run_directory.name}_{uuid4().hex[:12]}"
        with connect(server_url) as admin:
            admin.execute(SQL("create database {} template {}").format(Identifier(name), Identifier(template)))
        try:
            yield urlsplit(server_url)._replace(path=f"/{name}").geturl()
        finally:
            with connect(server_url) as admin:
                admin.execute(SQL("drop database {} with (force)").format(Identifier(name)))

    return make


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compact history."""
    return compact.write_history(tmp_path_factory.mktemp("compact") / "history.jsonl")


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """This test's database, as the worker."""
    with Store.open(database_url, size=2) as opened:
        yield opened
