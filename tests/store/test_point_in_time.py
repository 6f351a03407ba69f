"""Recovery to a point in time: an archived write-ahead log, a time, the receipts since, and the drill of the log."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.store.connect import connect
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.testing import fast_directory
from tests.promises import compact
from tests.promises.compact import TENANT, UNTIL

#: What docs/deploying.md sets on the server, for a folder.
ARCHIVING = {
    "wal_level": "replica",
    "archive_mode": "on",
    "archive_command": "test ! -f {archive}/%f && cp %p {archive}/%f",
}
RESTORING = {"restore_command": "cp {archive}/%f %p", "recovery_target_action": "promote", "archive_mode": "off"}


@pytest.fixture
def folder() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="reverie_pitr_", dir=fast_directory()))
    directory.chmod(0o711)
    yield directory
    shutil.rmtree(directory)


def ask(server: EmbeddedPostgres, *arguments: str) -> dict[str, Any]:
    """Run a command on a server and return what it prints."""
    given = {"DATABASE_URL": server.url(), "REVERIE_TENANT": TENANT, "REVERIE_THREADS": "1"}
    result = CliRunner(env=given).invoke(reverie, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def configure(server: EmbeddedPostgres, archive: Path, values: dict[str, str]) -> None:
    """Write settings for the next start of a server."""
    with (server.directory / "data" / "postgresql.auto.conf").open("a") as file:
        for name, value in values.items():
            file.write(f"{name} = '{value.format(archive=archive)}'\n")


def base_backup(server: EmbeddedPostgres, to: EmbeddedPostgres) -> None:
    """Copy the files of a running server, as pg_basebackup does, where the copy starts as a server of its own."""
    to.directory.mkdir(mode=0o700)
    with connect(server.url("postgres")) as conn:
        conn.execute("select pg_backup_start('test', true)")
        shutil.copytree(
            server.directory / "data",
            to.directory / "data",
            ignore=shutil.ignore_patterns("postmaster.*", "pg_wal", "pg_replslot"),
        )
        (label,) = conn.execute("select labelfile from pg_backup_stop(true)").fetchone() or ("",)
    for name in ("pg_wal", "pg_replslot"):
        (to.directory / "data" / name).mkdir(mode=0o700)
    (to.directory / "data" / "backup_label").write_text(label)
    (to.directory / "data" / "recovery.signal").touch()
    shutil.copy2(server.directory / "password", to.directory)
    (to.directory / "lock").touch(mode=0o600)


def give(path: Path, like: Path) -> None:
    """Give a folder and all in it to the owner of another."""
    owner = like.stat()
    for each in (path, *path.rglob("*")):
        os.chown(each, owner.st_uid, owner.st_gid)


def test_a_time_is_restored_erasures_are_replayed_and_the_log_gives_the_memory(folder: Path) -> None:
    live, restored = (EmbeddedPostgres(folder / name, durable=False) for name in ("live", "restored"))
    archive_folder = folder / "archive"
    archive_folder.mkdir(mode=0o700)
    try:
        live.start()
        live.stop()
        give(archive_folder, live.directory / "data")
        configure(live, archive_folder, ARCHIVING)
        migrate(live.start())
        base_backup(live, restored)
        history = compact.write_history(folder / "history.jsonl")
        ask(live, "import", str(history))
        ask(live, "clock", "--stop-at", UNTIL.isoformat())
        ask(live, "run")
        wanted = ask(live, "digest")
        with connect(live.url()) as conn:
            (moment,) = conn.execute("select clock_timestamp()::text").fetchone() or ("",)
        time.sleep(0.1)
        ask(live, "erase", "ben", "--yes")
        ask(live, "receipts", "--export", str(folder / "receipts.jsonl"))
        after = ask(live, "digest")
        with connect(live.url()) as conn:  # a mistake, long after
            conn.execute("truncate log.turns")
            conn.execute("select pg_switch_wal()")
        live.stop()
        configure(restored, archive_folder, RESTORING | {"recovery_target_time": moment})
        give(restored.directory, live.directory / "data")
        restored.start()
        assert ask(restored, "digest")["sha256"] == wanted["sha256"]
        ask(restored, "erase", "--replay", str(folder / "receipts.jsonl"), "--yes")
        assert ask(restored, "digest")["sha256"] == after["sha256"]
        assert ask(restored, "receipts", "--verify")["holds"]
        assert ask(restored, "drill", "restore")["differing"] == []
    finally:
        restored.stop()
        live.stop()
