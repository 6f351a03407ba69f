"""Incremental marts follow erasures and tenants that move in, and a turn that arrives during a build fails no test."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import subject_target, turn_target
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.testing import DatabaseFactory
from tests.marts.conftest import TENANTS, Dbt, turn

BUILD = ("build", "--select", "subject_days", "recall_usage", "tenants", "--exclude-resource-type", "unit_test")
TEST = ("test", "--select", "turns_of_days_are_turns_of_the_log")


@pytest.fixture
def own(built_history: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """The URL of a database with marts that a test may change."""
    with database_factory.copy(built_history) as url:
        yield url


def test_erased_turns_leave_and_a_tenant_that_moves_in_is_counted(own: str, dbt: Dbt, tmp_path: Path) -> None:
    moved = tmp_path / "moved.jsonl"
    moved.write_text(turn("dan", "2026-01-20T10:00:00Z", "s", "It rained.") * 2)
    with Store.open(own) as store, connect(own) as conn:
        import_file(store, moved, tenant_id="moved", policy="reverie")
        conn.execute("update log.turns set recorded_at = '2020-01-01' where tenant_id = 'moved'")
        (erased,) = conn.execute(
            "select id from log.turns where (tenant_id, subject_id) = ('acme', 'ben') order by said_at limit 1"
        ).fetchone() or (None,)
        acme, beta = (eraser(store, tenant) for tenant in TENANTS)
        acme.erase(subject_target("ana"))
        acme.erase(turn_target(erased))
        assert list(beta.erase_tenant())
        assert {row[0] for row in conn.execute("select tenant_id from marts.recall_usage")} == set(TENANTS)
        dbt(own, *BUILD)
        assert {row[0] for row in conn.execute("select tenant_id from marts.recall_usage")} == {"acme"}
        days = conn.execute("select tenant_id, subject_id, day, turns from marts.subject_days").fetchall()
        said = conn.execute(
            "select tenant_id, subject_id, (said_at at time zone 'UTC')::date, count(*) from log.turns group by 1, 2, 3"
        ).fetchall()
        assert sorted(days) == sorted(said)
        assert {day[:2] for day in days} == {("acme", "ben"), ("moved", "dan")}


def test_a_turn_between_a_build_and_its_test_fails_nothing(own: str, dbt: Dbt, tmp_path: Path) -> None:
    late = tmp_path / "late.jsonl"
    late.write_text(turn("ana", "2026-05-02T10:00:00Z", "s9", "It rained."))
    with Store.open(own) as store:
        import_file(store, late, tenant_id="acme", policy="reverie")
    dbt(own, *TEST)


def eraser(store: Store, tenant_id: str) -> Eraser:
    """The eraser of a tenant."""
    policy = load_policy(TENANTS[tenant_id])
    return Eraser(store=store, tenant_id=tenant_id, policy=policy, count_tokens=len, at=datetime.now(UTC), actor="test")
