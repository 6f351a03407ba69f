"""`reverie report` and the Grafana boards over real marts."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.errors import InputError
from reverie.report.marts import read_marts
from reverie.store.connect import connect
from reverie.store.queries import queries
from tests.marts.conftest import PROJECT, TENANTS
from tools.grafana_boards import FOLDER

Conn = psycopg.Connection[Any]


def today() -> date:
    """Return the day of the clock, asked when a test runs: a suite may run across midnight."""
    return datetime.now(UTC).date()


def test_panels_show_what_the_marts_hold(analyst: Conn) -> None:
    read = read_marts(analyst, today=today())
    rows = {one.panel.name: one.rows for one in read.panels}
    assert set(read.tenants) == set(TENANTS) and read.since == date(2026, 1, 5)
    for name in (
        "tenants",
        "memories",
        "changes",
        "turns",
        "ages",
        "importance",
        "discards",
        "recalls",
        "stages",
        "lag",
    ):
        assert rows[name], name
    latest = {tenant: memories for _, tenant, memories in rows["memories"]}
    assert latest == dict(analyst.execute("select tenant_id, memories from marts.tenants").fetchall())
    assert sum(value for _, _, value in rows["turns"]) == 2 * 2 * 7


def test_cohorts_of_which_nobody_came_back_count_in_retention(analyst: Conn) -> None:
    with analyst.transaction(force_rollback=True):
        analyst.execute(
            """insert into marts.subject_cohorts
               select 'new', cohort, week, (week - cohort) / 7, subjects, subjects, 1, subjects, 0
               from (values (date '2026-01-05', date '2026-01-05', 10), ('2026-01-12', '2026-01-12', 1),
                            ('2026-01-12', '2026-01-19', 1)) as c (cohort, week, subjects)"""
        )
        shown = analyst.execute(queries("report")["retention"], {"tenants": ["new"]}).fetchall()
    assert shown == [("0", "subjects", 1), ("1", "subjects", pytest.approx(1 / 11)), ("2", "subjects", 0)]


def test_one_tenant_and_the_last_days(analyst: Conn) -> None:
    read = read_marts(analyst, today=today(), tenant_id="beta", days=30)
    assert read.tenants == ("beta",)
    (memories,) = (one.rows for one in read.panels if one.panel.name == "memories")
    assert {tenant for _, tenant, _ in memories} == {"beta"}
    last = analyst.execute("select max(day) from marts.memory_growth where tenant_id = 'beta'").fetchall()[0][0]
    assert read.since == last - timedelta(days=29)


def test_days_of_memories_without_turns_are_shown(analyst: Conn) -> None:
    without_turns = """{"tenant_id": "new", "turns": 0, "first_day": null, "last_day": null}"""
    with analyst.transaction(force_rollback=True):
        analyst.execute(
            "insert into marts.tenants select n.* from marts.tenants t, "
            "lateral jsonb_populate_record(t, %s) n where t.tenant_id = 'beta'",
            [without_turns],
        )
        grow(analyst, "new", {date(2026, 2, 3): 4, date(2026, 2, 4): 5})
        read = read_marts(analyst, today=date(2026, 6, 1), tenant_id="new")
        (memories,) = (one.rows for one in read.panels if one.panel.name == "memories")
    assert read.since == date(2026, 2, 3)
    assert [value for *_, value in memories] == [4, 5]


def test_a_quiet_tenant_keeps_its_memories(analyst: Conn) -> None:
    days = [date(2026, 2, number) for number in range(1, 6)]
    asked = {"tenants": ["quiet", "new"], "since": days[1], "until": days[4]}
    with analyst.transaction(force_rollback=True):
        grow(analyst, "quiet", {days[0]: 7})
        grow(analyst, "new", dict(zip(days[2:], (1, 2, 3), strict=True)))
        shown = analyst.execute(queries("report")["memories"], asked).fetchall()
    assert [(at.astimezone(UTC).date(), tenant, number) for at, tenant, number in shown] == [
        (days[1], "quiet", 7), (days[2], "new", 1), (days[2], "quiet", 7), (days[3], "new", 2), (days[3], "quiet", 7),
    ]  # fmt: skip


def test_each_tenant_has_its_own_last_day_in_the_metrics() -> None:
    """One last day for all tenants would leave out those that were quiet on it."""
    text = (PROJECT / "models" / "metrics" / "metrics.yml").read_text()
    (growth,) = (model for model in yaml.safe_load(text)["semantic_models"] if model["name"] == "growth")
    (active,) = (measure for measure in growth["measures"] if measure["name"] == "active_memories")
    assert active["non_additive_dimension"]["window_groupings"] == ["tenant"]


def grow(conn: Conn, tenant_id: str, memories: dict[date, int]) -> None:
    """Insert the days of a tenant with the numbers of its active memories."""
    for day, number in memories.items():
        conn.execute(
            "insert into marts.memory_growth select n.* from (select g from marts.memory_growth g limit 1) one, "
            "lateral jsonb_populate_record(one.g, %s) n",
            [json.dumps({"tenant_id": tenant_id, "day": day.isoformat(), "memories": number})],
        )


def test_the_page_holds_nothing_that_was_said(built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", built)
    file = tmp_path / "report.html"
    done = CliRunner().invoke(reverie, ["report", str(file)])
    assert done.exit_code == 0, done.output
    written = json.loads(CliRunner().invoke(reverie, ["report", str(file), "--json"]).output)
    assert written["file"] == str(file) and written["tenants"] == list(TENANTS)
    page = file.read_text()
    assert "acme" in page and "ramen" not in page and "Bruno" not in page


def test_without_marts_it_says_how_to_build_them(database_url: str) -> None:
    with connect(database_url, role="analyst") as conn, pytest.raises(InputError, match="make marts"):
        read_marts(conn, today=today())


def test_a_tenant_without_marts_is_named(analyst: Conn) -> None:
    with pytest.raises(InputError, match="nobody"):
        read_marts(analyst, today=today(), tenant_id="nobody")


def test_postgres_runs_the_statements_of_the_boards(analyst: Conn) -> None:
    """With what Grafana puts in place of its variables."""
    macros = {
        "${tenant:sqlstring}": "'acme','beta'", "$__timeFrom()": "'2026-01-01T00:00:00Z'",
        "$__timeTo()": "'2026-06-02T00:00:00Z'",
    }  # fmt: skip
    for file in FOLDER.glob("*.json"):
        for panel in json.loads(file.read_text())["panels"]:
            text = panel["targets"][0]["rawSql"]
            for name, value in macros.items():
                text = text.replace(name, value)
            found = analyst.execute(text)
            if panel["type"] == "timeseries":
                assert [column.name for column in found.description or ()] == ["time", "metric", "value"]
