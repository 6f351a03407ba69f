"""A language model that answers nobody: what fails says so, nothing else does, and it is as if it had been there."""

from __future__ import annotations

import dataclasses
import json
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest
from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.consolidate.extract.stage import extract
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.drain import LEASE, PAUSE, Drained, Drainer
from reverie.drive.replay import replay
from reverie.drive.tenants import for_each_tenant
from reverie.errors import StageError, UnansweredError
from reverie.inference.completions import Completion, Limits
from reverie.inference.prompts import Messages
from reverie.llm import asking
from reverie.model import Scope
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.queue import Waiting, enqueue
from reverie.store.work import Work
from tests.consolidate.test_compress import TENANT, say
from tests.models.conftest import Conn, Server
from tests.models.test_extract_language_model import forget_all
from tests.promises.notetaker import NoteTaker
from tests.promises.world import WordEmbedder, lively

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = START + timedelta(days=9)
#: Old sessions are summarised; no themes and no profile, so that what is asked about is turns and sessions.
POLICY = lively(compress={"session_threshold": 2, "pattern_episodes": 0}, profile={"from_memories": False})
NOBODY = "http://127.0.0.1:9/v1"
DOGS = ("Rex", "Bella", "Max", "Bruno", "Luna")
Load = Callable[..., Any]


@pytest.fixture(params=["refused", "500"])
def away(request: pytest.FixtureRequest, load: Load, server: Server) -> Any:
    """A model that never answers: nobody listens, or all fails."""
    if request.param == "refused":
        return load(base=NOBODY, attempts=1)
    server.script(*[{"status": 500}] * 400)
    return load(attempts=1)


