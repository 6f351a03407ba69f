"""One signed request of a webhook, as Standard Webhooks describes it (https://www.standardwebhooks.com)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

#: Seconds that a receiver has to answer.
TIMEOUT = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A message that is due, with where it goes."""

    id: UUID
    subscription_id: UUID
    url: str
    secret: str
    payload: Mapping[str, Any]
    #: This attempt included.
    attempts: int


#: Sends a message at a time; returns the status of the answer, or the name of the error.
Send = Callable[[OutgoingMessage, datetime], int | str]


def send_by_http(message: OutgoingMessage, at: datetime) -> int | str:
    """Send a message by POST, signed with its secret; redirects are not followed, and the answer's body is not read."""
    import httpx
    from standardwebhooks import Webhook

    body = orjson.dumps(message.payload)
    headers = {
        "content-type": "application/json",
        "webhook-id": str(message.id),
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(message.secret).sign(str(message.id), at, body.decode()),
    }
    try:
        with httpx.stream(
            "POST", message.url, content=body, headers=headers, timeout=TIMEOUT, follow_redirects=False
        ) as reply:
            return reply.status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return type(error).__name__
