"""An export is taken in row by row, each once, and only as what it says it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.exported import import_export, is_export
from reverie.errors import InputError
from reverie.store.database import Store

MANIFEST = {"format": "reverie export", "version": 1, "tenant_id": "acme", "policy": "reverie"}
TURN = {
    "id": "019caa00-0000-8000-8000-000000000000",
    "subject_id": "ana",
    "session_id": "s1",
    "source_id": "t1",
    "turn_index": 0,
    "role": "user",
    "speaker": "Ana",
    "said_at": "2026-03-01T09:00:00+00:00",
    "text": "I like tea.",
    "content_hash": "\\x01",
}


def exported(folder: Path, *lines: Any, **changed: Any) -> Path:
    """A file of an export with these rows."""
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (MANIFEST | changed, *lines)))
    return path


def row(table: str = "log.turns", **changed: Any) -> dict[str, Any]:
    return {"table": table, "row": TURN | changed}


def test_rows_come_in_once(store: Store, tmp_path: Path) -> None:
    path = exported(tmp_path, row(), row(id="019caa00-0000-8000-8000-000000000001", source_id="t2"))
    assert is_export(path)
    first, second = (import_export(store, path, tenant_id="acme") for _ in range(2))
    assert (first.read, first.imported, first.repeated, first.subjects, first.sessions) == (2, 2, 0, 1, 1)
    assert (second.imported, second.repeated) == (0, 2)
    assert store.tenants() == [("acme", "reverie")]


def test_a_consent_that_refuses_capture_does_not_refuse_what_was_said_before(
    store: Store, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    consent = {"subject_id": "ana", "capture": False, "recall": True, "changed_at": "2026-03-02T09:00:00+00:00"}
    said = [row(id=f"019caa00-0000-8000-8000-00000000000{n}", source_id=f"t{n}") for n in range(3)]
    path = exported(tmp_path, {"table": "ops.consents", "row": consent}, *said)
    taken = import_export(store, path, tenant_id="acme")
    assert (taken.imported, taken.skipped.total(), taken.others["ops.consents"]) == (3, 0, 1)
    assert conn.execute("select subject_id, capture from ops.consents").fetchall() == [("ana", False)]
    later = import_export(store, exported(tmp_path, row(source_id="t9")), tenant_id="acme")
    assert (later.imported, later.skipped["refused"]) == (0, 1)


def test_large_rows_come_in_portions_that_a_statement_can_hold(
    store: Store, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    said = [row(id=f"019caa00-0000-8000-8000-{n:012}", source_id=f"t{n}", text="x" * (1 << 20)) for n in range(20)]
    assert import_export(store, exported(tmp_path, *said), tenant_id="acme").imported == 20
    transactions = conn.execute("select count(*) from log.turns group by xmin order by 1").fetchall()
    assert transactions == [(4,), (16,)]


@pytest.mark.parametrize(
    ("lines", "changed", "said"),
    [
        ([row("ops.api_keys")], {}, "Line 2 of log.jsonl is not a row"),
        ([{"row": {}}], {}, "Line 2 of log.jsonl is not a row"),
        ([row()], {"tenant_id": "other"}, "is from tenant 'other'"),
        ([row()], {"version": 2}, "of version 2, and this Reverie reads version 1"),
    ],
)
def test_what_is_none_is_refused(
    store: Store, tmp_path: Path, lines: list[Any], changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        import_export(store, exported(tmp_path, *lines, **changed), tenant_id="acme")


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"subject_id": "ana"}', "x" * 10_000])
def test_other_files_are_no_exports(tmp_path: Path, content: str) -> None:
    (tmp_path / "file").write_text(content)
    assert not is_export(tmp_path / "file") and not is_export(tmp_path / "none") and not is_export(tmp_path)
