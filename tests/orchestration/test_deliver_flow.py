"""The flow `deliver_webhooks`: a tenant that fails does not stop the others."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.errors import StageError
from reverie.store.database import Store

pytestmark = pytest.mark.filterwarnings("ignore:Logger 'prefect.task_runs' attempted to send logs:UserWarning")


def test_a_tenant_that_fails_does_not_stop_the_others(log: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import deliver_webhooks

    shown: list[Any] = []

    def deliver(_: Store, tenant_id: str, **__: Any) -> dict[str, int]:
        if tenant_id == "acme":
            raise ValueError("what she said")
        return {"filled": 1, "delivered": 1, "failed": 0, "dead": 0}

    monkeypatch.setattr(deliver_webhooks, "deliver", deliver)
    monkeypatch.setattr(deliver_webhooks, "show_table", lambda _key, _description, rows: shown.extend(rows))
    with pytest.raises(StageError, match=r"^1 of 2 tenants failed. acme: ValueError$"):
        deliver_webhooks.deliver_messages.fn()
    assert [(row["tenant"], row["delivered"]) for row in shown] == [("beta", 1)]
