"""The webhooks of a tenant: their URLs and events (docs/signals.md)."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from reverie.drive.deliver.destinations import require_public
from reverie.errors import InputError, NotFoundError
from reverie.model import require_aware
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

EventName = Literal["trigger.due", "memory.created", "memory.superseded", "memory.forgotten", "memory.erased"]
EVENT_NAMES: tuple[EventName, ...] = get_args(EventName)
#: Bytes of a secret, and its prefix by Standard Webhooks.
_SECRET_BYTES, _SECRET_MARK = 32, "whsec_"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """A webhook, without its secret."""

    id: UUID
    url: str
    events: Sequence[str]
    made_at: datetime
    ended_at: datetime | None
    #: Number of messages that wait, that it accepted, and that were given up.
    waiting: int
    delivered: int
    dead: int


async def add_subscription(
    session: TenantSession,
    *,
    url: str,
    events: Sequence[EventName],
    made_at: datetime,
    private_hosts: Collection[str] = (),
) -> tuple[UUID, str]:
    """Make a webhook; return its id and its secret, which is shown only now.

    `private_hosts` may have addresses that are not public. A name is resolved when a message is sent.

    Raises:
        InputError: the URL is not an HTTP URL with a host, its host is a private address or cannot exist, or no event
            is named.
        NotFoundError: there is no such tenant.
    """
    require_public(_host_of(url), private_hosts)
    if not events:
        raise InputError(f"Name at least one event: {', '.join(EVENT_NAMES)}.")
    id_, secret = uuid4(), _SECRET_MARK + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    params = {
        "tenant": session.tenant_id,
        "id": id_,
        "url": url,
        "secret": secret,
        "events": list(dict.fromkeys(events)),
        "made_at": require_aware(made_at, "made_at"),
    }
    sql = queries("subscriptions")
    statements = [Statement(sql["add_subscription"], params)]
    if any(name.startswith("memory.") for name in events):
        statements.append(Statement(sql["know_memories"], params))
    made, *_ = await session.run_all(*statements)
    if not made:
        raise NotFoundError(f"There is no tenant {session.tenant_id!r}.", unknown=("tenant", session.tenant_id))
    return id_, secret


def _host_of(url: str) -> str:
    """Return the host of a webhook's URL. Raises InputError for a URL to which nothing can be sent."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        host.encode("idna")  # as the network does when a message is sent
    except ValueError:
        raise InputError(
            "A webhook's URL needs a host and a port that can exist: names of 1 to 63 characters between dots, "
            "or an IP address (an IPv6 address in brackets), and a port up to 65535."
        ) from None
    if parts.scheme not in ("http", "https") or not host or len(url) > 2000:
        raise InputError("A webhook's URL must begin with https:// or http:// and name a host.")
    if parts.username or parts.password:
        raise InputError("A webhook's URL must not contain a user name or password: its requests are signed.")
    return host


async def list_subscriptions(session: TenantSession) -> list[Subscription]:
    """Return the webhooks, active ones first."""
    params = {"tenant": session.tenant_id}
    return await session.run(Statement(queries("subscriptions")["list_subscriptions"], params, row=Subscription))


async def end_subscription(session: TenantSession, id_: UUID, *, at: datetime) -> None:
    """End a webhook and drop its waiting messages. Raises NotFoundError if there is none."""
    params = {"tenant": session.tenant_id, "id": id_, "at": require_aware(at)}
    if not await session.run(Statement(queries("subscriptions")["end_subscription"], params)):
        raise NotFoundError(f"There is no webhook {id_}.")


async def replay_dead(session: TenantSession, id_: UUID | None, *, at: datetime) -> int:
    """Send again the messages that were given up, of one webhook or of all (None); return how many."""
    params = {"tenant": session.tenant_id, "id": id_, "at": require_aware(at)}
    return len(await session.run(Statement(queries("subscriptions")["replay_dead"], params)))