@pytest.fixture
def queued(store: Store, conn: Conn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five sessions went quiet, a day apart; they wait, and the tenant's policy is ours."""
    conn.execute("insert into ops.tenants (tenant_id) values (%s)", [TENANT])
    monkeypatch.setattr("reverie.drive.drain.load_policy", lambda name: POLICY)
    monkeypatch.setattr("reverie.drive.tenants.load_policy", lambda name: POLICY)
    tell(conn)
    wait(store, LATER)


def tell(conn: Conn) -> None:
    for day in range(5):
        for minute, text in enumerate((f"I have a dog named {DOGS[day]}.", "They like to swim in the sea.")):
            say(conn, text, START + timedelta(days=day, minutes=minute), session=f"s{day}")


def wait(store: Store, at: datetime) -> None:
    sessions = [
        Waiting(subject_id="arjun", session_id=f"s{day}", said_at=START + timedelta(days=day, minutes=1), quiet=True)
        for day in range(5)
    ]
    with store.transaction(TENANT) as conn:
        enqueue(conn, TENANT, sessions, policy=POLICY, at=at)


def work(store: Store, model: Any, at: datetime = LATER) -> Drained:
    return Drainer(store=store, embedder=WordEmbedder(), language_model=model, clock=lambda: at).drain()


def remember(store: Store, model: Any, until: datetime = LATER) -> None:
    common: dict[str, Any] = {"scope": Scope(tenant_id=TENANT), "policy": POLICY, "embedder": WordEmbedder()}
    common |= {"language_model": model}
    for _ in chain(
        ingest(Work(store=store, as_of=until, **common)), catch_up(Work(store=store, as_of=until, **common))
    ):
        pass


def undisturbed(store: Store, conn: Conn, model: Any, until: datetime = LATER) -> Any:
    """The digest of what the log gives with a model that is there, asked anew."""
    forget_all(conn)
    conn.execute("truncate ops.replies, ops.runs")
    remember(store, model, until)
    return digest(store, TENANT)


def test_what_rules_find_is_there_and_the_next_run_finishes(
    away: Any, load: Load, server: Server, store: Store, conn: Conn
) -> None:
    tell(conn)
    with pytest.raises(UnansweredError, match=r"gave no reply about any of 8 items: unavailable 8\.$"):
        remember(store, away)
    told = conn.execute("select stage, status, report from ops.runs order by stage").fetchall()
    steps = [(stage, status) for stage, status, _ in told]
    assert steps == [("embed", "done"), ("extract", "failed"), ("signal", "done")]
    assert (told[1][2]["candidates"], told[1][2]["waiting"], told[0][2]["turns"]) == (5, 10, 10)
    server.script()
    remember(store, load())
    mended = digest(store, TENANT)
    assert conn.execute("select count(*) from memory.memories where origin like 'note:%'").fetchone() == (10,)
    assert conn.execute("select distinct status from ops.runs").fetchall() == [("done",)]
    assert undisturbed(store, conn, load()) == mended


def test_a_refused_turn_does_not_wait(load: Load, server: Server, store: Store, conn: Conn) -> None:
    say(conn, "I have two dogs in my house.", START)
    server.script({"status": 400})
    remember(store, load())
    assert conn.execute("select unread, waits from memory.extractions").fetchall() == [("refused", False)]
    assert conn.execute("select count(*) from ops.runs where status <> 'done'").fetchone() == (0,)


@pytest.mark.parametrize("status", [400, 403])
def test_a_few_unexplained_rejections_are_no_outage(
    load: Load, server: Server, store: Store, conn: Conn, status: int
) -> None:
    """The texts may be the cause, until too many of them are rejected."""
    say(conn, "I have two dogs in my house.", START)
    bad = {"status": status, "other": True}
    server.script(bad)
    remember(store, load())
    assert conn.execute("select unread, waits from memory.extractions").fetchall() == [("unexplained", True)]
    tell(conn)
    server.script(*[bad] * 40)
    with pytest.raises(UnansweredError, match="unexplained 8"):
        remember(store, load())
    server.script(*[{"status": 401}] * 2)
    with pytest.raises(UnansweredError, match="about any of 2 items: rejected 2"):
        remember(store, load(), until=START)


def test_a_text_that_is_rejected_alone_does_not_wait(load: Load, server: Server, store: Store, conn: Conn) -> None:
    """A request that was sent after its rejection is answered, so the account is in order."""
    tell(conn)
    server.script({"status": 400, "other": True})
    remember(store, load(concurrency=1))
    unread = "select unread, count(*) from memory.extractions where not waits and unread is not null group by 1"
    assert conn.execute(unread).fetchall() == [("refused", 1)]
    assert conn.execute("select count(*) from memory.extractions where waits").fetchone() == (0,)


@pytest.mark.usefixtures("queued")
def test_a_live_session_becomes_memory_without_it(
    away: Any, load: Load, server: Server, store: Store, conn: Conn
) -> None:
    conn.execute("delete from ops.queue where session_id <> 's0'")
    at = START + timedelta(minutes=30)  # before the next cycle
    conn.execute("update ops.queue set due_at = %s, first_at = %s, last_at = %s", [at, at, at])
    drained = work(store, away, at)
    assert (drained.counts()["sessions"], drained.counts()["failed"]) == (1, 0)
    assert "gave no reply about any of 2 items" in drained.reasons[TENANT]
    assert drained.rows()[0]["reason"] == drained.reasons[TENANT]
    assert conn.execute("select content from memory.memories where state = 'active'").fetchall() == [
        ("Has a dog named Rex",)
    ]
    assert conn.execute("select from ops.queue").fetchall() == []
    server.script()
    remember(store, load())
    mended = digest(store, TENANT)
    assert undisturbed(store, conn, load()) == mended


@pytest.mark.usefixtures("queued")
def test_however_long_it_is_away_no_session_is_given_up(
    away: Any, load: Load, server: Server, store: Store, conn: Conn
) -> None:
    at = LATER
    for _ in range(POLICY.queue.attempts + 2):
        with pytest.raises(StageError, match="All 5 sessions that were tried failed. t: .*gave no reply"):
            work(store, away, at)
        at += PAUSE
        waiting = conn.execute("select distinct attempts, due_at, lease_id from ops.queue").fetchall()
        assert waiting == [(0, at, None)]
    assert conn.execute("select count(*) from ops.dead_letters").fetchone() == (0,)
    server.script()
    assert work(store, load(), at).counts()["sessions"] == 5
    mended = digest(store, TENANT)
    assert conn.execute("select count(*) from memory.memories where kind = 'summary'").fetchone() != (0,)
    assert undisturbed(store, conn, load(), at) == mended


@pytest.mark.usefixtures("queued")
def test_everybody_who_drives_says_one_sentence(
    away: Any, load: Load, server: Server, store: Store, conn: Conn, database_url: str
) -> None:
    def work(scope: Scope, policy: Any) -> Any:
        yield extract(
            Work(store=store, scope=scope, policy=policy, as_of=LATER, embedder=WordEmbedder(), language_model=away)
        )

    with pytest.raises(StageError, match=r"^1 of 1 tenants failed. t: The model .* any of 8 items: unavailable 8\.$"):
        for_each_tenant(store, lambda tenant: Scope(tenant_id=tenant), work)
    again = Work(
        store=store,
        scope=Scope(tenant_id=TENANT),
        policy=POLICY,
        as_of=LATER,
        embedder=WordEmbedder(),
        language_model=away,
    )
    session = {"subject_id": "arjun", "session_id": "s1"}
    conn.execute(
        "insert into ops.dead_letters (tenant_id, id, source, reason, detail, attempts, subject_id, session_id)"
        " values ('t', gen_random_uuid(), 'queue', 'not_worked_in', '', 5, 'arjun', 's1')"
    )
    with pytest.raises(UnansweredError):
        list(replay(again, **session))
    assert conn.execute("select count(*) from ops.dead_letters").fetchone() == (1,)
    server.script()
    list(replay(dataclasses.replace(again, language_model=load()), **session))
    assert conn.execute("select count(*) from ops.dead_letters").fetchone() == (0,)


def test_the_command_line_says_it_in_one_sentence(server: Server, database_url: str, conn: Conn) -> None:
    conn.execute("insert into ops.tenants (tenant_id) values (%s)", [TENANT])
    tell(conn)
    environment = {
        "DATABASE_URL": database_url,
        "REVERIE_TENANT": TENANT,
        "REVERIE_LANGUAGE_MODEL": "litellm/openai/ours",
    }
    environment |= {"REVERIE_LANGUAGE_MODEL_BASE": NOBODY, "REVERIE_LANGUAGE_MODEL_ATTEMPTS": "1"}
    result = CliRunner(env=environment).invoke(reverie, ["run", "--as-of", "2026-03-11", "--jobs", "1"])
    assert result.exit_code == UnansweredError.exit_code
    assert result.stderr.splitlines()[-1].startswith("Error: The model litellm/openai/ours gave no reply about")


class Slow(NoteTaker):
    """While it thinks the better part of a lease goes by, and again; whoever waits has it renewed each time."""

    limits = Limits(concurrency=1)

    def __init__(self, conn: Conn) -> None:
        self._conn, self.at, self.renewed = conn, LATER, Counter[str]()

    def complete(self, messages: Messages, **asked: Any) -> Completion:
        shown = json.loads(messages[-1]["content"][6:-7])["items"][0]
        stage = "compress" if "turns" in shown else "facts" if "known" in shown else "extract"
        for _ in range(2):
            self.at += LEASE * 0.6
            until = time.monotonic() + 20
            while time.monotonic() < until:
                rows = self._conn.execute("select from ops.queue where leased_until <= %s", [self.at + LEASE / 2])
                if not rows.fetchall():
                    self.renewed[stage] += 1
                    break
                time.sleep(0.01)
        return super().complete(messages, **asked)


@pytest.mark.usefixtures("queued")
def test_who_waits_for_a_slow_model_keeps_its_lease(
    store: Store, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_PULSE_S", 0.01)
    with connect(database_url) as conn:
        slow = Slow(conn)
        drained = Drainer(store=store, embedder=WordEmbedder(), language_model=slow, clock=lambda: slow.at).drain(
            as_of=LATER
        )
    assert drained.counts()["sessions"] == 5
    assert slow.renewed == {"extract": 2 * 10, "facts": 2 * 4, "compress": 2 * 3}, "twice each time it was asked"
