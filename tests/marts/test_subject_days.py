"""Incremental marts follow erasures and tenants that move in, and what arrives after a build fails no test."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import subject_target, turn_target
from reverie.inference import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.work import Work
from reverie.testing import DatabaseFactory
from tests.marts.conftest import TENANTS, Dbt, turn

BUILD = ("build", "--select", "subject_days", "recall_usage", "tenants", "--exclude-resource-type", "unit_test")
DAYS, FUNNEL, GROWTH = "turns_of_days_are_turns_of_the_log", "the_funnel_loses_no_turn", "growth_ends_at_what_is_active"


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


def test_memory_that_grows_between_a_build_and_its_tests_fails_none(own: str, dbt: Dbt, tmp_path: Path) -> None:
    late = tmp_path / "late.jsonl"
    late.write_text(turn("ana", "2026-06-02T10:00:00Z", "s9", "I have a parrot named Coco."))
    active = "select count(*) from memory.memories where tenant_id = 'acme' and state = 'active'"
    with Store.open(own) as store, connect(own) as conn:
        before = conn.execute(active).fetchone()
        import_file(store, late, tenant_id="acme", policy="reverie")
        scope, policy = Scope(tenant_id="acme"), load_policy("reverie")
        embedder = load_embedder("minilm", threads=1)
        at = datetime(2026, 6, 3, tzinfo=UTC)
        work = Work(store=store, scope=scope, policy=policy, as_of=at, embedder=embedder)
        assert [*ingest(work), *catch_up(work)]
        assert conn.execute(active).fetchone() != before
    dbt(own, "test", "--select", DAYS, FUNNEL, GROWTH)


@pytest.mark.parametrize(
    ("test", "loss"),
    [
        (DAYS, "delete from marts.subject_days"),
        (
            DAYS,
            """update log.turns set recorded_at = now() - interval '25 hours' where said_at::date = '2026-02-09';
               delete from marts.subject_days where day = '2026-02-09'""",
        ),
        (FUNNEL, "delete from marts.funnel where stage = 'turns' and reason = 'kept'"),
        (FUNNEL, "update ops.runs set finished_at = '2026-01-01'; delete from marts.funnel where stage = 'candidates'"),
        (FUNNEL, "update marts.funnel set items = 2 * items"),
        (GROWTH, "update marts.memory_growth set memories = memories + 1"),
    ],
)
def test_a_mart_that_lost_something_fails_its_test(own: str, dbt: Dbt, test: str, loss: str) -> None:
    with connect(own) as conn:
        conn.execute(loss)
    with pytest.raises(AssertionError, match=test):
        dbt(own, "test", "--select", test)


def eraser(store: Store, tenant_id: str) -> Eraser:
    """The eraser of a tenant."""
    policy = load_policy(TENANTS[tenant_id])
    return Eraser(store=store, tenant_id=tenant_id, policy=policy, count_tokens=len, at=datetime.now(UTC), actor="test")
