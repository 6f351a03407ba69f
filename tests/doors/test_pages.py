"""`make marts`, `make docs`, `reverie report`, `reverie evaluate --html`: what they write opens in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.store.connect import connect
from reverie.testing import DatabaseFactory
from tests.doors.browser import Page, chromium_or_skip, page
from tests.doors.conftest import ROOT, make_or_skip, run

pytestmark = pytest.mark.xdist_group("pages")
#: dbt's page asks for its icons before it has filled in their names; the icons are shown all the same.
STOCK = "Unsafe attempt to load URL"
#: There are plots, and each of them is drawn.
DRAWN = """(plots => plots.length > 0 && plots.every(plot => plot.querySelector('.main-svg')))(
    [...document.querySelectorAll('.plotly-graph-div')])"""

#: Plots that are wider than the card they are in, and tables that scroll.
TOO_WIDE = """[...document.querySelectorAll('.panel')].filter(panel => panel.scrollWidth > panel.clientWidth
    || [...panel.querySelectorAll('.main-svg')].some(plot => plot.getBoundingClientRect().right
        > panel.getBoundingClientRect().right)).map(panel => panel.id)"""


@pytest.fixture(scope="module")
def variables(
    sample: str, database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The environment of the sample's memory, with its marts built by `make marts`."""
    with database_factory.copy(sample) as url:
        given = {"DATABASE_URL": url, "REVERIE_HOME": str(tmp_path_factory.mktemp("home")), "BROWSER": "true"}
        run(["reverie", "clock", "--tenant", "demo", "--stop-at", "2026-06-30T09:00:00Z"], **given)
        # the tests of the models are run by tests/marts
        run([make_or_skip(), "marts", "ARGS=--quiet --exclude-resource-type test"], **given)
        yield given


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A tab for all pages."""
    with page(chromium_or_skip(), tmp_path_factory.mktemp("chromium")) as tab:
        yield tab


@pytest.fixture
def tab(browser: Page) -> Page:
    """The tab without the errors of the page before."""
    browser.errors.clear()
    return browser


def test_make_marts_builds_every_mart(variables: dict[str, str]) -> None:
    expected = {path.stem for path in (ROOT / "dbt" / "models").rglob("*.sql")}
    with connect(variables["DATABASE_URL"]) as conn:
        rows = conn.execute("select table_name from information_schema.tables where table_schema = 'marts'")
        assert expected <= {name for (name,) in rows}
        assert conn.execute("select memories > 5 from marts.tenants where tenant_id = 'demo'").fetchone() == (True,)


def test_the_report_opens(variables: dict[str, str], tab: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    run(["reverie", "report", str(file), "--tenant", "demo"], **variables)
    tab.open(file.as_uri(), "demo")
    tab.wait_until(DRAWN)
    assert tab.evaluate(TOO_WIDE) == []
    assert tab.errors == []


def test_the_page_of_an_evaluation_opens(variables: dict[str, str], tab: Page, tmp_path: Path) -> None:
    file = tmp_path / "evaluation.html"
    run(["reverie", "evaluate", "--tenant", "demo", "--no-ablations", "--html", str(file)], **variables)
    tab.open(file.as_uri(), "demo")
    tab.wait_until(DRAWN)
    assert tab.errors == []


def test_the_documentation_of_the_marts_begins_with_ours(variables: dict[str, str], tab: Page) -> None:
    printed = run([make_or_skip(), "docs"], **variables)
    file = ROOT / "dbt" / "target" / "static_index.html"
    assert f"The documentation is in {file}." in printed
    text = tab.open(f"{file.as_uri()}#!/overview", "The marts of Reverie")
    assert "Welcome to the auto-generated documentation" not in text
    tab.open(f"{file.as_uri()}#!/model/model.reverie.tenants", "tenant_id")
    assert [each for each in tab.errors if STOCK not in each] == []
