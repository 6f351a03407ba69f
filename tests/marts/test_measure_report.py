"""`reverie report` and the Grafana boards over real marts."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.errors import InputError
from reverie.report.marts import read_marts
from reverie.store.connect import connect
from reverie.store.queries import queries
from tests.marts.conftest import TENANTS
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
    last = analyst.execute("select max(last_day) from marts.tenants where tenant_id = 'beta'").fetchall()[0][0]
    assert read.since == last - timedelta(days=29)


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
