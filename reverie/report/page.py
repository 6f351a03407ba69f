"""The panels as one HTML page, which opens without a network. Needs the extra `report`, for plotly."""

from __future__ import annotations

import colorsys
import html
import textwrap
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reverie.report.marts import MartsRead, PanelRows
from reverie.report.panels import Panel, boards, palette

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Maximum number of series, and the name of the series that sums the rest.
_SERIES, _OTHERS = 10, "all others"
_FORMATS = {"percentunit": ".0%", "currencyUSD": "$,.2f"}
#: Minimum span of a time axis; a shorter one would be labelled in hours.
_SPAN = timedelta(days=28)
#: Characters per line of a label below a bar.
_LINE = 14
#: Lightness of the darkest and the lightest shade.
_SHADES = 0.3, 0.82
#: Resizes the plots: they are drawn while the page loads, when a card may still be too wide.
_FIT = "addEventListener('load', () => document.querySelectorAll('.plotly-graph-div').forEach(Plotly.Plots.resize))"
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; background: #f6f8fa; max-width: 72rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .25rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 1rem; }
h3 { font-size: 1rem; margin: 0; } .note { color: #5b6875; margin: 0 0 .5rem; }
.panels { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
.panel { background: white; border: 1px solid #dde3e9; border-radius: 6px; padding: 1rem; min-width: 0;
  overflow: hidden; }
.panel.wide { grid-column: 1 / -1; overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; line-height: 1.3; }
td, th { padding: .3rem .9rem .3rem 0; text-align: left; vertical-align: bottom; } td { white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; } th { border-bottom: 1px solid #9aa7b4; }
@media (max-width: 48rem) { .panels { grid-template-columns: minmax(0, 1fr); } }
"""


def marts_page(read: MartsRead, *, made_at: datetime) -> str:
    """Return the marts as one HTML page."""
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
        f"Data since {read.since:%Y-%m-%d}, in UTC. Made {made_at:%Y-%m-%d %H:%M} UTC from the latest build of the "
        "marts. Ids and numbers only. The columns are explained in docs/marts.md."
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width">'
        f'<style>{_STYLE}</style></head><body>\n<h1>{title}</h1>\n<p class="note">{note}</p>\n{body}\n'
        f"{page.script()}</body></html>\n"
    )


class _Page:
    """A writer of panels that includes the plot library only once."""

    def __init__(self) -> None:
        self._has_plots = False

    def panel(self, read: PanelRows) -> str:
        kind = "panel wide" if read.panel.kind == "table" else "panel"
        if not read.rows:
            shown = f"<p>{html.escape(read.panel.empty)}</p>"
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

    def script(self) -> str:
        """Return the script that fits the plots into their cards once the page has loaded."""
        return f"<script>{_FIT}</script>\n" if self._has_plots else ""


def figure(read: PanelRows) -> Figure:
    """Return the plot of a panel that is not a table."""
    from plotly import graph_objects

    panel, named = read.panel, list(series(read.rows))
    layout: dict[str, Any] = {
        "template": "plotly_white",
        "height": 340,
        "margin": {"t": 10, "r": 10, "l": 50, "b": 40},
        "legend": {"orientation": "h", "y": -0.3},
        "showlegend": len(named) > 1,
        "xaxis": {"automargin": True, "tickangle": 0, "title": {"text": panel.x, "standoff": 12}},
        "yaxis": {"automargin": True, "title": panel.y, "tickformat": _FORMATS.get(panel.unit, "")},
        "barmode": "relative",
    }
    if panel.kind == "bars":
        # in the statement's order, not in the order in which series mention them
        order = [_lines(category) for category in dict.fromkeys(row[0] for row in read.rows)]
        layout["xaxis"] |= {"type": "category", "categoryorder": "array", "categoryarray": order}
    else:
        layout["xaxis"]["range"] = _span([row[0] for row in read.rows], panel.days)
    colours = _colours(panel, [name for name, _, _ in named])
    traces = [
        _trace(panel, colour, name, places, values)
        for colour, (name, places, values) in zip(colours, named, strict=True)
    ]
    return graph_objects.Figure(data=traces, layout=layout)


def _span(times: Sequence[datetime], days: int) -> tuple[datetime, datetime]:
    """Return the ends of an axis that covers all times and is long enough for labels in days."""
    first, last = min(times) - timedelta(days=days), max(times) + timedelta(days=days)
    missing = max(_SPAN - (last - first), timedelta())
    return first - missing / 2, last + missing / 2


def _lines(category: str) -> str:
    return "<br>".join(textwrap.wrap(category, _LINE))


def _colours(panel: Panel, names: Sequence[str]) -> list[str]:
    """Return the colour of each series: its own, or a shade; a series that the palette lacks is black."""
    colours = palette(panel.palette)
    if colours.shade is None:
        return [colours.colours.get(name, "#000000") for name in names]
    red, green, blue = (int(colours.shade[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    dark, light = _SHADES
    steps = [dark + (light - dark) * place / (len(names) - 1) for place in range(len(names))] if names[1:] else None
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, step, saturation))
            for step in steps or [lightness]]  # fmt: skip


def series(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, list[Any], list[float]]]:
    """Group rows (place, series, value); yield name, places, values: the largest series, then the others as one."""
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


def _trace(panel: Panel, colour: str, name: str, places: list[Any], values: list[float]) -> Any:
    from plotly import graph_objects

    if panel.kind == "bars":
        return graph_objects.Bar(name=name, x=[_lines(place) for place in places], y=values, marker_color=colour)
    if panel.kind == "stack":
        width = 0.8 * timedelta(days=panel.days) / timedelta(milliseconds=1)
        return graph_objects.Bar(name=name, x=places, y=values, marker_color=colour, width=width)
    # a single place has no line
    mode = "lines" if len(places) > 1 else "markers"
    return graph_objects.Scatter(name=name, x=places, y=values, mode=mode, line_color=colour)


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
