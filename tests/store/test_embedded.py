"""The embedded server: cold, warm, killed, contested, misplaced."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest

from reverie.errors import DatabaseError
from reverie.settings import load_settings
from reverie.store.connect import connect, database_errors
from reverie.store.server import programs
from reverie.store.server.address import database_url
from reverie.store.server.embedded import EmbeddedPostgres

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who hands the server to another user")

START = "import sys; from reverie.store.server.embedded import EmbeddedPostgres; " + (
    "print(EmbeddedPostgres(sys.argv[1], durable=False).start())"
)


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    """A directory that the server's user can enter; pytest's own are closed to everyone but us."""
    directory = Path(tempfile.mkdtemp(prefix="reverie_embedded_"))
    directory.chmod(0o711)
    yield directory
    for cluster in directory.iterdir():
        EmbeddedPostgres(cluster).stop()
    shutil.rmtree(directory)


@pytest.fixture(scope="module")
def server(ground: Path) -> EmbeddedPostgres:
    """One server for all tests here; each finds it in whatever state the last one left it."""
    return EmbeddedPostgres(ground / "shared", durable=False)


def _one(url: str, query: str) -> object:
    with connect(url) as conn:
        row = conn.execute(query).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return row[0]


def _start_elsewhere(directory: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", START, str(directory)], stdout=subprocess.PIPE, text=True)


def _postmasters(server: EmbeddedPostgres) -> list[int]:
    """The Postgres processes of this directory that no other of them started."""
    parents = {}
    for pid in psutil.pids():
        with contextlib.suppress(psutil.NoSuchProcess):  # a worker of the server may end meanwhile
            if programs.serves(pid, server.directory / "data"):
                parents[pid] = psutil.Process(pid).ppid()
    return [pid for pid, parent in parents.items() if parent not in parents]


def test_starting_twice_is_starting_once(server: EmbeddedPostgres) -> None:
    url = server.start()
    pid = server.status().pid
    assert server.start() == url
    assert server.status().pid == pid
    assert server.status().running
    assert urlsplit(url).hostname == "127.0.0.1"
    assert urlsplit(url).path == "/reverie"
    assert urlsplit(server.url("a b/c")).path == "/a%20b%2Fc"


def test_it_offers_vectors_utf8_and_utc(server: EmbeddedPostgres) -> None:
    with connect(server.start()) as conn:
        conn.execute("create extension if not exists vector")
        assert conn.execute("select '[1,2]'::halfvec <=> '[1,2]'::halfvec").fetchone() == (0.0,)
        assert conn.execute("show server_encoding").fetchone() == ("UTF8",)
        for name, value in (("jit", "off"), ("wal_level", "minimal"), ("unix_socket_directories", "")):
            assert conn.execute("select current_setting(%s)", [name]).fetchone() == (value,)


def test_only_the_password_opens_it(server: EmbeddedPostgres) -> None:
    parts = urlsplit(server.start())
    with pytest.raises(DatabaseError, match="refused the password"):
        connect(f"postgresql://{parts.username}:guess@127.0.0.1:{parts.port}/reverie")
    for name in ("password", "port", "lock", "server.log", "data"):
        mode = stat.S_IMODE((server.directory / name).stat().st_mode)
        assert mode & 0o077 == 0, name
    assert stat.S_IMODE(server.directory.stat().st_mode) == 0o700


def test_stopping_keeps_data_and_port(server: EmbeddedPostgres) -> None:
    url = server.start()
    with connect(url) as conn:
        conn.execute("create table if not exists kept as select 42 as n")
    assert server.stop()
    assert not server.stop()
    status = server.status()
    assert (status.running, status.pid) == (False, None)
    with pytest.raises(DatabaseError, match="No Postgres answers"):
        connect(url)
    assert server.start() == url
    assert _one(url, "select n from kept") == 42


def test_a_taken_port_is_given_up(server: EmbeddedPostgres) -> None:
    old = urlsplit(server.start()).port
    server.stop()
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", old))
        squatter.listen()
        url = server.start()
        assert urlsplit(url).port != old
        assert _one(url, "select 1") == 1


def test_a_killed_server_starts_again_with_what_was_committed(server: EmbeddedPostgres) -> None:
    with connect(server.start()) as conn:
        conn.execute("create table survived as select generate_series(1, 10000) as n")
        conn.execute("select pg_switch_wal()")
        pid = server.status().pid
        assert pid
        os.kill(pid, signal.SIGKILL)
    assert _one(server.start(), "select count(*) from survived") == 10_000
    assert server.status().pid != pid


def test_a_pid_that_now_belongs_to_someone_else_is_no_server(server: EmbeddedPostgres) -> None:
    server.start()
    left = server.directory / "data" / "postmaster.pid"
    lines = left.read_text().splitlines()
    server.stop()
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        left.write_text("\n".join([str(bystander.pid), *lines[1:]]) + "\n")
        assert not server.status().running
        assert not server.stop()
        assert _one(server.start(), "select 1") == 1
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_four_processes_that_start_at_once_share_one_server(ground: Path) -> None:
    server = EmbeddedPostgres(ground / "contested", durable=False)
    starting = [_start_elsewhere(server.directory) for _ in range(4)]
    urls = {process.communicate(timeout=120)[0].strip() for process in starting}
    assert [process.returncode for process in starting] == [0] * 4
    assert urls == {server.url()}
    assert _postmasters(server) == [server.status().pid]
    assert server.stop()


def test_a_start_may_be_killed_at_any_moment(ground: Path) -> None:
    server = EmbeddedPostgres(ground / "interrupted", durable=False)
    for moment in (0.3, 0.6, 0.9, 1.2, 1.5):
        process = _start_elsewhere(server.directory)
        time.sleep(moment)
        process.kill()
        process.communicate()
    assert _one(server.start(), "select current_database()") == "reverie"
    assert _postmasters(server) == [server.status().pid]
    assert server.stop()
    assert [path.name for path in server.directory.glob("data*")] == ["data"]


def test_it_is_durable_unless_told_otherwise(server: EmbeddedPostgres) -> None:
    assert _one(server.start(), "show fsync") == "off"
    server.stop()
    url = EmbeddedPostgres(server.directory).start()
    for name in ("fsync", "full_page_writes", "synchronous_commit"):
        assert _one(url, f"show {name}") == "on"
    server.stop()


def test_its_log_never_holds_what_a_statement_said(server: EmbeddedPostgres) -> None:
    with connect(server.start()) as conn:
        conn.execute("create table secrets (said text primary key check (said <> 'i am ill'), n int)")
        for statement in (
            "insert into secrets values ('i am ill')",
            "insert into secrets values ('i am ill, again', 'i am ill'::int)",
            "insert into secrets values ('twice, i am ill'), ('twice, i am ill')",
            "select 'i am ill' from nowhere",
        ):
            with pytest.raises(psycopg.Error):
                conn.execute(statement)  # type: ignore[arg-type]
        conn.execute("do $$ begin raise warning 'i am ill'; end $$")
    log = (server.directory / "server.log").read_text()
    assert "ready to accept connections" in log
    assert "i am ill" not in log


def test_a_server_whose_home_was_deleted_says_so_and_starts_again(ground: Path) -> None:
    server = EmbeddedPostgres(ground / "deleted", durable=False)
    url = server.start()
    (left,) = _postmasters(server)
    with connect(url) as conn:
        shutil.rmtree(server.directory)
        try:
            with pytest.raises(DatabaseError, match="files of .* are gone.*reverie db start"):
                connect(url)
            with pytest.raises(DatabaseError, match="files of .* are gone"), database_errors():
                conn.execute("create table kept as select 1")
            with connect(server.start()) as fresh:
                assert fresh.execute("select 1").fetchone() == (1,)
        finally:
            os.kill(left, signal.SIGKILL)  # within a minute it would end by itself


def test_data_of_another_version_are_left_alone(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()
    version = server.directory / "data" / "PG_VERSION"
    current = version.read_text()
    version.write_text("13\n")
    try:
        with pytest.raises(DatabaseError, match=f"made by Postgres 13 and the installed one is {current.strip()}"):
            server.start()
    finally:
        version.write_text(current)
    server.start()


def test_a_server_that_cannot_start_says_why(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()
    configuration = server.directory / "data" / "postgresql.conf"
    text = configuration.read_text()
    configuration.write_text(text + "no_such_setting = 1\n")
    try:
        with pytest.raises(DatabaseError, match="did not start: .*no_such_setting|did not start: .*errors"):
            server.start()
    finally:
        configuration.write_text(text)
    server.start()


def test_before_the_first_start_there_is_nothing(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "never")
    assert not server.stop()
    status = server.status()
    assert (status.running, status.pid, status.port, status.major) == (False, None, None, None)
    with pytest.raises(DatabaseError, match="reverie db start"):
        server.url()
    assert not server.directory.exists()


def test_a_directory_with_other_files_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    before = tmp_path.stat()
    with pytest.raises(DatabaseError, match="directory of its own"):
        EmbeddedPostgres(tmp_path).start()
    after = tmp_path.stat()
    assert (after.st_mode, after.st_uid) == (before.st_mode, before.st_uid)


def test_a_file_in_place_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseError, match="REVERIE_HOME"):
        EmbeddedPostgres(tmp_path / "file").start()


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DatabaseError, match="Set DATABASE_URL, or install"):
        EmbeddedPostgres(tmp_path / "pg").start()


def test_without_database_url_the_embedded_server_is_used(ground: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = ground / "home"
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("REVERIE_HOME", str(home))
    monkeypatch.setenv("PGPORT", "1")  # meant for another server
    monkeypatch.setenv("PGDATA", "/nowhere")
    try:
        url = database_url(load_settings())
        assert _one(url, "select current_database()") == "reverie"
        assert url == EmbeddedPostgres(home / "postgres").url()
    finally:
        EmbeddedPostgres(home / "postgres").stop()
        shutil.rmtree(home, ignore_errors=True)


@as_root
def test_root_hands_the_server_to_nobody(server: EmbeddedPostgres) -> None:
    server.start()
    pid = server.status().pid
    assert pid
    assert psutil.Process(pid).username() == "nobody"
    assert psutil.Process(pid).gids().effective != 0


@as_root
def test_root_is_told_which_directory_is_closed(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    tmp_path.chmod(0o711)
    with pytest.raises(DatabaseError, match="user nobody, whom it runs as instead, may not enter /"):
        EmbeddedPostgres(closed / "pg").start()


@as_root
def test_another_user_is_told_whose_it_is(server: EmbeddedPostgres) -> None:
    server.start()
    os.seteuid(1)
    try:
        for act in (server.start, server.stop, server.status, server.url):
            with pytest.raises(DatabaseError, match="is closed to this user"):
                act()
    finally:
        os.seteuid(0)
    assert server.status().running
