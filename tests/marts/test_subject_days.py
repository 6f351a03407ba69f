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
LEDGERS = ("build", "--select", "model_costs", "stage_runs", "--exclude-resource-type", "unit_test")
COSTS = "costs_are_those_of_the_ledger"
DAYS, FUNNEL, GROWTH = "turns_of_days_are_turns_of_the_log", "the_funnel_loses_no_turn", "growth_ends_at_what_is_active"
#: A request of each tenant that is not settled.
CALLS = """insert into ops.calls (tenant_id, id, stage, kind, model, items, state, reserved_usd, priced)
           select t, gen_random_uuid(), 'extract', 'completion', 'm', 1, 'reserved', 0.5, true
           from unnest(array['acme', 'beta']) t"""


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


def test_marts_of_ledgers_lose_an_erased_tenant_and_the_former_day_of_a_retried_run(own: str, dbt: Dbt) -> None:
    run_on = "(finished_at at time zone 'UTC')::date"
    with Store.open(own) as store, connect(own) as conn:
        conn.execute(CALLS)
        dbt(own, *LEDGERS)
        for mart in ("model_costs", "stage_runs"):  # as of a month that no build recounts
            conn.execute(
                f"""insert into marts.{mart} select (jsonb_populate_record(m, '{{"day": "2020-01-01"}}')).*
                    from marts.{mart} m where stage = 'extract'"""  # noqa: S608
            )
        conn.execute("update ops.runs set finished_at = finished_at - interval '1 day' where stage = 'merge'")
        assert list(eraser(store, "beta").erase_tenant())
        dbt(own, *LEDGERS)
        for mart in ("model_costs", "stage_runs"):
            found = conn.execute(f"select distinct tenant_id, day = '2020-01-01' from marts.{mart} order by 2")  # noqa: S608
            assert found.fetchall() == [("acme", False), ("acme", True)], mart
        days = conn.execute("select stage, day, runs from marts.stage_runs where day > '2020-01-01' order by 1, 2")
        runs = f"select stage, {run_on}, count(*) from ops.runs where stage <> 'cycle' group by 1, 2 order by 1, 2"  # noqa: S608
        assert days.fetchall() == conn.execute(runs).fetchall()


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


def test_requests_that_are_booked_or_settled_between_a_build_and_its_test_fail_it_not(own: str, dbt: Dbt) -> None:
    with connect(own) as conn:
        conn.execute(CALLS)
        dbt(own, "run", "--select", "model_costs")
        conn.execute("update ops.calls set state = 'done', cost_usd = 0.25")
        conn.execute(CALLS)
    dbt(own, "test", "--select", COSTS)


@pytest.mark.parametrize(
    ("test", "loss"),
    [
        (COSTS, ";".join([CALLS, "update ops.calls set booked_at = now() - interval '25 hours'"])),
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
