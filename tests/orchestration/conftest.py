"""A small log of two tenants with different policies, and the jobs that work on it in this process.

Dagster is imported when a test asks for it and not when tests are collected: the import takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Embedder, load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from reverie.testing import DatabaseFactory

if TYPE_CHECKING:
    import dagster as dg

ROOT = Path(__file__).resolve().parents[2]
AS_OF = datetime(2026, 4, 1, tzinfo=UTC)
TENANTS = {"acme": "reverie", "beta": "contact"}

_SAID = [
    ("2026-01-05T09:00:00Z", "s1", "I love spicy ramen, it is my favourite food."),
    ("2026-01-05T09:01:00Z", "s1", "I live in Lisbon with my dog Bruno."),
    ("2026-01-05T09:02:00Z", "s1", "lol"),
    ("2026-02-09T09:00:00Z", "s2", "I can't stand cilantro."),
    ("2026-02-09T09:01:00Z", "s2", "Spicy ramen is my favourite food, I love it."),
    ("2026-03-10T18:30:00Z", "s3", "I went to Porto last weekend with my sister."),
    ("2026-03-10T18:31:00Z", "s3", "Please always keep your answers short."),
]
#: The partitions of the history: every bucket may have a subject.
MONTHS = [f"2026-{month:02d}/{bucket:02d}" for bucket in range(4) for month in (1, 2, 3)]
_SUBJECTS = ("ana", "ben", "cyd", "dov")


def pytest_configure(config: pytest.Config) -> None:
    # Dagster's own: fields of pydantic models by their old name
    config.addinivalue_line("filterwarnings", r"ignore:The `__fields__` attribute is deprecated:DeprecationWarning")
    # dbt's own: what it imports when it counts rows and reads columns in this process
    config.addinivalue_line("filterwarnings", r"ignore:AssetExecutionContext.op is deprecated:DeprecationWarning")
    for kind in ("DeprecationWarning", "ResourceWarning", "PendingDeprecationWarning"):
        config.addinivalue_line("filterwarnings", f"ignore::{kind}:dbt.*")
    # Dagster's own, where it maps the specs of checks
    config.addinivalue_line("filterwarnings", r"ignore:Parameter `execution_type` of function:Warning")


@pytest.fixture(scope="session")
def defs() -> dg.Definitions:
    """Everything that Dagster loads."""
    from assets.definitions import defs

    return defs


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder("minilm", threads=1)


@pytest.fixture(scope="session")
def logged(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with what two tenants' subjects said over three months: to copy."""
    path = tmp_path_factory.mktemp("log") / "history.jsonl"
    with path.open("w") as file:
        for subject in _SUBJECTS:
            for at, session, text in _SAID:
                record = {"subject_id": subject, "session_id": session, "role": "user", "said_at": at, "text": text}
                file.write(json.dumps(record) + "\n")

    def take_in(url: str) -> None:
        with Store.open(url, size=1) as store:
            for tenant_id, policy in TENANTS.items():
                import_file(store, path, tenant_id=tenant_id, policy=policy)

    return database_factory.prepared("assets_log", take_in)


@pytest.fixture(scope="session")
def lived(logged: str, database_factory: DatabaseFactory, embedder: Embedder) -> str:
    """The name of a database with the same log, worked in by the library alone: to copy."""

    def make(url: str) -> None:
        with Store.open(url, size=1) as store:
            live_through(store, embedder)

    return database_factory.prepared("assets_memory", make, template=logged)


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """A database has what the test asks for: `remembered`, `log` or nothing."""
    return {"remembered": "lived", "log": "logged"}


@pytest.fixture
def store(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The database that the resources open as well."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("REVERIE_THREADS", "1")
    with Store.open(database_url) as opened:
        yield opened


@pytest.fixture
def log(store: Store) -> Store:
    """The store with the log."""
    return store


@pytest.fixture
def remembered(store: Store) -> Store:
    """The store with the log worked in."""
    return store


@pytest.fixture
def run_job(defs: dg.Definitions) -> Iterator[Callable[..., dg.ExecuteInProcessResult]]:
    """Run a job of the definitions at AS_OF, with an instance that ends with the test."""
    import dagster as dg

    from assets import runs

    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}

        instance.add_dynamic_partitions("history", MONTHS)

        def run(
            name: str,
            key: str | None = None,
            tags: dict[str, str] | None = None,
            config: dict[str, Any] | None = None,
            **options: Any,
        ) -> Any:
            tags = {runs.AS_OF: runs.as_of_tag(AS_OF)} | (tags or {})
            return defs.resolve_job_def(name).execute_in_process(
                partition_key=key, instance=instance, tags=tags, run_config=quiet | (config or {}), **options
            )

        run.instance = instance
        yield run


def live_through(store: Store, embedder: Embedder) -> None:
    """Bring every tenant to AS_OF without an orchestrator."""
    for tenant_id, policy_name in store.tenants():
        common: dict[str, Any] = {"scope": Scope(tenant_id=tenant_id), "policy": load_policy(policy_name)}
        for _ in ingest(Work(store=store, as_of=AS_OF, embedder=embedder, **common)):
            pass
        for _ in catch_up(Work(store=store, as_of=AS_OF, embedder=embedder, **common)):
            pass


def digests(store: Store) -> dict[str, str]:
    """The digest of each tenant's memory."""
    return {tenant_id: digest(store, tenant_id).sha256 for tenant_id, _ in store.tenants()}


def forget_everything(conn: psycopg.Connection[Any]) -> None:
    """Empty what is derived; the log and the cache of embeddings stay."""
    tables = conn.execute("select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = 'memory'")
    for (table,) in [*tables.fetchall(), ("ops.runs",)]:
        conn.execute(f"truncate {table}")
