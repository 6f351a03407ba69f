"""Each panel has a statement."""

from __future__ import annotations

from reverie.report.panels import boards
from reverie.store.queries import queries


def test_each_panel_has_a_statement_of_its_name_and_each_statement_a_panel() -> None:
    names = [panel.name for board in boards() for panel in board.panels]
    assert len(names) == len(set(names))
    assert {*names, "span"} == set(queries("report"))


def test_statements_return_the_columns_of_their_kind() -> None:
    for panel in (panel for board in boards() for panel in board.panels):
        place = {"lines": "time", "stack": "time", "bars": "category", "table": ""}[panel.kind]
        text = queries("report")[panel.name]
        assert place in text and ("as value" in text) == (panel.kind != "table"), panel.name
