"""Each figure has one meaning: the funnel adds up, and every surface tells the same of one history."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from examples import demo_report
from reverie.capture.history.importing import ImportSummary, import_file
from reverie.evaluate.funnel import Funnel, funnel
from reverie.evaluate.growth import figures_by_day
from reverie.evaluate.health import measure
from reverie.llm.spending import read_spending
from reverie.recall.roster import list_tenants
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.testing import DatabaseFactory
from tests.conftest import SAMPLE_AT, Databases
from tests.marts.conftest import Dbt

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample_history.jsonl"
#: A recall whose embedding cost something, and a request that is not settled: neither belongs to a run.
_CALLS = """
insert into ops.calls (tenant_id, id, stage, kind, model, items, state, reserved_usd, cost_usd, priced)
values ('demo', gen_random_uuid(), 'recall', 'embedding', 'hosted', 1, 'done', 0.5, 0.25, true),
       ('demo', gen_random_uuid(), 'extract', 'completion', 'hosted', 1, 'reserved', 0.5, null, true)"""


class Told(NamedTuple):
    """What each surface tells of the sample."""

    health: dict[str, Any]
    funnel: Funnel
    growth: dict[str, int | float]
    imported: ImportSummary
    roster: Any
    tenants: dict[str, Any]
    days: list[dict[str, Any]]
    #: Sum of the requests to models by stage, in US dollars, as `reverie costs` and the page Costs have it.
    spent: float
    repeats: int
    rewritten: int


@pytest.fixture(scope="module")
def told(databases: Databases, database_factory: DatabaseFactory, sample: str, dbt: Dbt) -> Iterator[Told]:
    with databases() as url, Store.open(url, size=1) as store:
        imported = import_file(store, SAMPLE, tenant_id="demo", policy="reverie")
    with database_factory.copy(sample) as url, Store.open(url) as store:
        with connect(url) as conn:
            conn.execute(_CALLS)
        dbt(url, "run", "--select", "+tenants", "+memory_growth")
        with connect(url, role="analyst") as conn:
            tenants = _rows(conn, "select * from marts.tenants")
            days = _rows(conn, "select * from marts.memory_growth order by day")
        with store.transaction("demo") as conn:
            (repeats,) = conn.execute("select count(*) from memory.merges").fetchone() or (0,)
            (merged,) = conn.execute("select count(*) from memory.memories where state = 'merged'").fetchone() or (0,)
        yield Told(
            health=measure(store, "demo"),
            funnel=funnel(store, "demo"),
            growth=figures_by_day(store, SAMPLE_AT)[-1][1],
            imported=imported,
            roster=next(iter(list_tenants(store))),
            tenants=tenants[0],
            days=days,
            spent=sum(row["cost_usd"] for row in read_spending(store, "demo", since=None)[0]),
            repeats=repeats,
            rewritten=merged - repeats,
        )


def _rows(conn: Any, statement: str) -> list[dict[str, Any]]:
    cursor = conn.execute(statement)
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def test_the_funnel_of_the_demo_adds_up(told: Told) -> None:
    page = io.StringIO()
    demo_report.print_funnel(Console(file=page, width=120), told.imported, told.funnel)
    lines = [line.strip().split(maxsplit=1) for line in page.getvalue().splitlines()[1:]]
    turns, *discards = [int(lines[0][0])] + [int(number) for number, what in lines[1:] if what in _reasons()]
    assert turns > -sum(discards) > 0
    counted = [(number, what) for number, what in lines[1:] if what not in _reasons()]
    *steps, (left, what) = counted
    assert sum(int(number) for number, _ in steps) == int(left) == told.health["memories"]
    assert sum(int(number) for number in re.findall(r"\d+", what)) == int(left)
    assert told.funnel.made_of_turns() == sum(number for _, number in told.funnel.turns.values())


def _reasons() -> set[str]:
    return set(demo_report.REASONS.values())


def test_merged_is_merged_and_rewritten_is_rewritten(told: Told) -> None:
    assert told.repeats > 0
    assert told.rewritten > 0
    assert told.health["merged"] == told.tenants["merged"] == told.growth["merged"] == told.repeats
    assert told.health["rewritten"] == told.tenants["rewritten"] == told.funnel.of_fate("rewritten") == told.rewritten
    for fate in ("merged", "rewritten", "compressed", "superseded", "forgotten"):
        assert told.funnel.of_fate(fate) == told.health[fate] == sum(day[fate] for day in told.days), fate


def test_a_subject_is_a_subject_everywhere(told: Told) -> None:
    subjects = {
        len(told.funnel.subjects),
        told.health["subjects"],
        told.growth["subjects"],
        told.tenants["subjects"],
        told.roster.subjects,
    }
    assert len(subjects) == 1
    assert subjects != {told.funnel.subjects[0][1]}


def test_memories_and_turns_are_the_same_everywhere(told: Told) -> None:
    memories = {
        told.health["memories"],
        told.growth["memories"],
        told.tenants["memories"],
        told.roster.memories,
        told.days[-1]["memories"],
        told.funnel.of_fate("active"),
    }
    assert len(memories) == 1
    turns = {told.health["turns"], told.growth["turns"], told.tenants["turns"], told.roster.turns}
    assert turns == {sum(count for count, _ in told.funnel.turns.values())}
    assert sum(told.growth[name] != 0 for name in ("merged", "forgotten", "made_per_day")) >= 2
    assert told.growth["memories_per_subject"] == pytest.approx(told.tenants["memories_per_subject"], abs=1e-3)


def test_costs_are_the_same_everywhere(told: Told) -> None:
    assert told.health["cost_usd"] == told.tenants["cost_usd"] == told.spent == 0.75
