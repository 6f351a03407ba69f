"""What is due is sent, retried and replayed; changes of memories are told once, of what was erased the id alone."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from reverie.drive.deliver.delivering import PAUSES
from reverie.drive.deliver.subscriptions import end_subscription, list_subscriptions, replay_dead
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import subject_target
from reverie.errors import NotFoundError
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.session import perform
from tests.consolidate.outbox import NOW, Receiver, add_memory, add_trigger, run, subscribe, tell


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
