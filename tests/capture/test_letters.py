"""Dead letters of a subject that is not captured have no content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import FileOptions, import_file
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT, jsonl, record

Write = Callable[..., Path]
Rows = Callable[[], list[tuple[Any, ...]]]


def refuse(conn: psycopg.Connection) -> None:
    """Ann does not agree to be captured."""
    conn.execute(
        "insert into ops.consents (tenant_id, subject_id, capture, changed_at) values (%s, 'ann', false, now())",
        [TENANT],
    )


@pytest.fixture
def uncaptured(conn: psycopg.Connection) -> None:
    refuse(conn)


def kept(store: Store, path: Path, letters: Rows, **options: Any) -> list[bool]:
    """Whether each letter of a file has content."""
    import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)
    return [payload is not None for *_, payload, _ in letters()]


@pytest.mark.usefixtures("uncaptured")
def test_a_rejected_record_is_of_its_subject(store: Store, write: Write, letters: Rows) -> None:
    wrong = [record(1, role="klant"), record(2, role="klant", subject_id="ben", text="ann")]
    assert kept(store, write(jsonl(*wrong)), letters) == [False, True]


@pytest.mark.usefixtures("uncaptured")
def test_one_without_a_subject_is_of_whom_it_names(store: Store, write: Write, letters: Rows) -> None:
    wrong = [record(1, subject_id="", login="ann"), record(2, subject_id="", login="ben")]
    damaged = jsonl(record(3), record(4, subject_id="ben")).replace(b'."}', b"")
    assert kept(store, write(jsonl(*wrong) + damaged), letters) == [False, True, False, True]


@pytest.mark.usefixtures("uncaptured")
def test_the_subject_of_an_import_is_that_of_all_its_records(store: Store, write: Write, letters: Rows) -> None:
    path = write(jsonl(record(1, role="klant", subject_id="ben")) + b"{damaged\n")
    assert kept(store, path, letters, subject="ann") == [False, False]


@pytest.mark.usefixtures("uncaptured")
def test_content_that_was_kept_before_goes(store: Store, conn: psycopg.Connection, write: Write, letters: Rows) -> None:
    path = write(jsonl(record(1, role="klant")))
    conn.execute("update ops.consents set capture = true")
    assert kept(store, path, letters) == [True]
    conn.execute("update ops.consents set capture = false")
    assert kept(store, path, letters) == [False]


@pytest.mark.parametrize(
    ("kind", "changed"),
    [("turn", {"text": "Other"}), ("statement", {"text": "Other"}), ("outcome", {"value": 2})],
)
def test_a_known_id_with_other_content_is_refused(
    store: Store, conn: psycopg.Connection, write: Write, letters: Rows, kind: str, changed: dict[str, Any]
) -> None:
    said = record(1, type=kind, observed_at="2026-03-01T09:00:00Z", metric="m", value=1, positive=True)
    assert kept(store, write(jsonl(said)), letters) == []
    refuse(conn)
    assert kept(store, write(jsonl(said)), letters) == [], "it is the same"
    assert kept(store, write(jsonl(said | changed)), letters) == [False]
    assert letters()[0][1] == "capture_off"
