"""Webhooks: what is due is sent, signed, retried and replayed; what was erased is announced by id alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import uuid4

import orjson
import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from reverie.capture.live.acknowledgements import acknowledge_trigger
from reverie.drive.deliver.delivering import PAUSES, deliver
from reverie.drive.deliver.sending import OutgoingMessage, send_by_http
from reverie.drive.deliver.subscriptions import add_subscription, end_subscription, list_subscriptions, replay_dead
from reverie.errors import InputError, NotFoundError
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
    with store.transaction("t") as conn:
        conn.execute(statement, params)


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


def add_memory(store: Store, content: str) -> Any:
    id_ = uuid4()
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


@pytest.fixture
def tenant(store: Store) -> Store:
    tell(store, "insert into ops.tenants (tenant_id, policy) values ('t', 'contact')")
    return store


def run(store: Store, receiver: Receiver, at: datetime = NOW) -> dict[str, int]:
    return deliver(store, "t", as_of=at, clock=lambda: at, send=receiver)


def subscribe(store: Store, *events: Any, url: str = "https://example.org/hook") -> tuple[Any, str]:
    return perform(add_subscription(store.session("t"), url=url, events=events or EVENTS, made_at=NOW))


def test_triggers_are_sent_retried_given_up_and_replayed(tenant: Store) -> None:
    webhook, _ = subscribe(tenant, "trigger.due")
    first = add_trigger(tenant)
    for given in (
        {"due": NOW + timedelta(days=30), "until": NOW + timedelta(days=60)},
        {"until": NOW},
        {"withheld": "cap"},
        {"audience": "person"},
    ):
        add_trigger(tenant, **given)
    receiver = Receiver(500, "ConnectError")
    assert run(tenant, receiver) == {"filled": 1, "delivered": 0, "failed": 1, "dead": 0}
    assert receiver.came[0].payload["data"]["trigger_id"] == str(first)
    assert run(tenant, receiver)["failed"] == 0, "it waits for its pause"
    at = NOW + PAUSES[0]
    assert run(tenant, receiver, at)["failed"] == 1
    at += PAUSES[1]
    assert run(tenant, receiver, at)["delivered"] == 1
    assert run(tenant, receiver, at) == {"filled": 0, "delivered": 0, "failed": 0, "dead": 0}
    assert {message.id for message in receiver.came} == {receiver.came[0].id}
    # refused to the end it is a dead letter, which can be replayed
    add_trigger(tenant)
    refusing = Receiver(*[503] * (len(PAUSES) + 1))
    counts = [run(tenant, refusing, at)]
    for pause in PAUSES:
        at += pause
        counts.append(run(tenant, refusing, at))
    assert [each["dead"] for each in counts] == [0] * len(PAUSES) + [1]
    (listed,) = perform(list_subscriptions(tenant.session("t")))
    assert (listed.delivered, listed.dead) == (1, 1)
    assert perform(replay_dead(tenant.session("t"), webhook, at=at)) == 1
    assert run(tenant, refusing, at)["delivered"] == 1


def test_what_was_acknowledged_is_not_sent(tenant: Store) -> None:
    subscribe(tenant, "trigger.due")
    trigger = add_trigger(tenant)
    assert run(tenant, Receiver(500))["failed"] == 1
    perform(acknowledge_trigger(tenant.session("t"), trigger, action="done", acted_at=NOW, actor="dana"))
    receiver = Receiver()
    assert run(tenant, receiver, NOW + PAUSES[0])["delivered"] == 0 and receiver.came == []
    with pytest.raises(NotFoundError):
        perform(acknowledge_trigger(tenant.session("t"), uuid4(), action="done", acted_at=NOW, actor=None))


def test_changes_of_memories_are_told_once(tenant: Store) -> None:
    known, receiver = add_memory(tenant, "Lives in Bergen"), Receiver()
    subscribe(tenant)
    assert run(tenant, receiver)["filled"] == 0, "what was there before is no news"
    new = add_memory(tenant, "Has a dog")
    run(tenant, receiver)
    tell(tenant, "update memory.memories set state = 'superseded' where id = %(id)s", id=known)
    run(tenant, receiver)
    # a rebuild that has not come so far is no change
    tell(tenant, "delete from memory.memories")
    run(tenant, receiver)
    tell(
        tenant,
        """insert into memory.tombstones (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason,
                                          forgotten_at, run_id)
           values ('t', %(id)s, 'ana', 'fact', '', 0, 'faded', %(at)s, gen_random_uuid())""",
        id=new,
        at=NOW,
    )
    run(tenant, receiver)
    assert receiver.types == ["memory.created", "memory.superseded", "memory.forgotten"]
    assert [message.payload["data"]["memory_id"] for message in receiver.came] == [str(new), str(known), str(new)]
    assert "dog" not in str(receiver.came)


def test_a_receiver_that_is_gone_ends_the_webhook(tenant: Store) -> None:
    subscribe(tenant, "trigger.due")
    add_trigger(tenant)
    assert run(tenant, Receiver(410))["dead"] == 1
    (ended,) = perform(list_subscriptions(tenant.session("t")))
    assert ended.ended_at == NOW
    with pytest.raises(NotFoundError):
        perform(end_subscription(tenant.session("t"), uuid4(), at=NOW))


@pytest.mark.parametrize("url", ["ftp://example.org", "https://", "https://me:secret@example.org", "hook"])
def test_an_address_must_be_one_of_http(tenant: Store, url: str) -> None:
    with pytest.raises(InputError):
        subscribe(tenant, url=url)


@contextmanager
def listening() -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    came: list[tuple[dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            came.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", came
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_request_is_signed_so_that_any_library_verifies_it(tenant: Store) -> None:
    with listening() as (url, came):
        _, secret = subscribe(tenant, "trigger.due", url=url)
        add_trigger(tenant)
        counts = deliver(tenant, "t", as_of=NOW, clock=lambda: datetime.now(UTC), send=send_by_http)
    assert counts["delivered"] == 1
    ((headers, body),) = came
    assert Webhook(secret).verify(body, headers)["type"] == "trigger.due"
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body.replace(b"silence", b"check_in"), headers)
    assert orjson.loads(body)["data"]["why"] == {"expected_hours": 3}
