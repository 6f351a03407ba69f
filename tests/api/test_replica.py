"""A streaming replica answers reads, the primary takes all writes, and staleness is told."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner, Result
from fastapi.testclient import TestClient

from reverie.api import replica as watching
from reverie.api.app import create_app
from reverie.api.keys import add_key
from reverie.cli.root import reverie
from reverie.errors import DatabaseError
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.server import embedded, programs
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.session import perform
from reverie.testing import fast_directory
from tests.api.conftest import settings_for, until_logged
from tests.cli.conftest import insert
from tests.recall.conftest import Corpus

#: A commit that does not wait for the log is not on its way to the replica yet.
STREAMING = {"wal_level": "replica", "max_wal_senders": "4", "synchronous_commit": "on"}
CAUGHT_UP_SECONDS = 20.0
LOST = "REVERIE_READ_URL cannot be used. No Postgres answers at 127.0.0.1:1."


@dataclass(frozen=True)
class Pair:
    """A primary and its streaming replica."""

    primary: EmbeddedPostgres
    replica: EmbeddedPostgres

    def pause(self) -> None:
        """Stop the replay; what was received stays unseen."""
        self._on_replica("select pg_wal_replay_pause()")
        until(lambda: self._on_replica("select pg_get_wal_replay_pause_state() = 'paused'"))

    def catch_up(self) -> None:
        """Go on, and wait until the replica has all that the primary has written."""
        self._on_replica("select pg_wal_replay_resume() where pg_is_wal_replay_paused()")
        with connect(self.primary.url()) as conn:
            (written,) = conn.execute("select pg_current_wal_lsn()").fetchone() or ("",)
        until(lambda: self._on_replica(f"select pg_last_wal_replay_lsn() >= '{written}'"))

    def _on_replica(self, query: str) -> Any:
        with connect(self.replica.url()) as conn:
            return (conn.execute(query).fetchone() or (None,))[0]  # type: ignore[arg-type]


def until(is_so: Callable[[], Any]) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + CAUGHT_UP_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two servers of this module's own: the one that tests share writes too little of its log to be replicated."""
    directory = Path(tempfile.mkdtemp(prefix="reverie_replica_", dir=fast_directory()))
    directory.chmod(0o711)
    primary, replica = (EmbeddedPostgres(directory / name, durable=False) for name in ("primary", "replica"))
    with pytest.MonkeyPatch.context() as patched:
        for name, value in STREAMING.items():
            patched.setitem(embedded.NOT_DURABLE, name, value)  # type: ignore[arg-type]
        try:
            migrate(primary.start())
            account = programs.server_account(primary.directory / "data")
            replica.directory.mkdir(mode=0o700)
            (replica.directory / "lock").touch(mode=0o600)
            shutil.copy2(primary.directory / "password", replica.directory)
            if account:
                for path in (replica.directory, *replica.directory.iterdir()):
                    os.chown(path, account.uid, account.gid)
            where = ("-D", str(replica.directory / "data"), "-d", primary.url("postgres"))
            made = programs.run_program(
                "pg_basebackup", *where, "-R", "-c", "fast", directory=replica.directory, account=account
            )
            assert made.returncode == 0, made.stderr
            replica.start()
            yield Pair(primary, replica)
        finally:
            replica.stop()
            primary.stop()
            shutil.rmtree(directory)


@pytest.fixture
def subject() -> str:
    """Of whom nothing is known before the test."""
    return f"ann-{uuid4()}"


@pytest.fixture
def servers(pair: Pair, subject: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """The pair, caught up, with a memory of the subject; looked at often."""
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.1)
    for name, value in STREAMING.items():
        monkeypatch.setitem(embedded.NOT_DURABLE, name, value)  # type: ignore[arg-type]
    with connect(pair.primary.url()) as conn:
        Corpus(conn, subject=subject).memory("Cannot eat peanuts")
    pair.replica.start()
    pair.catch_up()
    yield pair
    pair.replica.start()
    pair.catch_up()


def say(pair: Pair, subject: str, text: str) -> None:
    with connect(pair.primary.url()) as conn:
        corpus = Corpus(conn, subject=subject)
        corpus.number = 7
        corpus.memory(text)


def logged(pair: Pair, subject: str) -> tuple[int, int]:
    """The recalls and contexts in the primary's log."""
    counting = (
        "select (select count(*) from log.recalls where subject_id = %(subject)s),"
        " (select count(*) from log.contexts where subject_id = %(subject)s)"
    )
    with connect(pair.primary.url()) as conn:
        recalls, contexts = conn.execute(counting, {"subject": subject}).fetchone() or (0, 0)
    return int(recalls), int(contexts)


def settings(pair: Pair, **given: Any) -> Any:
    given = {"read_url": pair.replica.url(), "read_lag_seconds": 0.5} | given
    return settings_for(pair.primary.url(), **given)


