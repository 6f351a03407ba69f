"""Write the panels of `reverie report` as Grafana boards: `python -m tools.grafana_boards`.

They have the same statements over the marts, with Grafana's tenant variable and time range in place of our parameters.
Grafana's own builders make the boards, so they conform to its schema.
"""

from __future__ import annotations

import re
from pathlib import Path

from grafana_foundation_sdk.builders import barchart, common, dashboard, table, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import GraphDrawStyle, LegendDisplayMode, LegendPlacement, StackingMode
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
    GridPos,
    VariableRefresh,
)

from reverie.report.panels import Board, Panel, boards, palette
from reverie.store.queries import queries

FOLDER = Path(__file__).resolve().parents[1] / "deployments" / "grafana"
_SOURCE = DataSourceRef(type_val="postgres", uid="reverie")
#: Grafana's expression for each of our parameters.
_PARAMETERS = {
    "tenants": "array[${tenant:sqlstring}]::text[]",
    "since": "$__timeFrom()::timestamptz::date",
    "until": "$__timeTo()::timestamptz",
}
_WIDTH, _HEIGHT = 12, 9


class Sql(Builder[Dataquery], Dataquery):
    """An SQL statement as a panel's target."""

    def __init__(self, statement: str, *, over_time: bool) -> None:
        """Take one of our statements; `over_time`: its columns are time, series and value."""
        self._query = {
            "refId": "A",
            "datasource": _SOURCE.to_json(),
            "editorMode": "code",
            "format": "time_series" if over_time else "table",
            "rawQuery": True,
            "rawSql": _for_grafana(statement, over_time=over_time),
        }

    def build(self) -> Dataquery:
        """Return itself, since it is already built."""
        return self

    def to_json(self) -> object:
        """Return the query as Grafana stores it."""
        return self._query


def _for_grafana(statement: str, *, over_time: bool) -> str:
    filled = re.sub(r"%\((\w+)\)s", lambda found: _PARAMETERS[found[1]], statement)
    # a column `metric` names the series
    return (
        " ".join(("select time, series as metric, value from (", filled, ") p order by time")) if over_time else filled
    )


def board_json(board: Board) -> str:
    """Return a board as the text of its file."""
    made = (
        dashboard.Dashboard(f"Reverie: {board.title}")
        .uid(f"reverie-{board.name}")
        .tags(["reverie"])
        .readonly()
        .timezone("utc")
        .time("now-180d", "now")
        .with_variable(
            dashboard.QueryVariable("tenant")
            .label("Tenant")
            .datasource(_SOURCE)
            .query("select tenant_id from marts.tenants order by turns desc, tenant_id")
            .refresh(VariableRefresh.ON_DASHBOARD_LOAD)
            .multi(True)
            .include_all(True)
        )
    )
    x, y = 0, 0
    for panel in board.panels:
        width = 2 * _WIDTH if panel.kind == "table" else _WIDTH
        if x + width > 2 * _WIDTH:
            x, y = 0, y + _HEIGHT
        made = made.with_panel(_panel(panel).grid_pos(GridPos(h=_HEIGHT, w=width, x=x, y=y)))
        x += width
    return JSONEncoder(sort_keys=True, indent=2).encode(made.build()) + "\n"


def _panel(panel: Panel) -> timeseries.Panel | barchart.Panel | table.Panel:
    over_time = panel.kind in ("lines", "stack")
    target = Sql(queries("report")[panel.name], over_time=over_time)
    legend = (
        common.VizLegendOptions()
        .display_mode(LegendDisplayMode.LIST)
        .placement(LegendPlacement.BOTTOM)
        .show_legend(True)
    )
    made: timeseries.Panel | barchart.Panel | table.Panel
    if panel.kind == "table":
        made = table.Panel()
    elif over_time:
        made = timeseries.Panel().unit(panel.unit).legend(legend).fill_opacity(0 if panel.kind == "lines" else 80)
        if panel.kind == "stack":
            made = made.draw_style(GraphDrawStyle.BARS).stacking(common.StackingConfig().mode(StackingMode.NORMAL))
    else:
        # one column per series, which the bars stack
        matrix = {"rowField": "category", "columnField": "series", "valueField": "value"}
        made = (
            barchart.Panel()
            .unit(panel.unit)
            .legend(legend)
            .stacking(StackingMode.NORMAL)
            .with_transformation(DataTransformerConfig(id_val="groupingToMatrix", options=matrix))
            .override_by_name("category\\series", [DynamicConfigValue(id_val="displayName", value=panel.x)])
        )
    made = made.no_value(panel.empty)
    if not isinstance(made, table.Panel):
        made = _coloured(made.axis_label(panel.y), panel)
    return made.title(panel.title).description(panel.text).datasource(_SOURCE).with_target(target)


def _coloured(made: timeseries.Panel | barchart.Panel, panel: Panel) -> timeseries.Panel | barchart.Panel:
    """Give the series the same colours as on the report's page."""
    colours = palette(panel.palette)
    if colours.shade is not None:
        return made.color_scheme(dashboard.FieldColor().mode(FieldColorModeId.SHADES).fixed_color(colours.shade))
    for name, colour in colours.colours.items():
        fixed = {"mode": "fixed", "fixedColor": colour}
        made = made.override_by_name(name, [DynamicConfigValue(id_val="color", value=fixed)])
    return made


def main() -> None:
    """Write a file for each board."""
    FOLDER.mkdir(exist_ok=True)
    for board in boards():
        (FOLDER / f"{board.name}.json").write_text(board_json(board), encoding="utf-8")


if __name__ == "__main__":
    main()
