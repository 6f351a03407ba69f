"""The page: whole without a network, escaped, and no more series than can be told apart."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta

from reverie.report.marts import MartsRead, PanelRows
from reverie.report.page import figure, marts_page, series
from reverie.report.panels import Panel, boards, palette

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
    empty = [panel for board in boards() for panel in board.panels if panel.name not in ("tenants", "memories", "ages")]
    assert all(html.escape(panel.empty) in shown for panel in empty)
    assert shown.count("Nothing yet.") == sum(panel.empty == "Nothing yet." for panel in empty)


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
    panel = Panel(name="ages", kind="bars", title="", text="", palette="kinds")
    plot = figure(PanelRows(panel=panel, columns=("category", "series", "value"), rows=rows))
    assert tuple(plot.layout.xaxis.categoryarray) == ("a day", "a week", "a month")


def plots() -> list[tuple[Panel, object]]:
    """Each plot, with the series that its palette names, or three."""
    made = []
    for panel in (panel for board in boards() for panel in board.panels if panel.kind != "table"):
        names = list(palette(panel.palette).colours) or [f"{panel.palette} {number}" for number in range(3)]
        place = "a long name of a category" if panel.kind == "bars" else MADE
        rows = [(place, name, 9 - number) for number, name in enumerate(names)]
        made.append((panel, figure(PanelRows(panel=panel, columns=("", "series", "value"), rows=rows))))
    return made


def test_one_colour_has_one_meaning_and_each_axis_a_title() -> None:
    meanings = defaultdict(set)
    for panel, plot in plots():
        assert plot.layout.xaxis.title.text and plot.layout.yaxis.title.text, panel.name  # type: ignore[attr-defined]
        for trace in plot.data:  # type: ignore[attr-defined]
            meanings[trace.line.color if trace.type == "scatter" else trace.marker.color].add(trace.name)
    assert len(meanings) > 30
    assert {colour: names for colour, names in meanings.items() if len(names) > 1} == {}


def test_a_series_that_the_palette_does_not_know_is_seen() -> None:
    panel = Panel(name="ages", kind="bars", title="", text="", palette="kinds")
    plot = figure(PanelRows(panel=panel, columns=("category", "series", "value"), rows=[("a day", "new kind", 1)]))
    assert plot.data[0].marker.color == "#000000"


def test_one_day_is_told_in_days() -> None:
    panel = Panel(name="stages", kind="stack", title="", text="", palette="stages")
    plot = figure(PanelRows(panel=panel, columns=("time", "series", "value"), rows=[(MADE, "embed", 1)]))
    first, last = plot.layout.xaxis.range
    assert last - first == timedelta(days=28) and first < MADE < last
