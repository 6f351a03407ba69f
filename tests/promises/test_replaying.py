"""Receipts in a file: for a copy of the database alone, and only if their chain holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reverie.drive.erase.replaying import read_receipt_file, replay_receipts, write_receipts
from reverie.drive.erase.targets import subject_target
from reverie.errors import InputError
from tests.conftest import Databases
from tests.promises.compact import TENANT
from tests.promises.test_erased import Opened, opened, there, without

__all__ = ["there", "without"]


def test_a_file_of_receipts_is_checked(there: Opened, databases: Databases, tmp_path: Path) -> None:
    there.eraser.erase(subject_target("ben"))
    path = tmp_path / "receipts.jsonl"
    assert write_receipts(there.store, TENANT, path) == 1
    assert len(read_receipt_file(path).receipts[0][1]) > 10, "the marks of its turns"
    with opened(databases) as other, pytest.raises(InputError, match="no copy of that database"):
        list(replay_receipts(other.eraser, read_receipt_file(path)))
    with pytest.raises(InputError, match="of tenant 'acme', not of 'other'"):
        list(replay_receipts(replace(there.eraser, tenant_id="other"), read_receipt_file(path)))
    path.write_text(path.read_text().replace('"actor":"sam"', '"actor":"max"'))
    with pytest.raises(InputError, match="broken at receipt 1"):
        read_receipt_file(path)
    path.write_text("[]")
    with pytest.raises(InputError, match="is no file of receipts"):
        read_receipt_file(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_receipt_file(tmp_path / "none")
