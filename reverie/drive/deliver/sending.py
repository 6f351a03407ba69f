"""One signed request to a webhook, as Standard Webhooks describes it (https://www.standardwebhooks.com)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any
from uuid import UUID

import orjson

#: Seconds that a receiver has for each step: to connect, to take a part of a request, to send a part of an answer.
TIMEOUT = 15.0
#: Seconds for a whole request, so that a receiver that goes on sending little does not hold up the other tenants.
DEADLINE = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMessage:
    """A due message, with its destination."""

    id: UUID
    subscription_id: UUID
    url: str
    secret: str
    payload: Mapping[str, Any]
    #: Number of attempts, including this one.
    attempts: int


#: Packages of the extra `webhooks`.
_PACKAGES = ("httpcore", "httpx", "standardwebhooks")

#: Sends a message at a time; returns the status of the answer, or the name of the error.
Send = Callable[[OutgoingMessage, datetime], int | str]


def require_packages() -> None:
    """Raise ModuleNotFoundError, before any message is claimed, unless the extra `webhooks` is installed."""
    for name in _PACKAGES:
        import_module(name)


def send_by_http(message: OutgoingMessage, at: datetime, *, private_hosts: Collection[str] = ()) -> int | str:
    """Send a message by POST, signed with its secret; redirects are not followed, and the answer's body is not read.

    It ends after `DEADLINE` seconds. Only `private_hosts` may have addresses that are not public. Proxies from the
    environment are not used, since the address could not be checked behind one.
    """
    import httpcore
    import httpx
    from standardwebhooks import Webhook

    from reverie.drive.deliver.public_network import PublicNetwork

    body = orjson.dumps(message.payload)
    headers: dict[bytes | str, bytes | str] = {
        "content-type": "application/json",
        "webhook-id": str(message.id),
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(message.secret).sign(str(message.id), at, body.decode()),
    }
    timeout = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), TIMEOUT)}
    try:
        url = httpx.URL(message.url)
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        with (
            httpcore.ConnectionPool(
                ssl_context=httpx.create_ssl_context(), network_backend=PublicNetwork(private_hosts, seconds=DEADLINE)
            ) as pool,
            pool.stream("POST", target, headers=headers, content=body, extensions=timeout) as reply,
        ):
            return reply.status
    except (
        httpcore.NetworkError,
        httpcore.TimeoutException,
        httpcore.ProtocolError,
        httpx.InvalidURL,
        UnicodeError,  # the network's own, for a private host with a name that the DNS cannot have
    ) as error:
        return type(error).__name__
