"""A table of another Postgres as the asset `turns`: counts in its metadata, what is new each run, no row's text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from reverie.errors import SettingsError
from reverie.settings import load_source_settings
from reverie.store.database import Store
from reverie.testing import DatabaseFactory

if TYPE_CHECKING:
    import dagster as dg

TICK = datetime(2026, 3, 1, 5, 45, tzinfo=UTC)


@pytest.fixture
def crm(database_factory: DatabaseFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection[Any]]:
    """A help desk's database, named by the environment."""
    with database_factory.empty() as url, psycopg.connect(url, autocommit=True) as conn:
        conn.execute("create table notes (id serial primary key, owner text, chat text, role text, at text, body text)")
        write(conn, "ana", "I love spicy ramen.")
        for name, value in {
            "URL": url,
            "TABLE": "notes",
            "CURSOR": "id",
            "NAME": "crm",
            "MAP": "subject_id=owner, session_id=chat,said_at=at, role:klant=user",
        }.items():
            monkeypatch.setenv(f"REVERIE_SOURCE_{name}", value)
        monkeypatch.setenv("REVERIE_TENANT", "acme")
        yield conn


def write(conn: psycopg.Connection[Any], owner: str, body: str, at: str = "2026-03-01T09:00:00Z") -> None:
    row = (owner, at, body)
    conn.execute("insert into notes (owner, chat, role, at, body) values (%s, 's1', 'klant', %s, %s)", row)


def materialize(instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    """Run the job that the environment makes."""
    import dagster as dg

    from assets.source import import_jobs, import_schedules, turns_of
    from resources.clients import Clients

    settings = load_source_settings()
    jobs = import_jobs(settings)
    made = dg.Definitions(
        assets=[turns_of(settings)],
        jobs=jobs,
        schedules=import_schedules(jobs),
        resources={"clients": Clients()},
        executor=dg.in_process_executor,
    )
    with dg.build_schedule_context(scheduled_execution_time=TICK) as tick:
        schedule = made.resolve_schedule_def("before_each_cycle")
        assert schedule.job_name == "import_table" and schedule.evaluate_tick(tick).run_requests
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    job = made.resolve_job_def("import_table")
    return job.execute_in_process(instance=instance, run_config=quiet, raise_on_error=False)


def counts(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    (made,) = result.asset_materializations_for_node("turns")
    return {name: each.value for name, each in made.metadata.items()}


@pytest.mark.usefixtures("defs")
def test_a_run_imports_what_is_new(store: Store, crm: psycopg.Connection[Any]) -> None:
    import dagster as dg

    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        first = counts(materialize(instance))
        assert (first["read"], first["imported"], first["dead"]) == (1, 1, 0)
        write(crm, "ben", "I can't stand cilantro.")
        second = counts(materialize(instance))
        assert (second["read"], second["imported"], second["repeated"]) == (2, 1, 1)
        write(crm, "cyd", "I went to Porto.", at="yesterday, Porto time")
        failed = materialize(instance)
        assert not failed.success
        said = [event for event in failed.all_events if event.is_step_failure]
        kept = "".join(str(entry) for entry in instance.all_logs(failed.run_id))
        assert len(said) == 1 and "More than a tenth" in kept and "dead_impossible_time" in kept
        assert "Porto" not in kept and "hunter" not in kept
    with store.transaction("acme") as conn:
        assert conn.execute("select count(*) from log.turns").fetchone() == (2,)


@pytest.mark.usefixtures("defs")
def test_without_a_source_the_log_is_written_elsewhere() -> None:
    from assets.source import import_jobs, import_schedules, turns_of
    from assets.turns import turns

    settings = load_source_settings()
    assert turns_of(settings) is turns
    assert import_jobs(settings) == import_schedules([]) == []


@pytest.mark.usefixtures("crm")
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("URL", "", "set REVERIE_SOURCE_URL"),
        (
            "URL",
            "mysql://someone:hunter2@crm",
            "REVERIE_SOURCE_URL cannot be used: must be a URL such as postgresql://",
        ),
        ("QUERY", "select 1", "REVERIE_SOURCE_QUERY or REVERIE_SOURCE_TABLE"),
        ("MAP", "subject_id", "REVERIE_SOURCE_MAP cannot be used"),
    ],
)
def test_a_source_that_is_set_wrongly(monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str) -> None:
    from resources.source import import_source
    from reverie.runtime import Runtime

    monkeypatch.setenv(f"REVERIE_SOURCE_{name}", value)
    with Runtime() as runtime, pytest.raises(SettingsError, match=said) as refused:
        import_source(runtime, "acme")
    assert "hunter2" not in str(refused.value)
