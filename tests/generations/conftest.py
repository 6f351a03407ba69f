"""A tenant with a history and a memory, and commands about its generations; their databases are removed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from reverie.cli.root import reverie
from reverie.generations.catalog import GenerationPlan, LiveMemory
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, WordEmbedder
from tests.promises import compact

Invoke = Callable[..., Result]
Ask = Callable[..., dict[str, Any]]
AS_OF = compact.UNTIL.isoformat()
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def command(url: str, *arguments: str, env: dict[str, str | None] | None = None) -> Result:
    """Run a command against a database."""
    given = {"DATABASE_URL": url, "REVERIE_TENANT": compact.TENANT, "REVERIE_THREADS": "1"} | (env or {})
    return CliRunner(env=given).invoke(reverie, arguments)


@pytest.fixture(scope="session")
def worked_in(database_factory: DatabaseFactory, history: Path) -> str:
    """The name of a database whose tenant's clock stands at the end of its history, which is memory: to copy."""

    def make(url: str) -> None:
        for arguments in (("import", str(history)), ("clock", "--stop-at", AS_OF), ("run",)):
            done = command(url, *arguments)
            assert done.exit_code == 0, done.output

    return database_factory.prepared("generations", make)


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """The memory is there where a test asks for `remembered`."""
    return {"remembered": "worked_in"}


@pytest.fixture
def invoke(database_url: str) -> Iterator[Invoke]:
    """Run a command against this test's database."""
    call = partial(command, database_url)
    yield call
    left = json.loads(call("generations", "--json").stdout or "{}").get("generations", [])
    for generation in left:
        if generation["state"] != "dropped":
            call("generations", "--drop", str(generation["number"]))


@pytest.fixture
def ask(invoke: Invoke) -> Ask:
    """Run a command with --json and return what it prints."""

    def call(*arguments: str) -> dict[str, Any]:
        result = invoke(*arguments, "--json")
        assert result.exit_code == 0, result.output
        answer: dict[str, Any] = json.loads(result.stdout)
        return answer

    return call


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half a year of two subjects."""
    return compact.write_history(tmp_path_factory.mktemp("compact") / "history.jsonl")


@pytest.fixture
def remembered(ask: Ask) -> dict[str, Any]:
    """The tenant's clock stands at the end of its history, which is memory; its digest."""
    return ask("digest")


@pytest.fixture
def live(database_url: str) -> Iterator[LiveMemory]:
    """A tenant with nothing in its log."""
    with Store.open(database_url, size=1) as store:
        with store.transaction("acme") as writing:
            ensure_tenant(writing, "acme", "reverie")
        work = Work(
            store=store,
            scope=Scope(tenant_id="acme"),
            policy=load_policy("reverie"),
            as_of=NOW,
            embedder=WordEmbedder(),
        )
        yield LiveMemory(work=work, url=database_url)


def plan() -> GenerationPlan:
    """By what a generation of it is made."""
    return GenerationPlan(
        policy_name="reverie", policy=load_policy("reverie"), embedder_name="minilm", embedder=WordEmbedder()
    )
