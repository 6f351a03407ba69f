"""Keys of the API: made, listed, revoked, and looked up when a request comes.

A key is `reverie.<tenant>.<secret>`, the tenant in base64. It says whose it is, so that the look-up is bound to one
tenant like every other query; the 32 random bytes of the secret prove it. Only the sha256 of the whole is kept.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args
from uuid import UUID, uuid4

from reverie.errors import InputError, NotFoundError
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession
from reverie.store.tenants import ensure_tenant_statement

KeyScope = Literal["read", "write", "admin"]
SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)

_SECRET_BYTES = 32
_SHORTEST_PREFIX = 6
#: Characters of a key: a tenant of 200 four-byte letters in base64, the secret, the rest.
_LONGEST = 1200


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """A key as it is listed: never the key itself."""

    id: UUID
    name: str
    scopes: list[KeyScope]
    made_at: datetime
    #: None: never by itself.
    expires_at: datetime | None
    #: None: in force.
    revoked_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """What a key in force allows."""

    key_id: UUID
    #: That the key was given, for people.
    name: str
    tenant_id: str
    scopes: frozenset[KeyScope]
    #: Name or path of the tenant's policy.
    policy: str

    def allows(self, scope: KeyScope) -> bool:
        """Whether a route that needs this scope is open to the key."""
        return scope in self.scopes or "admin" in self.scopes


async def add_key(
    session: TenantSession,
    *,
    name: str,
    scopes: Sequence[KeyScope],
    policy: str,
    made_at: datetime,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Make a key and return it with its text, which is kept nowhere; a new tenant gets `policy`.

    Raises InputError: no scope, an unknown one, or an end before the beginning.
    """
    if not scopes or set(scopes) - set(SCOPES):
        raise InputError(f"A key needs one or more of the scopes {', '.join(SCOPES)}.")
    if not 1 <= len(name) <= 200:
        raise InputError("A key needs a name of 1 to 200 characters.")
    if expires_at is not None and expires_at <= made_at:
        raise InputError("A key cannot expire before it is created.")
    text = f"reverie.{_encoded(session.tenant_id)}.{secrets.token_urlsafe(_SECRET_BYTES)}"
    key = ApiKey(
        id=uuid4(), name=name, scopes=sorted(set(scopes)), made_at=made_at, expires_at=expires_at, revoked_at=None
    )
    row = {field: getattr(key, field) for field in ("id", "name", "scopes", "made_at", "expires_at")}
    row |= {"tenant": session.tenant_id, "digest": key_digest(text)}
    await session.run_all(
        ensure_tenant_statement(session.tenant_id, policy),
        Statement(queries("keys")["write_key"], row),
    )
    return key, text


async def list_keys(session: TenantSession) -> list[ApiKey]:
    """Return all keys of the tenant, latest first."""
    return await session.run(Statement(queries("keys")["list_keys"], {"tenant": session.tenant_id}, row=ApiKey))


async def revoke_key(session: TenantSession, key: str, *, revoked_at: datetime) -> ApiKey:
    """End the key whose id is this or begins like this; revoking twice changes nothing.

    Raises InputError: no id begins like this, or several do. NotFoundError: there is no such key.
    """
    digits = key.strip().lower().replace("-", "")
    if not (_SHORTEST_PREFIX <= len(digits) <= 32 and set(digits) <= set("0123456789abcdef")):
        raise InputError(f"{key!r} is not the id of a key: give its first {_SHORTEST_PREFIX} hex digits or more.")
    ends = {"first": UUID(digits.ljust(32, "0")), "last": UUID(digits.ljust(32, "f"))}
    async with session.transaction() as transaction:
        keys = await transaction.run(Statement(queries("keys")["find_keys"], {"tenant": session.tenant_id} | ends))
        if not keys:
            raise NotFoundError(f"Tenant {session.tenant_id} has no key {key}.")
        if len(keys) > 1:
            raise InputError(f"Several keys begin with {key}: give more digits.")
        params = {"tenant": session.tenant_id, "id": keys[0][0], "revoked_at": revoked_at}
        (revoked,) = await transaction.commit(Statement(queries("keys")["revoke_key"], params, row=ApiKey))
    return revoked


async def read_grant(session: TenantSession, text: str, *, at: datetime) -> Grant | None:
    """Return what a key allows; None when it is none of the tenant's or not in force."""
    return await read_grant_of(session, key_digest(text), at=at)


async def read_grant_of(session: TenantSession, digest: bytes, *, at: datetime) -> Grant | None:
    """Return what the key with this digest allows; None as `read_grant`."""
    params = {"tenant": session.tenant_id, "digest": digest, "at": at}
    rows = await session.run(Statement(queries("keys")["read_grant"], params))
    if not rows:
        return None
    key_id, name, scopes, policy = rows[0]
    return Grant(key_id=key_id, name=name, tenant_id=session.tenant_id, scopes=frozenset(scopes), policy=policy)


def key_digest(text: str) -> bytes:
    """sha256 of a key's text."""
    return hashlib.sha256(text.encode()).digest()


def tenant_of(text: str) -> str | None:
    """Return the tenant that a key says it is of, which proves nothing; None when it cannot be a key."""
    parts = text.split(".")
    if len(parts) != 3 or parts[0] != "reverie" or len(text) > _LONGEST:
        return None
    try:
        tenant = base64.b64decode(parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True).decode()
    except ValueError:
        return None
    return tenant if tenant and "\0" not in tenant else None


def _encoded(tenant_id: str) -> str:
    return base64.urlsafe_b64encode(tenant_id.encode()).decode().rstrip("=")
