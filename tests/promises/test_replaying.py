"""Receipts in a file: for a copy of the database, or where a tenant moves to, and only if their chain holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from psycopg.errors import InsufficientPrivilege

from reverie.capture.history.exported import import_export
from reverie.drive.erase.replaying import read_receipt_file, replay_receipts, write_receipts
from reverie.drive.erase.targets import session_target, subject_target
from reverie.drive.exporting import export
from reverie.errors import InputError
from reverie.store.connect import connect
from reverie.store.privacy.receipts import first_break, read_receipts
from tests.conftest import Databases
from tests.promises.compact import TENANT, UNTIL
from tests.promises.test_corrected_at_once import rows
from tests.promises.test_erased import Opened, everywhere, opened, records_of, remember, take_in, there, without

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


def planted(there: Opened, statement: str, *params: object) -> None:
    """Write rows as whoever owns the database."""
    with connect(there.url) as conn:
        conn.execute(statement, params)  # type: ignore[arg-type]


ITEM = """insert into ops.store_items (tenant_id, namespace, key, value, created_at, updated_at)
          values ('acme', array[%s, 'notes'], 'k', '{}', %s, %s)"""


def replayed(there: Opened, folder: Path) -> list[str | None]:
    """The subjects whose erasures the receipts of a database repeat in it."""
    write_receipts(there.store, TENANT, folder / "receipts.jsonl")
    return [each.subject_id for each in replay_receipts(there.eraser, read_receipt_file(folder / "receipts.jsonl"))]


def test_who_came_back_stays(there: Opened, tmp_path: Path) -> None:
    before, since = UNTIL - timedelta(days=1), UNTIL + timedelta(days=1)
    for subject in ("cleo", "dora"):
        planted(there, ITEM, subject, before, before)
    for subject in ("ana", "cleo", "dora"):
        there.eraser.erase(subject_target(subject))
    planted(
        there,
        """insert into ops.pending_turns (tenant_id, subject_id, session_id, source_id, id, role, said_at, text,
                                          content_hash)
           values ('acme', 'ana', 'now', 's1', gen_random_uuid(), 'user', %s, 'Here I am.', '\\x00')""",
        since,
    )
    planted(there, ITEM, "cleo", before, before)
    planted(there, ITEM, "dora", before, since)
    assert replayed(there, tmp_path) == ["cleo"], "her item is of before, as from a backup"
    assert rows(there.store, "select text from ops.pending_turns") == [("Here I am.",)]
    assert rows(there.store, "select namespace[1] from ops.store_items") == [("dora",)]


def test_an_erased_tenant_goes_from_a_backup(there: Opened, tmp_path: Path) -> None:
    def restore(at: object) -> None:
        planted(there, "insert into ops.tenants (tenant_id, created_at) values ('acme', %s)", at)
        planted(there, "insert into ops.consents (tenant_id, subject_id, changed_at) values ('acme', 'ana', %s)", at)
        planted(there, ITEM, "cleo", at, at)

    assert list(there.eraser.erase_tenant())
    restore(UNTIL - timedelta(days=1))
    assert sorted(filter(None, replayed(there, tmp_path))) == ["cleo", "notes"]
    assert set(everywhere(there.url, TENANT)) == {"ops.erasures", "ops.erased", "ops.erasure_keys"}
    restore(UNTIL + timedelta(days=1))
    assert replayed(there, tmp_path) == [], "it is a new one of the same name"
    assert rows(there.store, "select count(*) from ops.consents") == [(1,)]
