"""What is due is sent, retried and replayed; changes of memories are told once, of what was erased the id alone."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from uuid import uuid4

import pytest

from reverie.drive.deliver.delivering import PAUSES, deliver, fill_outbox
from reverie.drive.deliver.sending import OutgoingMessage
from reverie.drive.deliver.subscriptions import end_subscription, list_subscriptions, replay_dead
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import subject_target
from reverie.errors import InputError, NotFoundError
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform
from tests.consolidate.outbox import NOW, Receiver, add_memory, add_trigger, forget, run, subscribe, tell

SUPERSEDE = "update memory.memories set state = 'superseded' where id = %(id)s"


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


def test_changes_of_memories_are_told_once(tenant: Store) -> None:
    known, receiver = add_memory(tenant, "Lives in Bergen"), Receiver()
    subscribe(tenant)
    assert run(tenant, receiver)["filled"] == 0, "what was there before is no news"
    new = add_memory(tenant, "Has a dog")
    run(tenant, receiver)
    tell(tenant, SUPERSEDE, id=known)
    run(tenant, receiver)
    # a rebuild that has not come so far is no change
    tell(tenant, "delete from memory.memories")
    run(tenant, receiver)
    forget(tenant, new)
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


def test_a_receiver_that_is_gone_gets_one_batch_at_most(tenant: Store) -> None:
    subscribe(tenant, "trigger.due")
    for _ in range(25):
        add_trigger(tenant)
    receiver = Receiver(*[410] * 25)
    assert run(tenant, receiver)["dead"] == len(receiver.came) <= 20
    (ended,) = perform(list_subscriptions(tenant.session("t")))
    assert (ended.ended_at, ended.waiting, ended.dead) == (NOW, 0, 0)


def test_messages_of_an_ended_webhook_do_not_delay_others(tenant: Store) -> None:
    gone, _ = subscribe(tenant, "trigger.due")
    for _ in range(25):
        add_trigger(tenant)
    fill_outbox(tenant, "t", as_of=NOW, now=NOW)
    tell(tenant, "update ops.subscriptions set ended_at = %(at)s where id = %(id)s", id=gone, at=NOW)
    webhook, _ = subscribe(tenant, "trigger.due")
    receiver = Receiver()
    assert run(tenant, receiver)["delivered"] == 25
    assert {message.subscription_id for message in receiver.came} == {webhook}


def test_what_was_accepted_is_not_sent_again_if_a_later_message_stops_the_delivery(tenant: Store) -> None:
    class Stopping(Receiver):
        def __call__(self, message: OutgoingMessage, at: datetime) -> int | str:
            if len(self.came) == 1:
                raise RuntimeError
            return super().__call__(message, at)

    subscribe(tenant, "trigger.due")
    for _ in range(3):
        add_trigger(tenant)
    first, second = Stopping(), Receiver()
    with pytest.raises(RuntimeError):
        run(tenant, first)
    assert run(tenant, second, NOW + timedelta(hours=1))["delivered"] == 2
    assert len({message.id for message in (*first.came, *second.came)}) == 3


def test_a_new_webhook_is_told_nothing_that_happened_before_it(tenant: Store) -> None:
    first, _ = subscribe(tenant, "memory.created")
    superseded, forgotten, later = (add_memory(tenant, content) for content in ("Has a dog", "Sings", "Likes tea"))
    assert run(tenant, Receiver())["delivered"] == 3
    perform(end_subscription(tenant.session("t"), first, at=NOW))
    tell(tenant, SUPERSEDE, id=superseded)
    forget(tenant, forgotten)
    receiver = Receiver()
    subscribe(tenant, "memory.superseded", "memory.forgotten")
    assert run(tenant, receiver)["filled"] == 0
    # but changes that a webhook in force waits for are not lost by a third one
    tell(tenant, SUPERSEDE, id=later)
    subscribe(tenant, "memory.created")
    run(tenant, receiver)
    assert [(m.payload["type"], m.payload["data"]["memory_id"]) for m in receiver.came] == [
        ("memory.superseded", str(later))
    ]


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks..example.com/x", "https://.example.com/", f"https://{'a' * 64}.example.com/", "https://[x]/",
        "http://[bad", "https://exa℀mple.com/", "https://example.com:99999/", "https:///x", "ftp://example.com/",
    ],
)  # fmt: skip
def test_a_url_to_which_nothing_can_be_sent_is_refused(url: str, tenant: Store) -> None:
    with pytest.raises(InputError, match="A webhook's URL"):
        subscribe(tenant, url=url)


def test_hosts_in_any_script_and_with_a_port_are_accepted(tenant: Store) -> None:
    for url in ("https://bücher.example/x", "https://example.org.:8443/", "https://[2606:4700:4700::1111]:443/"):
        subscribe(tenant, url=url)
    assert len(perform(list_subscriptions(tenant.session("t")))) == 3


def test_of_what_was_erased_the_id_alone_is_told(tenant: Store) -> None:
    receiver = Receiver()
    subscribe(tenant)
    memory = add_memory(tenant, "Has a dog")
    add_trigger(tenant)
    run(tenant, Receiver(500, 500))
    tell(tenant, "insert into memory.subjects (tenant_id, subject_id) values ('t', 'ana')")
    eraser = Eraser(store=tenant, tenant_id="t", policy=load_policy("contact"), count_tokens=len, at=NOW)
    eraser.erase(subject_target("ana"))
    run(tenant, receiver)
    assert receiver.types == ["memory.erased"]
    assert receiver.came[0].payload["data"] == {"memory_id": str(memory)}
    with tenant.transaction("t") as conn:
        left = conn.execute("select count(*) from ops.outbox where subject_id is not null").fetchone()
        known = conn.execute("select count(*) from ops.announced").fetchone()
    assert (left, known) == ((0,), (0,))


def test_a_long_delivery_tries_each_message_once(tenant: Store) -> None:
    subscribe(tenant, "trigger.due")
    for _ in range(25):
        add_trigger(tenant)
    receiver, seconds = Receiver(*[500] * 100), count(step=10)
    assert deliver(
        tenant, "t", as_of=NOW, clock=lambda: NOW + timedelta(seconds=next(seconds)), send=receiver
    )["failed"] == len(receiver.came) == 25  # fmt: skip


def test_a_late_sender_does_not_undo_a_delivery(tenant: Store) -> None:
    other = Receiver()

    class Late(Receiver):
        def __call__(self, message: OutgoingMessage, at: datetime) -> int | str:
            assert run(tenant, other, NOW + timedelta(hours=1))["delivered"] == 1
            return 500

    subscribe(tenant, "trigger.due")
    add_trigger(tenant)
    run(tenant, Late())
    (listed,) = perform(list_subscriptions(tenant.session("t")))
    assert (listed.delivered, listed.waiting) == (1, 0)
    run(tenant, other, NOW + timedelta(hours=2))
    assert len(other.came) == 1


def test_a_memory_that_came_back_is_not_told_as_forgotten_again(tenant: Store) -> None:
    receiver, memory = Receiver(), add_memory(tenant, "Has a dog")
    webhook, _ = subscribe(tenant)
    forget(tenant, memory)
    run(tenant, receiver)
    add_memory(tenant, "Has a dog", memory)  # its tombstone stays
    for _ in range(3):
        run(tenant, receiver)
    assert receiver.types == ["memory.forgotten"]
    tell(tenant, SUPERSEDE, id=memory)
    run(tenant, receiver)
    perform(end_subscription(tenant.session("t"), webhook, at=NOW))
    subscribe(tenant)
    run(tenant, receiver)
    assert receiver.types == ["memory.forgotten", "memory.superseded"]


@pytest.mark.parametrize("given", ["a run of all subjects", "an hour"])
def test_changes_of_unnamed_subjects_are_found(given: str, tenant: Store) -> None:
    receiver, memory = Receiver(), add_memory(tenant, "Has a dog")
    subscribe(tenant)
    run(tenant, receiver)
    with tenant.transaction("t") as conn:
        conn.execute(SUPERSEDE, {"id": memory})
        conn.execute('update ops.runs set scope = \'{"subjects": ["ben"]}\'')
    run(tenant, receiver)
    assert receiver.types == [], "no run named her"
    with tenant.transaction("t") as conn:
        if given == "an hour":
            conn.execute("update ops.subscriptions set compared_at = compared_at - interval '1 hour'")
        else:
            conn.execute("update ops.runs set scope = '{}'")
    run(tenant, receiver)
    assert receiver.types == ["memory.superseded"]
