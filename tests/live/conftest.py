"""A store, and a session in it to talk in."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reverie.capture.live.acknowledge import Acknowledged, TurnBatch, TurnReaders, append_turns
from reverie.capture.live.working_memory import HeldLists, Session, close_session, read_session, update_session
from reverie.drive.flush import flush_due
from reverie.inference import Embedder
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.runs import Report
from reverie.store.session import perform
from reverie.store.tenants import ensure_tenant
from tests.promises.world import WordEmbedder

TENANT = "t"
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

count_tokens = WordEmbedder().count_tokens


def after(minutes: float) -> datetime:
    """So many minutes into the conversation."""
    return AT + timedelta(minutes=minutes)


@dataclass(repr=False)
class Talk:
    """What a caller does with one session."""

    store: Store
    policy: Policy
    subject: str = "ana"
    session: str = "s1"
    tenant: str = TENANT
    embedder: Embedder | None = None

    def __repr__(self) -> str:
        return f"Talk({self.session!r})"

    @property
    def place(self) -> dict[str, Any]:
        return {"subject_id": self.subject, "session_id": self.session}

    def do(self, operation: Callable[..., Coroutine[Any, Any, Any]], **given: Any) -> Any:
        return perform(operation(self.store.session(self.tenant), **self.place, **given))

    def say(self, *texts: str, at: datetime = AT, **more: Any) -> Acknowledged:
        """Turns of the user with these texts; `more` goes into each record."""
        return self.send(*({"role": "user", "text": text} | more for text in texts), at=at)

    def send(self, *records: dict[str, Any], at: datetime = AT) -> Acknowledged:
        batch = TurnBatch(records=records, **self.place)
        session, readers = (
            self.store.session(self.tenant),
            TurnReaders(count_tokens=count_tokens, embedder=self.embedder),
        )
        return perform(append_turns(session, batch, policy=self.policy, as_of=at, readers=readers))

    def read(self, at: datetime = AT) -> Session | None:
        return self.do(read_session, policy=self.policy, as_of=at)

    def hold(self, at: datetime = AT, **lists: Any) -> None:
        session = self.store.session(self.tenant)
        perform(update_session(session, HeldLists(**lists), **self.place, policy=self.policy, as_of=at))

    def close(self, at: datetime = AT) -> int | None:
        return self.do(close_session, as_of=at)

    def flush(self, at: datetime) -> list[Report]:
        return list(flush_due(self.store, policy_of=lambda tenant: self.policy, as_of=at, count_tokens=count_tokens))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.store.transaction(self.tenant) as conn:
            return conn.execute(sql).fetchall()  # type: ignore[call-overload]

    def texts(self) -> list[str]:
        """What the log holds of the session, in order."""
        return [
            row[0]
            for row in self.rows(
                f"select text from log.turns where session_id = '{self.session}' order by turn_index"  # noqa: S608
            )
        ]


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """This test's database, as the worker."""
    with Store.open(database_url, size=4) as opened:
        with opened.transaction(TENANT) as conn:
            ensure_tenant(conn, TENANT, "reverie")
        yield opened


@pytest.fixture
def talk(store: Store) -> Talk:
    """A session of the default policy."""
    return Talk(store, load_policy("reverie"))
