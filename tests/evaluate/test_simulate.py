"""A simulated year: live week by week, and made again at once, memory is the same and within its budget."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.drive.advance import advance
from reverie.drive.rebuild import empty_memory
from reverie.errors import InputError
from reverie.evaluate.simulation.figures import SimulationResult
from reverie.evaluate.simulation.simulate import START, SimulationPlan, simulate
from reverie.inference import load_embedder
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from reverie.testing import DatabaseFactory

TENANT, BUDGET = "year", 32
PLAN = SimulationPlan(people=1, weeks=7, seed=3, recalls=2)
POLICY = f"""base = "reverie"
[compress]
session_threshold = 3
[prune]
budget = {BUDGET}
"""


@pytest.fixture(scope="module")
def store(database_factory: DatabaseFactory) -> Iterator[Store]:
    with database_factory.migrated() as url, Store.open(url) as opened:
        yield opened


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    path: Path = tmp_path_factory.mktemp("policy") / "small.toml"
    path.write_text(POLICY)
    return load_policy(str(path))


@pytest.fixture(scope="module")
def result(store: Store, policy: Policy) -> SimulationResult:
    with store.transaction(TENANT) as conn:
        ensure_tenant(conn, TENANT, policy.name)
    return simulate(store, TENANT, policy, load_embedder("minilm", threads=1), PLAN)


def test_it_tells_what_memory_kept(result: SimulationResult) -> None:
    assert [each.week for each in result.weeks] == list(range(1, 8))
    assert [each.month for each in result.months] == [1, 2]
    first, last = result.months
    assert 0 < first.asked <= last.asked and first.answered is not None and first.answered > 0.7
    assert 10 < result.weeks[-1].memories <= BUDGET
    assert set(result.milestones) == {"day 1", "week 1", "month 1"}
    assert result.forgotten["budget"] > 0 and result.bytes > 10_000 and result.cost_usd == 0
    assert result.summary()["memories_per_subject"] == result.weeks[-1].memories


def test_summaries_fold_and_the_budget_holds(result: SimulationResult, store: Store) -> None:
    with store.transaction(TENANT) as conn:
        rows = conn.execute(
            "select content, happened_at from memory.memories where tenant_id = %s and origin = 'month'", [TENANT]
        ).fetchall()
        (tombs,) = conn.execute("select count(*) from memory.tombstones where reason = 'budget'").fetchone() or (0,)
        (held,) = _one(conn, "select count(*) from memory.memories where origin = 'session' and state = 'compressed'")
    assert len(rows) <= 1 and all(content.startswith("January 2025. ") for content, _ in rows)
    assert held > 0, "the summaries of January are held by that of the month"
    assert tombs == result.forgotten["budget"]


def test_made_again_at_once_it_is_the_same(result: SimulationResult, store: Store, policy: Policy) -> None:
    assert result.weeks
    until = START + timedelta(weeks=PLAN.weeks)
    work = Work(
        store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=until,
        embedder=load_embedder("minilm", threads=1),
    )  # fmt: skip
    assert [*advance(work)]  # accesses of the last week are counted
    lived = digest(store, TENANT)
    empty_memory(work)
    assert [*advance(work)]
    assert digest(store, TENANT) == lived


def test_a_tenant_with_a_log_is_left_alone(result: SimulationResult, store: Store, policy: Policy) -> None:
    assert result.turns
    with pytest.raises(InputError, match="needs a tenant of its own"):
        simulate(store, TENANT, policy, load_embedder("minilm", threads=1), PLAN)


def _one(conn: psycopg.Connection[Any], query: str) -> tuple[Any, ...]:
    row = conn.execute(query).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return row
