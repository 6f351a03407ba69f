"""A JSON array is read item by item."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history import reading
from reverie.capture.history.importing import FileOptions, ImportSummary, import_file
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT, record

Write = Callable[[bytes], Path]


Rows = Callable[[], list[tuple[Any, ...]]]


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)


def test_an_array_is_read_item_by_item(
    store: Store, write: Write, turns: Rows, letters: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BATCH_RECORDS", 2)
    whole = json.dumps([record(1), record(2), "no", record(3)], indent=1).encode()
    found = load(store, write(whole, "log.json"))  # type: ignore[call-arg]
    assert (found.format, found.imported, found.dead_by_reason) == ("array", 3, {"not_an_object": 1})
    assert letters()[0][0] == 3
    cut = load(store, write(whole[:-20], "cut.json"))  # type: ignore[call-arg]
    assert (cut.repeated, cut.dead_by_reason) == (2, {"not_an_object": 1, "malformed_json": 1})
