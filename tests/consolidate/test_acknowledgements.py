"""A trigger that somebody acted upon is settled."""

from __future__ import annotations

from uuid import uuid4

import pytest

from reverie.capture.live.acknowledgements import acknowledge_trigger
from reverie.drive.deliver.delivering import PAUSES
from reverie.errors import NotFoundError
from reverie.store.database import Store
from reverie.store.session import perform
from tests.consolidate.outbox import NOW, Receiver, add_trigger, run, subscribe


def test_what_was_acknowledged_is_not_sent(tenant: Store) -> None:
    subscribe(tenant, "trigger.due")
    trigger = add_trigger(tenant)
    assert run(tenant, Receiver(500))["failed"] == 1
    perform(acknowledge_trigger(tenant.session("t"), trigger, action="done", acted_at=NOW, actor="dana"))
    receiver = Receiver()
    assert run(tenant, receiver, NOW + PAUSES[0])["delivered"] == 0 and receiver.came == []
    with pytest.raises(NotFoundError):
        perform(acknowledge_trigger(tenant.session("t"), uuid4(), action="done", acted_at=NOW, actor=None))
