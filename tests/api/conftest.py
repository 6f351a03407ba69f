"""The API as a caller meets it, on a database of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from reverie.api.app import create_app
from reverie.api.keys import KeyScope, add_key
from reverie.settings import Settings
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import Corpus

MakeKey = Callable[..., str]


def settings_for(url: str, **given: Any) -> Settings:
    """One connection a role, no embedding model unless one is asked for."""
    chosen = {"embedding_model": "none", "threads": 1, "api_connections": 1} | given
    return Settings.model_validate({"DATABASE_URL": SecretStr(url)} | chosen)


@pytest.fixture
def make_key(database_url: str) -> Iterator[MakeKey]:
    """Makes a key of a tenant and returns its text."""
    with Store.open(database_url, size=1) as store:

        def make(tenant: str = "acme", *, scopes: Sequence[KeyScope] = ("read", "write"), **given: Any) -> str:
            made = add_key(
                store.session(tenant),
                name="test",
                scopes=scopes,
                policy="reverie",
                **({"made_at": datetime.now(UTC)} | given),
            )
            return perform(made)[1]

        yield make


@pytest.fixture
def app(database_url: str) -> Iterator[TestClient]:
    """The app, started; requests need a key of their own."""
    with TestClient(create_app(settings_for(database_url))) as client:
        yield client


@pytest.fixture
def api(app: TestClient, make_key: MakeKey) -> TestClient:
    """The app with a key of tenant acme that reads and writes."""
    app.headers["Authorization"] = f"Bearer {make_key()}"
    return app


def until_logged(api: TestClient) -> None:
    """Wait until what was answered is in the log."""
    assert api.portal is not None and isinstance(api.app, FastAPI)
    api.portal.call(api.app.state.services.journal.end)


@pytest.fixture
def corpus(conn: psycopg.Connection[Any]) -> Corpus:
    """Memories of subject ann of tenant acme, written one by one."""
    return Corpus(conn)
