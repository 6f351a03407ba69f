"""Dead letters that are tried again: who they were, and which turn they are, stays what the import would have made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import FieldOptions, FileOptions, ImportSummary, import_file
from reverie.capture.history.redrive import RedriveSummary, redrive_dead_letters
from reverie.store.database import Store
from reverie.store.dead_letters import KEPT_BYTES
from tests.capture.conftest import NOW, TENANT, jsonl, record

Write = Callable[..., Path]
Rows = Callable[[], list[tuple[Any, ...]]]

WHO = {"subject_id": "login", "session_id": "token", "said_at": "ts", "text": "body"}


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)


def redrive(store: Store, **options: Any) -> RedriveSummary:
    return redrive_dead_letters(store, tenant_id=TENANT, now=NOW, fields=FieldOptions(**options))


def test_people_and_sessions_whose_ids_look_like_secrets_stay_apart(store: Store, write: Write, turns: Rows) -> None:
    ids = [("anasmith", "a8f3k2l9d0s7"), ("bobjones", "4539578763621486"), ("bobjones", "2543219876543217")]
    rows = [f"{who},{session},user,20260314T213052,My pin is 4471" for who, session in ids]
    path = write("\n".join(["login,token,role,ts,body", *rows]).encode(), "log.csv")
    assert load(store, path, mapping=WHO).dead_by_reason == {"naive_time": 3}
    done = redrive(store, mapping=WHO, timezone="UTC")
    assert (done.imported, done.dead) == (3, 0)
    assert [(row[2], row[3], row[9]) for row in turns()] == [
        ("anasmith", "a8f3k2l9d0s7", "My pin is [redacted]"),
        ("bobjones", "2543219876543217", "My pin is [redacted]"),
        ("bobjones", "4539578763621486", "My pin is [redacted]"),
    ]
    assert load(store, path, mapping=WHO, timezone="UTC").repeated == 3


def test_an_id_that_was_redacted_makes_no_turn(store: Store, write: Write, turns: Rows, letters: Rows) -> None:
    """The import did not know that the field was the subject."""
    records = [record(number, subject_id=..., login=who) for number, who in enumerate(("anasmith", "bobjones"))]
    path = write(jsonl(*records))
    assert load(store, path).dead_by_reason == {"missing_field": 2}
    assert redrive(store, mapping={"subject_id": "login"}).dead_by_reason == {"invalid_id": 2}
    assert turns() == [] and "import its file or table again" in letters()[0][2]
    assert redrive(store, subject="ann").imported == 2


@pytest.mark.parametrize(("secret", "more"), [("my pin is 4471. ", 49_400), ("my password is hunter2345678. ", 60_000)])
def test_a_cut_record_stays_one_when_it_is_redacted(
    store: Store, write: Write, conn: psycopg.Connection, secret: str, more: int
) -> None:
    load(store, write(jsonl(record(1, role="x", text=secret * 1000 + "x" * more))))
    ((size,),) = conn.execute("select octet_length(payload) from ops.dead_letters").fetchall()
    assert size == KEPT_BYTES
    assert redrive(store).tried == 0, "it was cut"


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("repeats", [True, False])
def test_a_redriven_record_is_the_turn_of_its_file(
    store: Store, write: Write, conn: psycopg.Connection, kept: bool, repeats: bool
) -> None:
    """A field that is unique among the letters may repeat in the file, and is then no source_id."""
    records = [record(number, source_id=..., id=f"T{number // 4}" if repeats else f"T{number}") for number in range(20)]
    records[19] |= {"said_at": "2026-03-01T09:19:00"}
    path = write(jsonl(*records))
    found = load(store, path)
    assert (found.imported, found.dead, "source_id" in found.assumed) == (19, 1, not repeats)
    if not kept:  # a letter of an earlier version
        conn.execute("delete from ops.sources")
    assert redrive(store, timezone="Europe/Berlin").imported == 1
    if kept or repeats:
        assert load(store, path, timezone="Europe/Berlin").repeated == 20


def test_the_mapping_of_the_import_holds(store: Store, write: Write, turns: Rows) -> None:
    path = write(jsonl(record(1, subject_id=..., owner="ann", role="klant", said_at="2026-03-01T09:00:00")))
    load(store, path, mapping={"subject_id": "owner", "role:klant": "user"})
    assert redrive(store, timezone="UTC").imported == 1
    assert [(row[2], row[6]) for row in turns()] == [("ann", "user")]


def test_the_subject_of_the_import_holds(store: Store, write: Write, turns: Rows) -> None:
    path = write(b"customer_id,session_id,role,said_at,text\n77,s1,user,2026-03-01T09:00:00,Hi\n", "desk.csv")
    assert load(store, path, subject="ann").dead == 1
    assert redrive(store, timezone="UTC").imported == 1
    assert [row[2] for row in turns()] == ["ann"]
    assert load(store, path, subject="ann", timezone="UTC").repeated == 1


def test_messages_of_two_files_with_the_same_positions(
    store: Store, tmp_path: Path, turns: Rows, letters: Rows
) -> None:
    days: list[list[str]] = [["I have a dog."], ["And a cat.", "She eats."], ["Hello.", "My pin is 4471."]]
    paths = []
    for number, texts in enumerate(days, start=1):
        at = f"2026-03-0{number}T09:00:00" + ("" if number > 1 else "Z")
        messages = [{"role": "user", "content": text} for text in texts]
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_bytes(jsonl({"user_id": "ana", "session_id": "c", "created_at": at, "messages": messages}))
        load(store, paths[-1])
    assert [row[1] for row in letters()] == ["naive_time"] * 4
    done = redrive(store, timezone="UTC")
    assert (done.tried, done.imported, done.dead, letters()) == (4, 4, 0, [])
    said = sorted(row[9] for row in turns())
    assert said == ["And a cat.", "Hello.", "I have a dog.", "My pin is [redacted].", "She eats."]
    assert [load(store, path, timezone="UTC").repeated for path in paths] == [1, 2, 2]
