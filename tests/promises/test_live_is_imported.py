"""Promise 3, turn by turn: a history said to the live tier gives the memory that its import gives."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.append import log_outcomes
from reverie.capture.history.reading import read_records
from reverie.capture.live.acknowledge import TurnBatch, TurnReaders, append_turns
from reverie.capture.validation import Validator
from reverie.drive import drain as deferred
from reverie.drive.cycle import catch_up
from reverie.drive.drain import Drainer
from reverie.drive.flush import flush_due
from reverie.inference.completions import LanguageModel
from reverie.model import Turn
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work
from tests.conftest import Databases
from tests.promises import compact
from tests.promises.notetaker import NoteTaker
from tests.promises.world import SAMPLE, WordEmbedder, for_tenant, live, lively, scope

pytestmark = pytest.mark.timeout(240)

TENANT = compact.TENANT
#: Four weeks of the sample: 111 records of its three subjects.
SPRING = datetime(2026, 2, 2, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(("name", "model"), [("compact", None), ("compact", NoteTaker()), ("sample", None)])
def test_said_live_is_remembered_as_imported(
    name: str,
    model: LanguageModel | None,
    databases: Databases,
    history: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy, until = (compact.policy(), compact.UNTIL) if name == "compact" else (lively("reverie"), SPRING)
    file = history if name == "compact" else for_tenant(SAMPLE, TENANT, tmp_path / "sample.jsonl", until=SPRING)
    monkeypatch.setattr(deferred, "load_policy", lambda name: policy)
    with databases() as url, Store.open(url, size=2) as store:
        live(store, TENANT, policy, file, until, model)
        imported, log = digest(store, TENANT), the_log(store)
    with databases() as url, Store.open(url, size=2) as store:
        drained = said_live(store, policy, file, until, model)
        assert the_log(store) == log
        assert digest(store, TENANT).tables == imported.tables
    assert drained > 5


def said_live(store: Store, policy: Policy, file: Path, until: datetime, model: LanguageModel | None) -> int:
    """Say each turn when it was said, with both tiers running beside; how often the deferred one had work."""
    embedder, drained = WordEmbedder(), 0
    with store.transaction(TENANT) as conn:
        ensure_tenant(conn, TENANT, "reverie")

    def tick(at: datetime) -> None:
        nonlocal drained
        common: dict[str, Any] = {"as_of": at, "count_tokens": embedder.count_tokens}
        assert any(flush_due(store, policy_of=lambda tenant: policy, **common))
        done = Drainer(store=store, embedder=embedder, language_model=model, clock=lambda: at).drain(as_of=at)
        drained += done.counts()["batches"] > 0

    for at, record in in_order(file, until):
        while (due := next_flush(store)) is not None and due <= at:
            tick(due)
        if not isinstance(record, Turn):
            perform(log_outcomes(store.session(TENANT), [record]))
            continue
        given = {
            "role": record.role,
            "speaker": record.speaker,
            "text": record.text,
            "said_at": record.said_at,
            "source_id": record.source_id,
            "turn_index": record.turn_index,
            "tool_calls": [
                {"name": one.name, "arguments": dict(one.arguments), "why": one.why, "result": one.result}
                for one in record.tool_calls
            ],
            "metadata": dict(record.metadata),
        }
        perform(
            append_turns(
                store.session(TENANT),
                TurnBatch(records=[given], subject_id=record.subject_id, session_id=record.session_id),
                policy=policy,
                as_of=at,
                readers=TurnReaders(count_tokens=embedder.count_tokens, embedder=embedder),
            ),
        )
    while (due := next_flush(store)) is not None:
        tick(due)
    models: dict[str, Any] = {"embedder": embedder, "language_model": model}
    for _ in catch_up(Work(store=store, scope=scope(TENANT), policy=policy, as_of=until, **models)):
        pass
    return drained


def in_order(file: Path, until: datetime) -> Iterator[tuple[datetime, Any]]:
    """The turns and outcomes of a file, as time brings them."""
    validator = Validator(tenant_id=TENANT, not_after=until + timedelta(days=1))
    found = []
    for batch in read_records(file):
        for record in batch.records:
            value = validator(record.fields)
            at = getattr(value, "said_at", None) or getattr(value, "observed_at", None)
            if at is not None:
                found.append((at, value))
    yield from sorted(found, key=lambda pair: pair[0])


def next_flush(store: Store) -> datetime | None:
    """When the next session is due in the log."""
    with store.transaction(TENANT) as conn:
        found = conn.execute("select min(flush_at) from ops.sessions").fetchone()
    return found and found[0]


def the_log(store: Store) -> list[tuple[Any, ...]]:
    """All that is in the log, but for when it was written."""
    with store.transaction(TENANT) as conn:
        return conn.execute(
            """select t.id, subject_id, session_id, source_id, turn_index, role, speaker, said_at, text, tool_calls,
                      metadata, content_hash from log.turns t
               union all
               select o.id, subject_id, session_id, source_id, null, metric, null, observed_at, value::text, null, null,
                      null from log.outcomes o
               order by 1"""
        ).fetchall()
