"""Receipts in a file: for a copy of the database, or where a tenant moves to, and only if their chain holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from psycopg.errors import InsufficientPrivilege

from reverie.capture.history.exported import import_export
from reverie.drive.erase.replaying import read_receipt_file, replay_receipts, write_receipts
from reverie.drive.erase.targets import session_target, subject_target
from reverie.drive.exporting import export
from reverie.errors import InputError
from reverie.store.privacy.receipts import first_break, read_receipts
from tests.conftest import Databases
from tests.promises.compact import TENANT, UNTIL
from tests.promises.test_erased import Opened, opened, records_of, remember, take_in, there, without

__all__ = ["there", "without"]


def test_a_file_of_receipts_is_checked(there: Opened, databases: Databases, tmp_path: Path) -> None:
    there.eraser.erase(subject_target("ben"))
    path = tmp_path / "receipts.jsonl"
    assert write_receipts(there.store, TENANT, path) == 1
    assert len(read_receipt_file(path).receipts[0][1]) > 10, "the marks of its turns"
    with opened(databases) as other, pytest.raises(InputError, match="not a copy of their database"):
        list(replay_receipts(other.eraser, read_receipt_file(path)))
    with pytest.raises(InputError, match="of tenant 'acme', not of 'other'"):
        list(replay_receipts(replace(there.eraser, tenant_id="other"), read_receipt_file(path)))
    path.write_text(path.read_text().replace('"actor":"sam"', '"actor":"max"'))
    with pytest.raises(InputError, match="broken at receipt 1"):
        read_receipt_file(path)
    path.write_text("[]")
    with pytest.raises(InputError, match="is not a file of receipts"):
        read_receipt_file(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_receipt_file(tmp_path / "none")


def test_what_was_erased_is_refused_where_the_tenant_moves_to(
    there: Opened, databases: Databases, history: Path, tmp_path: Path
) -> None:
    erased = there.eraser.erase(subject_target("ben"))
    made = export(there.url, TENANT, tmp_path / "out", subject_id=None, at=UNTIL)
    log, _, receipts = made.files
    assert erased.receipt and made.counts["ops.erasures"] == 1
    file = read_receipt_file(receipts)
    with opened(databases) as other:
        import_export(other.store, log, tenant_id=TENANT)
        take_in(other.store, tmp_path, [each for each in records_of(history) if each["subject_id"] == "ben"][:1])
        assert [each.turns for each in replay_receipts(other.eraser, file)] == [1], "what had come in another way"
        taken = take_in(other.store, tmp_path, records_of(history))
        assert taken.imported == 0 and taken.dead_by_reason["erased"] > 10
        assert remember(other.store).tables == remember(there.store).tables
        assert list(replay_receipts(other.eraser, file)) == [], "repeated, nothing is left to do"
        other.eraser.erase(session_target("ana", records_of(history)[0]["session_id"]))
        with other.store.transaction(TENANT) as conn:
            kept = read_receipts(conn, TENANT)
        assert kept[0] == erased.receipt and len(kept) == 2 and first_break(TENANT, kept) is None
    with opened(databases) as another:
        take_in(another.store, tmp_path, records_of(history)[:2])
        another.eraser.erase(subject_target("ana"))
        with pytest.raises(InputError, match="it has erased data with its own keys"):
            list(replay_receipts(another.eraser, file))


def test_only_the_eraser_reads_the_keys(there: Opened) -> None:
    with there.store.transaction(TENANT) as conn, pytest.raises(InsufficientPrivilege):
        conn.execute("select ops.erasure_secret()")
    with there.eraser.transaction() as conn:
        assert conn.execute("select length(ops.erasure_secret())").fetchone() == (128,)
        assert conn.execute("select ops.take_erasure_secret(%s)", [bytes(5)]).fetchone() == (None,)