@pytest.fixture
def api(servers: Pair) -> Iterator[TestClient]:
    """The app with the replica and a key of tenant acme."""
    with Store.open(servers.primary.url(), size=1) as store:
        made = add_key(
            store.session("acme"),
            name="test",
            scopes=("read", "write", "admin"),
            policy="reverie",
            made_at=datetime.now(UTC),
        )
        text = perform(made)[1]
    with TestClient(create_app(settings(servers)), headers={"Authorization": f"Bearer {text}"}) as client:
        yield client


def recalled(api: TestClient, subject: str, question: str = "peanuts") -> tuple[list[str], list[str]]:
    """Contents of the hits, and notes about replicas."""
    answer = api.post("/v1/recalls", json={"subject_id": subject, "question": question})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    return [hit["content"] for hit in told["hits"]], [note for note in told["notes"] if "replica" in note]


def metric(api: TestClient, name: str) -> float:
    (value,) = re.findall(rf"^{name} (\S+)$", api.get("/metrics").text, re.MULTILINE)
    return float(value)


def test_reads_go_to_the_replica_and_writes_to_the_primary(api: TestClient, servers: Pair, subject: str) -> None:
    until(lambda: metric(api, "reverie_replica_lag_seconds") == 0)
    servers.pause()
    say(servers, subject, "Buys peanuts for the birds")
    (old,), _ = recalled(api, subject)
    assert old == "Cannot eat peanuts"
    until(lambda: metric(api, "reverie_replica_lag_seconds") > 0.5)
    (old,), (note,) = recalled(api, subject)
    assert old == "Cannot eat peanuts"
    assert re.fullmatch(r"Read from a replica that is up to \d+ s behind: what is newer may be missing\.", note)
    assert note in api.post("/v1/contexts", json={"subject_id": subject, "question": "peanuts"}).json()["notes"][-1]
    assert api.get("/ready").json()["notes"][-1].startswith("Read from a replica")
    until_logged(api)
    assert logged(servers, subject) == (3, 1)
    session = {"subject_id": subject, "session_id": "s9"}
    turn = {"role": "user", "text": "I moved to Lisbon.", "source_id": "t1"}
    stored = api.post("/v1/turns", json={**session, "turns": [turn]})
    assert stored.status_code < 300, stored.text
    held = api.get("/v1/working_memory", params=session)
    assert [one["text"] for one in held.json()["turns"]] == ["I moved to Lisbon."]
    assert not recalled(api, subject, "Lisbon")[0]
    servers.catch_up()
    until(lambda: metric(api, "reverie_replica_lag_seconds") == 0)
    found, notes = recalled(api, subject)
    assert len(found) == 2
    assert not notes
    assert recalled(api, subject, "Lisbon")[0] == ["I moved to Lisbon."]


def test_what_was_just_decided_is_read_from_the_primary(api: TestClient, servers: Pair, subject: str) -> None:
    """An agent that acted upon a trigger must not find it due again, nor the consent that it changed."""
    trigger, asked = uuid4(), {"subject_id": subject}
    with connect(servers.primary.url()) as conn:
        insert(
            conn, "memory.triggers", id=trigger, subject_id=subject, kind="silence", audience="caller",
            happened_at="2026-01-01T00:00Z", due_at="2026-01-02T00:00Z", until_at="2999-01-01T00:00Z", why="{}",
            run_id=trigger,
        )  # fmt: skip
    servers.catch_up()
    servers.pause()
    assert [each["id"] for each in api.get("/v1/triggers", params=asked).json()["triggers"]] == [str(trigger)]
    done = api.post(f"/v1/triggers/{trigger}/acknowledge", json={"action": "done"})
    assert done.status_code == 200, done.text
    assert api.get("/v1/triggers", params=asked).json()["triggers"] == []
    assert api.get("/v1/consent", params=asked).json()["capture"] is True
    assert api.put("/v1/consent", json=asked | {"capture": False}).status_code == 200
    assert api.get("/v1/consent", params=asked).json()["capture"] is False
    insert_tie = """insert into memory.ties (tenant_id, subject_id, day, zone, churn_risk, strength, why, run_id)
                    values ('acme', %s, '2026-01-06', 'UTC', 0.2, 0.5, '{}', %s)"""
    with connect(servers.primary.url()) as conn:
        conn.execute(insert_tie, [subject, trigger])
    assert api.get("/v1/signals", params=asked).status_code == 200


