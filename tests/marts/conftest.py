"""A database with a small history of two tenants, and dbt run in this process on it.

dbt takes seconds to import and to read its project, so one build serves all tests that only look.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import log_recall, recall
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.server.address import libpq_environment
from reverie.store.session import perform
from reverie.store.work import Work
from reverie.testing import DatabaseFactory

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult

PROJECT = Path(__file__).resolve().parents[2] / "dbt"
AS_OF = datetime(2026, 6, 1, tzinfo=UTC)
TENANTS = {"acme": "reverie", "beta": "contact"}
#: Runs dbt with arguments.
Dbt = Callable[..., "dbtRunnerResult"]

_SAID = [
    ("2026-01-05T09:00:00Z", "s1", "I love spicy ramen, it is my favourite food."),
    ("2026-01-05T09:01:00Z", "s1", "I live in Lisbon with my dog Bruno."),
    ("2026-01-05T09:02:00Z", "s1", "lol"),
    ("2026-01-20T09:00:00Z", "s2", "I went to Porto last weekend with my sister."),
    ("2026-02-09T09:01:00Z", "s3", "Spicy ramen is my favourite food, I love it."),
    ("2026-03-10T23:59:00Z", "s4", "I moved to Berlin, I live in Berlin now."),
    ("2026-03-11T18:31:00Z", "s4", "Please always keep your answers short."),
]


def pytest_configure(config: pytest.Config) -> None:
    # Dagster's own: fields of pydantic models by their old name
    config.addinivalue_line("filterwarnings", r"ignore:The `__fields__` attribute is deprecated:DeprecationWarning")
    # dbt's own: what it imports, and connections and log files that it leaves to the garbage collector
    for kind in ("DeprecationWarning", "ResourceWarning", "PendingDeprecationWarning"):
        config.addinivalue_line("filterwarnings", f"ignore::{kind}:dbt.*")


@pytest.fixture(scope="session")
def history(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database in which both tenants' history was worked in, and something was asked of each."""
    path = tmp_path_factory.mktemp("marts") / "history.jsonl"
    path.write_text("".join(turn(subject, *said) for subject in ("ana", "ben") for said in _SAID))

    def make(url: str) -> None:
        embedder = load_embedder("minilm", threads=1)
        with Store.open(url) as store:
            for tenant_id, policy in TENANTS.items():
                import_file(store, path, tenant_id=tenant_id, policy=policy)
            for tenant_id, name in TENANTS.items():
                policy = load_policy(name)
                work = Work(
                    store=store, scope=Scope(tenant_id=tenant_id), policy=policy, as_of=AS_OF, embedder=embedder
                )
                for _ in (*ingest(work), *catch_up(work)):
                    pass
                session = store.session(tenant_id)
                for subject in ("ana", "nobody"):
                    query = RecallQuery(text="Where does she live?", subject_id=subject, as_of=AS_OF)
                    found = perform(recall(session, query, policy=policy, embedder=embedder))
                    perform(log_recall(session, found))
        with connect(url) as conn:
            # dbt's own tests allow for turns of the last day, and for memories that are read in it
            conn.execute("update log.turns set recorded_at = recorded_at - interval '2 days'")
            # as if one had been beyond the budget, which this history does not reach
            conn.execute(
                """update memory.tombstones set reason = 'budget'
                   where memory_id = (select memory_id from memory.tombstones where tenant_id = 'beta' limit 1)"""
            )

    return database_factory.prepared("marts_history", make)


@pytest.fixture(scope="session")
def dbt(tmp_path_factory: pytest.TempPathFactory) -> Dbt:
    """Run dbt in this process as a data team on the database of a URL; fails unless it succeeds."""
    target = tmp_path_factory.mktemp("target")

    def run(url: str, *arguments: str) -> dbtRunnerResult:
        from dbt.cli.main import dbtRunner

        variables = libpq_environment(url, "reverie_analyst") | {
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "REVERIE_MARTS_THREADS": "2",
        }
        folders = ("--project-dir", PROJECT, "--profiles-dir", PROJECT, "--target-path", target, "--log-path", target)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            patch.delenv("PGOPTIONS")  # the profile names the role
            begin = ("--vars", f"begin: '{datetime.now(UTC) - timedelta(days=31):%Y-%m-01}'")
            result = dbtRunner().invoke(["--quiet", *arguments, *map(str, folders), *begin])
        assert result.success, result.exception or [
            f"{each.node.name}: {each.message}" for each in result.result if each.status in ("error", "fail")
        ]
        return result

    run.target = target  # type: ignore[attr-defined]
    return run


@pytest.fixture(scope="session")
def built_history(history: str, dbt: Dbt, database_factory: DatabaseFactory) -> str:
    """The name of that database with all marts built, and dbt's own tests passed."""
    return database_factory.prepared("marts_built", lambda url: dbt(url, "build"), template=history)


@pytest.fixture(scope="session")
def built(built_history: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """The URL of a copy of it that all tests share."""
    with database_factory.copy(built_history) as url:
        yield url


@pytest.fixture
def analyst(built: str) -> Iterator[psycopg.Connection[Any]]:
    """A data team's session."""
    with connect(built, role="analyst") as conn:
        yield conn


def turn(subject: str, at: str, session: str, text: str) -> str:
    """Return a line of a history."""
    record = {"subject_id": subject, "session_id": session, "role": "user", "said_at": at, "text": text}
    return json.dumps(record) + os.linesep
