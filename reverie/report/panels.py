"""The panels, read from `panels.toml`. Each has a statement of the same name in `sql/queries/report.sql`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field

from reverie.policy.table import Table

#: Lines and stacks are over time, with the columns time, series and value; bars have category instead of time.
PanelKind = Literal["lines", "stack", "bars", "table"]


class Panel(Table):
    """One plot or table."""

    name: str
    kind: PanelKind
    title: str
    #: A sentence about the content.
    text: str
    #: The unit as Grafana names it: short, percentunit (1 is 100 %), currencyUSD, s.
    unit: str = "short"
    #: Titles of the axes; a table has none.
    x: str = ""
    y: str = ""
    #: Days per bar of a plot over time.
    days: int = 1
    #: Name of the palette; a table has none.
    palette: str = ""
    #: The text if there are no rows: the reason why.
    empty: str = "Nothing yet."


class Board(Table):
    """Panels that are shown together."""

    name: str
    title: str
    panels: tuple[Panel, ...]


class Palette(Table):
    """The colours of some series: by name, or shades of one."""

    name: str
    colours: dict[str, str] = Field(default_factory=dict)
    shade: str | None = None


class _Boards(Table):
    boards: tuple[Board, ...]
    palettes: tuple[Palette, ...]


@cache
def _read() -> _Boards:
    text = files(__package__).joinpath("panels.toml").read_text("utf-8")
    return _Boards.model_validate(tomllib.loads(text))


def boards() -> tuple[Board, ...]:
    """Return the boards in their order."""
    return _read().boards


def palette(name: str) -> Palette:
    """Return a palette by name. Raises KeyError if there is none."""
    return {each.name: each for each in _read().palettes}[name]
