"""A JSON array is read item by item."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history import reading
from reverie.capture.history.formats.array import read_items
from reverie.capture.history.importing import FileOptions, ImportSummary, import_file
from reverie.capture.history.records import BrokenItem
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


def test_one_value_costs_no_other_item(store: Store, write: Write, turns: Rows) -> None:
    """A number of 64 bits, as an id made by a hash; an emoji cut in two; a number that is no float; a deep nesting."""
    odd = json.dumps(
        [record(1, metadata={"hash": 1 << 63, "share": 0.1, "wide": 10**22}), record(2, text="Hi \ud83d \U0001f600")]
    )
    deep = "[" * 5000 + "]" * 5000
    whole = odd[:-1] + ', {"text": 1e999}, {"text": ' + deep + "}, " + json.dumps(record(3)) + "]"
    found = load(store, write(whole.encode(), "log.json"))  # type: ignore[call-arg]
    assert (found.imported, found.dead_by_reason) == (3, {"malformed_json": 2})
    assert turns()[0][11] == {"hash": 1 << 63, "share": 0.1, "wide": 10**22}
    assert turns()[1][9] == "Hi \ufffd \U0001f600"


@pytest.mark.parametrize("size", range(1, 30))
def test_unpaired_surrogates_in_blocks_of_any_size(size: int) -> None:
    written = (
        rb'["\ud83d\uDE00", "\ud83d", "\ude00\ud83d\ud83d\ude00", "\\ud83d", "\\\ud83d", "\"\uD83Dud", "\\ud83d\ude00"]'
    )
    blocks = [written[at : at + size] for at in range(0, len(written), size)]
    assert list(read_items(blocks)) == list(
        enumerate(
            ["\U0001f600", "\ufffd", "\ufffd\ufffd\U0001f600", "\\ud83d", "\\\ufffd", '"\ufffdud', "\\ud83d\ufffd"],
            start=1,
        )
    )


@pytest.mark.parametrize("size", [7, 100_000])
def test_a_number_of_thousands_of_digits_costs_one_item(size: int) -> None:
    """The parser would crash at it. In a text, digits are digits."""
    long = "9" * 5_000
    items = [f'{{"n": {number}}}' for number in (f"{long}", f"-{long}.5", f"0.{long}", "7")]
    texts = [f'"{lead}{long}"' for lead in ("", " ", r"\"", r"\\", r"\\\" 1,")]
    written = f"[{', '.join(items + texts)}]".encode()
    found = list(read_items(written[at : at + size] for at in range(0, len(written), size)))
    assert [type(item) for item in found[:2]] == [BrokenItem, BrokenItem]
    assert found[2:4] == [(3, {"n": 1.0}), (4, {"n": 7})]
    assert found[4:] == list(enumerate((json.loads(text) for text in texts), start=5))


def test_an_exponent_that_is_too_large_ends_the_array_as_damage_does() -> None:
    first, last = read_items([b'[{"n": 1}, {"n": 1e99999999999999999999999}, {"n": 2}]'])
    assert first == (1, {"n": 1})
    assert isinstance(last, BrokenItem) and (last.line, last.reason) == (2, "malformed_json")
