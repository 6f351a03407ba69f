"""One item after the other, whatever the shape of the file."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.files import open_file
from reverie.capture.history.formats import shapes
from reverie.capture.history.formats.shapes import ForeignItem, foreign_items
from reverie.capture.history.records import BrokenItem
from reverie.capture.mending import mend

ITEMS = [{"id": "a"}, {"id": "b"}]
PAGE: dict[str, Any] = {"user_id": "ana", "results": ITEMS}


def read(path: Path) -> list[ForeignItem | BrokenItem]:
    file = open_file(path)
    with closing(file.stream):
        return list(foreign_items(file, ("results",)))


@pytest.mark.parametrize(
    ("content", "page"),
    [
        (json.dumps(ITEMS), {}),
        ("\n".join(json.dumps(item) for item in ITEMS), {}),
        (json.dumps(PAGE), {"user_id": "ana"}),
        (json.dumps(PAGE, indent=2), {"user_id": "ana"}),
        (
            json.dumps(PAGE | {"results": ITEMS[:1]}) + "\n" + json.dumps(PAGE | {"results": ITEMS[1:]}),
            {"user_id": "ana"},
        ),
        (json.dumps([PAGE]), {"user_id": "ana"}),
        ("id\na\nb\n", {}),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_items(tmp_path: Path, content: str, page: dict[str, str], packed: bool) -> None:
    path = tmp_path / ("x.csv" if content.startswith("id") else "x.json")
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    found = read(path)
    assert [(item.number, item.fields["id"], item.page) for item in found if isinstance(item, ForeignItem)] == [
        (1, "a", page),
        (2, "b", page),
    ]


def test_a_large_object_is_read_item_by_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MAX_FILE", 10)
    (path := tmp_path / "x.json").write_text(json.dumps(PAGE, indent=2))
    assert [item.fields for item in read(path) if isinstance(item, ForeignItem)] == ITEMS


@pytest.mark.parametrize("content", ['{"results": [{"id": "a"}', '{\n"results": [1'])
def test_a_broken_file_says_so(tmp_path: Path, content: str) -> None:
    (path := tmp_path / "x.json").write_text(content)
    (found,) = read(path)
    assert isinstance(found, BrokenItem) and found.reason == "malformed_json"


@pytest.mark.parametrize("whole", [True, False])
def test_one_value_costs_no_other_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    page = PAGE | {"results": [{"id": 1 << 63, "share": 0.1}, {"id": "Hi \ud83d"}]}
    (path := tmp_path / "x.json").write_text(json.dumps(page, indent=2))
    if not whole:
        monkeypatch.setattr(shapes, "MAX_FILE", 10)
    number, text = (item.fields for item in read(path) if isinstance(item, ForeignItem))
    assert number == {"id": 1 << 63, "share": 0.1} and mend(text) == {"id": "Hi \ufffd"}


def test_a_number_too_large_costs_one_item_of_a_large_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MAX_FILE", 10)
    (path := tmp_path / "x.json").write_text('{\n"results": [{"id": 1}, {"id": 1e400}, {"id": 3}]}')
    first, broken, last = read(path)
    assert isinstance(broken, BrokenItem) and (broken.line, broken.reason) == (2, "malformed_json")
    assert [item.fields for item in (first, last) if isinstance(item, ForeignItem)] == [{"id": 1}, {"id": 3}]


def test_an_exponent_too_large_is_a_broken_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MAX_FILE", 10)
    (path := tmp_path / "x.json").write_text('{\n"results": [{"id": 1e99999999999999999999999}]}')
    (found,) = read(path)
    assert isinstance(found, BrokenItem) and found.reason == "malformed_json"