def test_the_primary_answers_while_the_replica_does_not(api: TestClient, servers: Pair, subject: str) -> None:
    assert metric(api, "reverie_replica_used") == 1
    servers.replica.stop()
    statuses = set()

    def noticed() -> bool:
        statuses.add(api.post("/v1/recalls", json={"subject_id": subject, "question": "peanuts"}).status_code)
        return metric(api, "reverie_replica_used") == 0

    until(noticed)
    assert statuses <= {200, 503}
    found, notes = recalled(api, subject)
    assert found
    assert notes == ["The read replica cannot be used at the moment: read from the primary."]
    assert api.get("/ready").json()["notes"][-1] == notes[0]
    assert str(metric(api, "reverie_replica_lag_seconds")) == "nan"
    servers.replica.start()
    until(lambda: metric(api, "reverie_replica_used") == 1)
    until(lambda: not recalled(api, subject)[1])


def test_a_server_that_is_no_replica_is_refused_at_the_start(
    servers: Pair, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = {
        "postgresql://nobody@127.0.0.1:1/none": "No Postgres answers at 127.0.0.1:1.",
        database_url: "It is not a replica of the database of DATABASE_URL.",
    }
    for url, sentence in refused.items():
        with (
            pytest.raises(DatabaseError, match=re.escape(f"REVERIE_READ_URL cannot be used. {sentence}")),
            TestClient(create_app(settings(servers, read_url=url))),
        ):
            pass


@pytest.fixture
def invoke(servers: Pair) -> Callable[..., Result]:
    """Run a command with the replica."""

    def call(*arguments: str, **env: str) -> Result:
        given = {
            "DATABASE_URL": servers.primary.url(),
            "REVERIE_READ_URL": servers.replica.url(),
            "REVERIE_READ_LAG_SECONDS": "0.5",
            "REVERIE_TENANT": "acme",
            "REVERIE_THREADS": "1",
            "REVERIE_EMBEDDING_MODEL": "none",
        } | env
        return CliRunner(env=given).invoke(reverie, arguments)

    return call


def test_commands_read_the_replica_and_tell_its_age(invoke: Callable[..., Result], servers: Pair, subject: str) -> None:
    servers.pause()
    say(servers, subject, "Buys peanuts for the birds")
    time.sleep(0.6)
    done = invoke("recall", "peanuts", "--subject", subject, "--json")
    told = json.loads(done.stdout)
    assert [hit["content"] for hit in told["hits"]] == ["Cannot eat peanuts"]
    assert told["notes"][-1].startswith("Read from a replica that is up to")
    lessons = json.loads(invoke("assist", "lessons", "peanuts", "--subject", subject, "--json").stdout)
    assert lessons["notes"][-1].startswith("Read from a replica that is up to")
    assert invoke("context", subject, "peanuts", "--text").exit_code == 0
    assert logged(servers, subject) == (2, 1)
    servers.catch_up()
    again = json.loads(invoke("recall", "peanuts", "--subject", subject, "--json").stdout)
    assert len(again["hits"]) == 2
    assert not [note for note in again["notes"] if "replica" in note]


def _check(done: Result) -> dict[str, str]:
    (found,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "read replica"]
    return dict(found)


def test_doctor_and_commands_check_the_replica(
    invoke: Callable[..., Result], servers: Pair, subject: str, database_url: str
) -> None:
    found = _check(invoke("doctor", "--json"))
    assert found["status"] == "ok"
    assert re.fullmatch(r"127\.0\.0\.1:\d+, at \w+, (caught up|at most \d\.\d s behind)", found["found"])
    servers.pause()
    say(servers, subject, "Buys peanuts for the birds")
    with connect(servers.primary.url()) as conn:
        (newest,) = conn.execute("select version_num from ops.migrations").fetchone() or ("",)
    time.sleep(0.6)
    found = _check(invoke("doctor", "--json"))
    assert (found["status"], found["todo"]) == ("warn", "check its replication")
    with connect(servers.primary.url()) as conn:
        conn.execute("update ops.migrations set version_num = '0001_log'")
    servers.catch_up()
    servers.pause()
    with connect(servers.primary.url()) as conn:
        conn.execute("update ops.migrations set version_num = %s", [newest])
    found = _check(invoke("doctor", "--json"))
    assert found["status"] == "fail"
    assert found["found"].endswith(f"is at 0001_log, not at {newest}")
    for name in ("serve", "subjects"):
        lost = invoke(name, REVERIE_READ_URL="postgresql://nobody@127.0.0.1:1/none")
        assert (lost.exit_code, lost.stderr) == (4, f"Error: {LOST}\n")
    refused = invoke("recall", "peanuts", "--subject", subject)
    assert (refused.exit_code, "REVERIE_READ_URL cannot be used." in refused.output) == (4, True)
    same = _check(invoke("doctor", "--json", REVERIE_READ_URL=servers.primary.url()))
    assert (same["status"], same["found"].endswith("is the database itself")) == ("warn", True)
    other = _check(invoke("doctor", "--json", REVERIE_READ_URL=database_url))
    assert (other["status"], other["found"].endswith("of DATABASE_URL.")) == ("fail", True)
