"""The page: whole without a network, escaped, and no more series than can be told apart."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from reverie.report.marts import MartsRead, PanelRows
from reverie.report.page import figure, marts_page, series
from reverie.report.panels import Panel, boards

MADE = datetime(2026, 6, 1, tzinfo=UTC)


def read(**rows: list[tuple[object, ...]]) -> MartsRead:
    """Rows by panel; the others have none."""
    panels = [
        PanelRows(
            panel=panel,
            columns=tuple(f"column {n}" for n in range(len((rows.get(panel.name) or [()])[0]))),
            rows=rows.get(panel.name, []),
        )
        for board in boards()
        for panel in board.panels
    ]
    return MartsRead(tenants=("acme",), since=date(2026, 1, 1), until=date(2026, 6, 2), panels=tuple(panels))


def test_the_page_needs_no_network_and_escapes_names() -> None:
    shown = marts_page(
        read(tenants=[("<b>acme</b>", 3)], memories=[(MADE, "acme", 3)], ages=[("a week", "fact", 2)]), made_at=MADE
    )
    assert "<b>acme" not in shown and "&lt;b&gt;acme" in shown
    assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="http', shown)
    # the library of plots once
    assert shown.count("plotly.js v") == 1
    assert shown.count("Nothing yet.") == sum(len(board.panels) for board in boards()) - 3


def test_the_largest_series_are_told_apart_and_the_others_are_one() -> None:
    rows = [("monday", f"tenant {n:02}", n) for n in range(1, 31)] + [("tuesday", "tenant 30", None)]
    told = list(series(rows))
    assert len(told) == 10
    assert {name for name, _, _ in told} == {*(f"tenant {n}" for n in range(22, 31)), "all others"}
    (others,) = (values for name, _, values in told if name == "all others")
    assert others == [float(sum(range(1, 22)))]
    assert sum(value for _, _, values in told for value in values) == sum(range(1, 31))


def test_categories_keep_the_order_of_the_statement() -> None:
    rows = [("a day", "fact", 1), ("a week", "episode", 2), ("a month", "fact", 3)]
    panel = Panel(name="ages", kind="bars", title="", text="")
    plot = figure(PanelRows(panel=panel, columns=("category", "series", "value"), rows=rows))
    assert tuple(plot.layout.xaxis.categoryarray) == ("a day", "a week", "a month")
