"""Tables that live traffic writes stop growing: lists are joined, and rows that no memory follows from end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from reverie.drive import drain as deferred
from reverie.drive.drain import Drainer
from reverie.drive.maintain import Retention, maintain
from reverie.drive.rebuild import empty_memory
from reverie.model import Scope, stable_id
from reverie.policy import Policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import log_recall, recall
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.runs import Report
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.live.conftest import TENANT, Talk, after
from tests.promises.world import WordEmbedder, consolidate, lively

EVER = Retention(runs=None, recalls=None, contexts=None, calls=None, replies=None, embeddings=None)
DAY = timedelta(days=1)
BRIEFLY = Retention(runs=DAY, recalls=DAY, contexts=DAY, calls=DAY, replies=None, embeddings=DAY)
#: As the clock will stand when everything that a test wrote has served its time.
LONG_AFTER = datetime.now(UTC) + timedelta(days=400)
SAID = (
    "I have a golden retriever named Bruno.",
    "Bruno loves the lake.",
    "I prefer tea in the morning.",
    "We walked around the lake with Bruno yesterday.",
    "I work at Infosys as an engineer.",
)
ROUNDS, SUBJECTS = 40, 4
SCOPE = Scope(tenant_id=TENANT)


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> Policy:
    """Few memories for much that is said: a session that goes on has no summaries."""
    found = lively("reverie", compress={"running_turns": 0})
    monkeypatch.setattr(deferred, "load_policy", lambda name: found)
    return found


@pytest.fixture
def said(database_url: str, policy: Policy) -> Iterator[Talk]:
    """A session of this policy."""
    with Store.open(database_url, size=2) as store:
        with store.transaction(TENANT) as conn:
            ensure_tenant(conn, TENANT, "reverie")
        yield Talk(store, policy)


def flush(talk: Talk, number: int, subjects: int = 1) -> datetime:
    """Say something to each subject, let the sessions go quiet, and let the deferred tier work them in."""
    at = after(10 * number)
    for subject in ("ana", *(f"subject {place}" for place in range(1, subjects))):
        replace(talk, subject=subject).say(SAID[number % len(SAID)], at=at)
    later = at + timedelta(minutes=6)
    talk.flush(later)
    Drainer(store=talk.store, embedder=WordEmbedder(), clock=lambda: later).drain()
    return later


def tidy(talk: Talk, policy: Policy, retention: Retention, at: datetime, now: datetime = LONG_AFTER) -> Report:
    return maintain(Work(store=talk.store, scope=SCOPE, policy=policy, as_of=at), retention=retention, now=now)


def rows(conn: psycopg.Connection[Any], *tables: str) -> dict[str, int]:
    found = {}
    for table in tables:
        row = conn.execute(f"select count(*) from {table}").fetchone()  # type: ignore[arg-type]  # noqa: S608
        assert row is not None
        found[table] = row[0]
    return found


def test_tables_stop_growing_in_hundreds_of_flushes(said: Talk, policy: Policy, conn: psycopg.Connection[Any]) -> None:
    """After half of the flushes and after all of them they are of one size, give or take a list."""
    sizes = []
    for number in range(ROUNDS):
        at = flush(said, number, SUBJECTS)
        if (number + 1) % (ROUNDS // 4) == 0:
            memory = digest(said.store, TENANT).tables
            fragments = rows(conn, "memory.terms", "ops.runs")
            tidy(said, policy, BRIEFLY, at)
            assert digest(said.store, TENANT).tables == memory
            sizes.append(rows(conn, "memory.terms", "ops.runs", "ops.embeddings", "ops.queue", "ops.pending_turns"))
            assert sizes[-1]["memory.terms"] < fragments["memory.terms"]
            assert sizes[-1]["ops.runs"] < fragments["ops.runs"]
    assert conn.execute("select count(*) from log.turns").fetchone() == (ROUNDS * SUBJECTS,)
    half, whole = sizes[1], sizes[3]
    assert whole["memory.terms"] <= 1.25 * half["memory.terms"]  # a list of 64 items is full now and then
    assert whole["ops.runs"] <= half["ops.runs"] + 10
    assert whole["ops.embeddings"] == half["ops.embeddings"]
    assert whole["ops.queue"] == whole["ops.pending_turns"] == 0


def test_joined_lists_hold_the_same_postings(said: Talk, policy: Policy, conn: psycopg.Connection[Any]) -> None:
    at = max(flush(said, number) for number in range(12))
    lake = RecallQuery(text="Bruno at the lake", subject_id="ana", as_of=at)
    found = perform(recall(said.store.session(TENANT), lake, policy=policy, embedder=None))
    memory, before = digest(said.store, TENANT), rows(conn, "memory.terms")["memory.terms"]
    report = tidy(said, policy, EVER, at)
    assert digest(said.store, TENANT) == memory
    assert rows(conn, "memory.terms")["memory.terms"] == before - report["lists_before"] + report["lists"] < before
    again = perform(recall(said.store.session(TENANT), lake, policy=policy, embedder=None))
    assert [(hit.id, hit.score) for hit in again.hits] == [(hit.id, hit.score) for hit in found.hits] != []
    assert tidy(said, policy, EVER, at)["lists_before"] == 0
    assert not {name for name in report.counts if name.startswith("retired_") and report[name]}


def test_a_rebuild_after_all_retention_gives_the_same_memory(
    said: Talk, policy: Policy, conn: psycopg.Connection[Any]
) -> None:
    at = max(flush(said, number) for number in range(6))
    recalled = recall(
        said.store.session(TENANT),
        RecallQuery(text="Bruno", subject_id="ana", as_of=at),
        policy=policy.model_copy(update={"recall": policy.recall.model_copy(update={"items": ("memory",)})}),
        embedder=WordEmbedder(),
    )
    with_memories = perform(recalled)
    perform(log_recall(said.store.session(TENANT), with_memories))
    conn.execute(  # a recall of nothing but a turn
        "insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped)"
        " select %s, %s, 'ana', %s, 'hunter2', 'x', array_agg(id), 0 from log.turns",
        [TENANT, stable_id(at, "recall"), at],
    )
    until = at + timedelta(days=1)
    consolidate(said.store, TENANT, policy, until)
    assert rows(conn, "memory.accesses") == {"memory.accesses": 2}
    report = tidy(said, policy, BRIEFLY, until)
    assert (report["retired_recalls"], report["kept_recalls"], report["retired_questions"]) == (1, 1, 1)
    assert tidy(said, policy, BRIEFLY, until)["kept_recalls"] == 0, "each is looked at once"
    assert conn.execute("select question from log.recalls").fetchall() == [("",)]
    assert rows(conn, "memory.accesses") == {"memory.accesses": 1}
    memory = digest(said.store, TENANT)
    empty_memory(Work(store=said.store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=until))
    consolidate(said.store, TENANT, policy, until)
    assert digest(said.store, TENANT).tables == memory.tables


def test_young_rows_stay_and_so_do_runs_that_made_what_is_remembered(
    said: Talk, policy: Policy, conn: psycopg.Connection[Any]
) -> None:
    at = max(flush(said, number) for number in range(3))
    tidy(said, policy, BRIEFLY, at, now=datetime.now(UTC))
    before = rows(conn, "ops.runs")["ops.runs"]
    report = tidy(said, policy, BRIEFLY, at)
    # the run of the first call ended with the others, and the second call wrote it again
    assert rows(conn, "ops.runs")["ops.runs"] == before - report["retired_runs"] + 1 < before
    unknown = conn.execute(
        "select count(*) from memory.memories m"
        " where not exists (select from ops.runs r where r.tenant_id = m.tenant_id and r.run_id = m.run_id)"
    ).fetchone()
    assert unknown == (0,)


def test_another_tenants_rows_are_out_of_reach(said: Talk, policy: Policy, conn: psycopg.Connection[Any]) -> None:
    at = flush(said, 0)
    conn.execute("update ops.runs set tenant_id = 'other'")
    conn.execute(
        "insert into log.contexts (tenant_id, id, subject_id, assembled_at, form, policy_hash, tokenizer, total_tokens,"
        " sections, item_ids, dropped_ids)"
        " values ('other', %s, 'ana', %s, 'reverie', 'x', 'x', 0, '[]', '{}', '{}')",
        [stable_id(at, "context"), at],
    )
    before = rows(conn, "ops.runs", "log.contexts")
    tidy(said, policy, BRIEFLY, at)
    assert rows(conn, "log.contexts") == {"log.contexts": before["log.contexts"]}
    other = conn.execute("select count(*) from ops.runs where tenant_id = 'other'").fetchone()
    assert other == (before["ops.runs"],)
