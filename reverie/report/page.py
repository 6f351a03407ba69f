"""The panels as one HTML page, which opens without a network. Needs the extra `report`, for plotly."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reverie.report.marts import MartsRead, PanelRows
from reverie.report.panels import PanelKind, boards

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_COLOURS = (
    "#3d6fb6", "#2a9d8f", "#e9a03b", "#8a5fbf", "#c8553d", "#5b8c5a", "#b0578d", "#6b7a8f", "#b59a3c", "#4aa3c7",
)  # fmt: skip
#: Series that are told apart; the others are one, called so.
_SERIES, _OTHERS = 10, "all others"
_FORMATS = {"percentunit": ".0%", "currencyUSD": "$,.2f"}
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; background: #f6f8fa; max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .25rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 1rem; }
h3 { font-size: 1rem; margin: 0; } .note { color: #5b6875; margin: 0 0 .5rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(30rem, 1fr)); gap: 1rem; }
.panel { background: white; border: 1px solid #dde3e9; border-radius: 6px; padding: 1rem; min-width: 0;
  overflow: hidden; }
.panel.wide { grid-column: 1 / -1; overflow-x: auto; }
table { border-collapse: collapse; white-space: nowrap; }
td, th { padding: .25rem .9rem .25rem 0; text-align: left; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; } th { border-bottom: 1px solid #9aa7b4; }
@media (max-width: 36rem) { .panels { grid-template-columns: minmax(0, 1fr); } }
"""


def marts_page(read: MartsRead, *, made_at: datetime) -> str:
    """Return the page."""
    of_name = {one.panel.name: one for one in read.panels}
    whose = f"tenant {read.tenants[0]}" if len(read.tenants) == 1 else f"{len(read.tenants):,} tenants"
    title = html.escape(f"Memory of {whose}")
    page = _Page()
    body = "\n".join(
        f'<h2>{html.escape(board.title)}</h2>\n<div class="panels">\n'
        + "\n".join(page.panel(of_name[panel.name]) for panel in board.panels)
        + "\n</div>"
        for board in boards()
    )
    note = (
        f"Days from {read.since:%Y-%m-%d} on, in UTC. Made {made_at:%Y-%m-%d %H:%M} UTC from the marts as they were "
        "built last. Ids and numbers only. What each column means: docs/marts.md."
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        f'<style>{_STYLE}</style></head><body>\n<h1>{title}</h1>\n<p class="note">{note}</p>\n{body}\n</body></html>\n'
    )


class _Page:
    """Writes panels; the library of plots is in the page once."""

    def __init__(self) -> None:
        self._has_plots = False

    def panel(self, read: PanelRows) -> str:
        kind = "panel wide" if read.panel.kind == "table" else "panel"
        if not read.rows:
            shown = '<p class="note">Nothing yet.</p>'
        elif read.panel.kind == "table":
            shown = _table(read)
        else:
            shown = figure(read).to_html(
                full_html=False,
                include_plotlyjs=not self._has_plots,
                config={"displayModeBar": False, "responsive": True},
            )
            self._has_plots = True
        heading = f'<h3>{html.escape(read.panel.title)}</h3><p class="note">{html.escape(read.panel.text)}</p>'
        return f'<section class="{kind}" id="{read.panel.name}">{heading}{shown}</section>'


def figure(read: PanelRows) -> Figure:
    """Return the plot of a panel that is no table."""
    from plotly import graph_objects

    layout: dict[str, Any] = {
        "template": "plotly_white",
        "height": 320,
        "margin": {"t": 10, "r": 10, "l": 50, "b": 40},
        "colorway": _COLOURS,
        "legend": {"orientation": "h", "y": -0.25},
        "xaxis": {"automargin": True, "tickangle": 0},
        "yaxis": {"tickformat": _FORMATS.get(read.panel.unit, "")},
        "barmode": "relative",
    }
    traces = [_TRACES[read.panel.kind](name, places, values) for name, places, values in series(read.rows)]
    if read.panel.kind == "bars":
        # in the statement's order, not in that in which series mention them
        order = list(dict.fromkeys(row[0] for row in read.rows))
        layout["xaxis"] |= {"type": "category", "categoryorder": "array", "categoryarray": order}
    return graph_objects.Figure(data=traces, layout=layout)


def series(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, list[Any], list[float]]]:
    """Yield rows (place, series, value) by series: name, places, values; the largest ones, then all others as one."""
    sums: dict[str, float] = {}
    for _, name, value in rows:
        sums[name] = sums.get(name, 0.0) + abs(float(value or 0))
    told = sorted(sums, key=lambda name: -sums[name])[: _SERIES if len(sums) <= _SERIES else _SERIES - 1]
    values: dict[str, dict[Any, float]] = {name: {} for name in told}
    for place, name, value in rows:
        of_series = values.setdefault(name if name in told else _OTHERS, {})
        of_series[place] = of_series.get(place, 0.0) + float(value or 0)
    for name, by_place in values.items():
        yield name, list(by_place), list(by_place.values())


def _line(name: str, places: list[Any], values: list[float]) -> Any:
    from plotly import graph_objects

    # one place alone has no line
    return graph_objects.Scatter(name=name, x=places, y=values, mode="lines" if len(places) > 1 else "markers")


def _bar(name: str, places: list[Any], values: list[float]) -> Any:
    from plotly import graph_objects

    return graph_objects.Bar(name=name, x=places, y=values)


_TRACES: dict[PanelKind, Callable[[str, list[Any], list[float]], Any]] = {"lines": _line, "stack": _bar, "bars": _bar}


def _table(read: PanelRows) -> str:
    numbers = [
        all(isinstance(row[place], int | float | Decimal | None) for row in read.rows)
        for place in range(len(read.columns))
    ]
    kinds = [' class="number"' if number else "" for number in numbers]
    heads = "".join(f"<th{kind}>{html.escape(name)}</th>" for name, kind in zip(read.columns, kinds, strict=True))
    rows = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{html.escape(_cell(value))}</td>" for value, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in read.rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, date | str):
        return str(value)
    return f"{value:,}"
