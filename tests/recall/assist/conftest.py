"""A history with tools, outcomes, rules, a correction and people, imported once and looked at by every test here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reverie.capture.append import insert_outcomes, insert_turns
from reverie.capture.live.corrections import CorrectionAsked, correct_memory
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Embedder
from reverie.model import Outcome, Scope, ToolCall, Turn
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.conftest import Databases

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
#: When memory is asked.
NOW = START + timedelta(days=60)
#: Session, role, text; the tools that were called, or the tool that speaks; an outcome (None: nobody measured).
SAID: list[tuple[str, str, str, Any, bool | None]] = [
    ("s1", "user", "When does the flour mill close today?", None, None),
    ("s1", "assistant", "Let me look.", ["web_search"], False),
    ("s2", "user", "What are the opening hours of the mill on Saturdays?", None, None),
    ("s2", "assistant", "Until two.", ["maps"], True),
    ("s3", "user", "Tell Jonas that we need forty baguettes on Monday.", None, None),
    ("s3", "tool", "sent", "mail", None),
    ("s4", "user", "We need new clay for the pottery class.", None, None),
    ("s4", "assistant", "I ordered the clay from Keramo.", None, False),
    ("s5", "user", "We have no more clay.", None, None),
    ("s5", "assistant", "I ordered the clay from Leran, who delivered in two days.", None, True),
    ("s6", "user", "My daughter Mila has asthma.", None, None),
    ("s6", "user", "I don't like newsletters about fashion.", None, None),
    ("s7", "user", "My accountant is Sven Holm.", None, None),
    ("s8", "user", "Always write to the members in Swedish.", None, None),
]


def turns_of(tenant: str, subject: str) -> list[Turn]:
    """The history as turns, a day a session, a minute a turn."""
    return [
        Turn(
            tenant_id=tenant,
            subject_id=subject,
            session_id=session,
            source_id=f"t{number}",
            role=role,  # type: ignore[arg-type]
            speaker=called if isinstance(called, str) else None,
            said_at=START + timedelta(days=int(session[1:]), minutes=number),
            text=text,
            tool_calls=tuple(ToolCall(name=name) for name in called) if isinstance(called, list) else (),
        )
        for number, (session, role, text, called, _) in enumerate(SAID)
    ]


def outcomes_of(turns: list[Turn]) -> list[Outcome]:
    return [
        Outcome(
            tenant_id=turn.tenant_id, subject_id=turn.subject_id, session_id=turn.session_id, source_id=turn.source_id,
            metric="served", value=float(good), positive=good, observed_at=turn.said_at + timedelta(hours=1),
        )
        for turn, (*_, good) in zip(turns, SAID, strict=True)
        if good is not None
    ]  # fmt: skip


@pytest.fixture(scope="session")
def nora(databases: Databases, embedder: Embedder) -> Iterator[Store]:
    """A worker's store in which tenant acme remembers nora, as of NOW."""
    policy = load_policy("reverie")
    with databases() as url, Store.open(url, size=1) as store:
        work = Work(store=store, scope=Scope(tenant_id="acme"), policy=policy, as_of=NOW, embedder=embedder)
        turns = turns_of("acme", "nora")
        with store.transaction("acme") as conn:
            ensure_tenant(conn, "acme", policy.name)
            insert_turns(conn, "acme", turns)
            insert_outcomes(conn, "acme", outcomes_of(turns))
        bring(work)
        with store.transaction("acme") as conn:
            ((memory_id,),) = conn.execute(
                "select id from memory.memories where content like '%%Sven Holm%%' and state = 'active'"
            ).fetchall()
        correction = CorrectionAsked(memory_id=memory_id, content="My accountant is Lisa Berg.")
        perform(correct_memory(store.session("acme"), correction, policy=policy, as_of=NOW - timedelta(days=1)))
        bring(work)
        yield store


def bring(work: Work) -> None:
    for stage in (ingest, catch_up):
        for _ in stage(work):
            pass


@pytest.fixture
def worker(database_url: str) -> Iterator[Store]:
    """A worker's store of the test's own database."""
    with Store.open(database_url, size=1) as opened:
        yield opened
