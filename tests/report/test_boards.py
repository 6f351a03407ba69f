"""The Grafana boards are those that the panels make; REVERIE_RECORD_BOARDS=1 writes them."""

from __future__ import annotations

import json
import os

import pytest
from grafana_foundation_sdk.models.dashboard import Dashboard

from reverie.report.panels import boards, palette
from tools.grafana_boards import FOLDER, board_json, main


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.name)
def test_the_files_are_what_the_panels_make(board: object) -> None:
    if os.environ.get("REVERIE_RECORD_BOARDS"):
        main()
    assert (FOLDER / f"{board.name}.json").read_text() == board_json(board)  # type: ignore[attr-defined, arg-type]


def test_grafanas_own_model_reads_them() -> None:
    for board in boards():
        read = Dashboard.from_json(json.loads((FOLDER / f"{board.name}.json").read_text()))
        assert read.uid == f"reverie-{board.name}"
        assert [panel.title for panel in read.panels or ()] == [panel.title for panel in board.panels]  # type: ignore[union-attr]


def test_the_boards_have_the_axes_and_colours_of_the_page() -> None:
    for board in boards():
        drawn = json.loads((FOLDER / f"{board.name}.json").read_text())["panels"]
        for panel, made in zip(board.panels, drawn, strict=True):
            fields = made["fieldConfig"]
            assert fields["defaults"]["noValue"] == panel.empty
            if panel.kind == "table":
                continue
            assert fields["defaults"]["custom"]["axisLabel"] == panel.y
            colours = palette(panel.palette)
            fixed = {
                each["matcher"]["options"]: set_["value"]["fixedColor"]
                for each in fields["overrides"]
                for set_ in each["properties"]
                if set_["id"] == "color"
            }
            assert fixed == colours.colours
            assert fields["defaults"].get("color", {}).get("fixedColor") == colours.shade
