"""Usual role names and mapped values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import FieldOptions, FileOptions, ImportSummary, import_file
from reverie.capture.history.redrive import redrive_dead_letters
from reverie.errors import InputError
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT, jsonl, record

Write = Callable[[bytes], Path]


Rows = Callable[[], list[tuple[Any, ...]]]


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)


def test_values_are_mapped_and_redriven(store: Store, write: Write, turns: Rows) -> None:
    path = write(jsonl(*(record(number, role=("klant", "agent")[number % 2]) for number in range(66))))
    found = load(store, path)
    assert (found.imported, found.dead_by_reason) == (33, {"unknown_role": 33})
    assert found.cure == (
        "33 of 66 records became dead letters for the reason unknown_role: role has the values klant; map them to "
        "roles, for instance with --map role:klant=user (or assistant, system, tool)."
    )
    again = redrive_dead_letters(store, tenant_id=TENANT, now=NOW, fields=FieldOptions(mapping={"role:klant": "user"}))
    assert (again.imported, again.dead) == (33, 0)
    assert {row[6] for row in turns()} == {"user", "assistant"}
    for mapping, message in (
        ({"role:klant": "boss"}, "no role 'boss'"),
        ({"text:a": "b"}, "cannot be mapped"),
        ({"whose": "x"}, "no field 'whose'"),
    ):
        with pytest.raises(InputError, match=message):
            load(store, path, mapping=mapping)


def test_the_cure_names_no_text(store: Store, write: Write) -> None:
    found = load(store, write(jsonl(record(1, role="My name is Ana and I live here"))))
    assert found.cure is not None
    assert "Ana" not in found.cure
    few = [record(number) for number in range(20)] + [record(21, role="klant")]
    assert load(store, write(jsonl(*few))).cure is None
    assert "--timezone" in str(load(store, write(jsonl(record(1, said_at="2026-03-01T09:00:00")))).cure)
    assert "The fields are" in str(load(store, write(jsonl(record(1, text=...)))).cure)
