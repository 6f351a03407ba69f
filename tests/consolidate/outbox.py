"""Triggers, memories and webhooks of tenant `t`, put into the tables, and a receiver."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from reverie.drive.deliver.delivering import deliver
from reverie.drive.deliver.sending import OutgoingMessage
from reverie.drive.deliver.subscriptions import add_subscription
from reverie.store.database import Store
from reverie.store.session import perform

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVENTS = ("trigger.due", "memory.created", "memory.superseded", "memory.forgotten", "memory.erased")


class Receiver:
    """Stands for the other side: notes what comes, answers what it is told to."""

    def __init__(self, *answers: int | str) -> None:
        self.answers, self.came = list(answers), list[OutgoingMessage]()

    def __call__(self, message: OutgoingMessage, at: datetime) -> int | str:
        self.came.append(message)
        return self.answers.pop(0) if self.answers else 204

    @property
    def types(self) -> list[str]:
        return [message.payload["type"] for message in self.came]


def tell(store: Store, statement: str, **params: Any) -> None:
    """Write something about ana, and its run, as a stage does."""
    with store.transaction("t") as conn:
        conn.execute(statement, params)
        conn.execute(
            """insert into ops.runs (tenant_id, run_id, stage, as_of, scope, driver, policy, policy_hash, status)
               values ('t', gen_random_uuid(), 'facts', %s, '{"subjects": ["ana"]}', 'test', 'contact', 'p', 'done')""",
            [NOW],
        )


def add_trigger(store: Store, **given: Any) -> Any:
    id_ = uuid4()
    row = {"id": id_, "audience": "caller", "due": NOW, "until": NOW + timedelta(days=20), "withheld": None} | given
    tell(
        store,
        """insert into memory.triggers (tenant_id, id, subject_id, kind, audience, happened_at, due_at, until_at, why,
                                        withheld, run_id)
           values ('t', %(id)s, 'ana', 'silence', %(audience)s, %(due)s, %(due)s, %(until)s, '{"expected_hours": 3}',
                   %(withheld)s, gen_random_uuid())""",
        **row,
    )
    return id_


def add_memory(store: Store, content: str, id_: UUID | None = None) -> Any:
    id_ = id_ or uuid4()
    tell(
        store,
        """insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak,
                                        importance, happened_at, accessed_at, decayed_at, origin, run_id, policy_hash)
           values ('t', %(id)s, 'ana', 'fact', 'active', %(content)s, '', 1, 1, 1, %(at)s, %(at)s, %(at)s, 'test',
                   gen_random_uuid(), 'test')""",
        id=id_,
        content=content,
        at=NOW,
    )
    return id_


def forget(store: Store, memory: Any) -> None:
    tell(store, "delete from memory.memories where id = %(id)s", id=memory)
    tell(
        store,
        """insert into memory.tombstones (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason,
                                          forgotten_at, run_id)
           values ('t', %(id)s, 'ana', 'fact', '', 0, 'faded', %(at)s, gen_random_uuid())""",
        id=memory,
        at=NOW,
    )


def run(store: Store, receiver: Receiver, at: datetime = NOW) -> dict[str, int]:
    return deliver(store, "t", as_of=at, clock=lambda: at, send=receiver)


def subscribe(store: Store, *events: Any, url: str = "https://example.org/hook", allowed: tuple[str, ...] = ()) -> Any:
    made = add_subscription(store.session("t"), url=url, events=events or EVENTS, made_at=NOW, private_hosts=allowed)
    return perform(made)
