"""Disk space: how much is taken and left, and one sentence when nothing is left."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import psycopg
import pytest

from reverie.errors import DatabaseError
from reverie.store.connect import connect, database_errors
from reverie.store.server.disk import DiskSpace, disk_space

Usage = namedtuple("Usage", ("total", "used", "free"))


def test_a_database_is_measured(conn: psycopg.Connection) -> None:
    found = disk_space(conn)
    assert found.database > sum(found.tables.values()) > 0
    assert len(found.tables) == 5
    assert list(found.tables.values()) == sorted(found.tables.values(), reverse=True)
    assert all(name.partition(".")[0] in ("log", "memory", "ops") for name in found.tables)
    if found.directory is not None:
        assert found.free is not None and found.total is not None
        assert 0 < found.free < found.total


def test_who_may_not_know_the_directory_learns_the_rest(database_url: str) -> None:
    with connect(database_url, role="worker") as conn:
        found = disk_space(conn)
    assert found.database > 0
    assert (found.directory, found.free, found.is_short) == (None, None, False)


@pytest.mark.parametrize(("free", "short"), [(5 << 30, True), (6 << 30, False), (None, False)])
def test_short_is_what_the_log_and_one_more_gigabyte_need(free: int | None, short: bool) -> None:
    space = DiskSpace(database=1, tables={}, log=9 << 29, directory=Path("/x"), free=free, total=9 << 30)
    assert space.is_short is short


def test_doctor_warns(invoke, world, monkeypatch: pytest.MonkeyPatch) -> None:
    text = invoke("doctor").stdout
    assert "\nok   disk" in text or "\nwarn disk" in text
    assert "memory." in text
    monkeypatch.setattr("reverie.store.server.disk._is_here", lambda host: True)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(100 << 30, 100 << 30, 1 << 20))
    result = invoke("doctor")
    (line,) = (line for line in result.stdout.splitlines() if line[5:].startswith("disk"))
    assert line.startswith("warn disk")
    assert "1.0 MB of 107.4 GB free at /" in line
    assert "-> free or add space" in line


def test_a_full_disk_is_a_sentence() -> None:
    said = r"^The disk of the Postgres server is full: .* goes on where it stopped\.$"
    with pytest.raises(DatabaseError, match=said), database_errors():
        raise psycopg.errors.DiskFull("could not extend file")


@pytest.mark.parametrize(
    ("command", "where", "code"),
    [
        (("import", "FILE"), "reverie.capture.history.importing.import_file", 4),
        (("run",), "reverie.cli.operate.run._reports", 4),
        (("run", "--all-tenants"), "reverie.cli.operate.run._reports", 8),
    ],
)
def test_commands_end_with_it(
    invoke, world, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: tuple[str, ...], where: str, code: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise psycopg.errors.DiskFull('could not extend file "base/5/16391": No space left on device')

    file = tmp_path / "a.jsonl"
    file.write_text("{}\n")
    monkeypatch.setattr(where, fail)
    result = invoke(*(str(file) if part == "FILE" else part for part in command))
    assert result.exit_code == code, result.output
    assert "The disk of the Postgres server is full" in result.stderr
    assert "Traceback" not in result.stderr
