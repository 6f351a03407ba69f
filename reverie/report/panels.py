"""Which panels there are: read from `panels.toml`; each has a statement of its name in `sql/queries/report.sql`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from reverie.policy.table import Table

#: Lines and stacks are over time, with the columns time, series and value; bars have category instead of time.
PanelKind = Literal["lines", "stack", "bars", "table"]


class Panel(Table):
    """One plot or table."""

    name: str
    kind: PanelKind
    title: str
    #: What it shows, in a sentence.
    text: str
    #: As Grafana names units: short, percentunit (1 is 100 %), currencyUSD, s.
    unit: str = "short"


class Board(Table):
    """Panels that are looked at together."""

    name: str
    title: str
    panels: tuple[Panel, ...]


class _Boards(Table):
    boards: tuple[Board, ...]


@cache
def boards() -> tuple[Board, ...]:
    """Return the boards in their order."""
    text = files(__package__).joinpath("panels.toml").read_text("utf-8")
    return _Boards.model_validate(tomllib.loads(text)).boards
