"""API keys: creates, lists and revokes them, and looks them up for each request.

A key is `reverie.<tenant>.<secret>`, the tenant in base64. It names its tenant, so that the look-up is bound to one
tenant like every other query; the 32 random bytes of the secret prove it. Only the sha256 of the key is stored.
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
#: Characters of the longest key: a tenant of 200 four-byte letters in base64, the secret, the rest.
_LONGEST = 1200


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """A key as it is listed, without its text."""

    id: UUID
    name: str
    scopes: list[KeyScope]
    made_at: datetime
    #: None: it does not expire.
    expires_at: datetime | None
    #: None: it is not revoked.
    revoked_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """The permissions of a key in force."""

    key_id: UUID
    #: The name of the key, for people.
    name: str
    tenant_id: str
    scopes: frozenset[KeyScope]
    #: Name or path of the tenant's policy.
    policy: str

    def allows(self, scope: KeyScope) -> bool:
        """Return whether the key may use a route that needs this scope."""
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
    """Create a key and return it with its text, which is not stored. A new tenant gets `policy`.

    Raises InputError: no scope, an unknown scope, an invalid name, or an expiry that is not after the creation.
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
    """Revoke the key whose id is `key` or begins with it; revoking twice changes nothing.

    Raises InputError: `key` is not the beginning of an id, or several ids begin with it. NotFoundError: no such key.
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
    """Return the grant of a key; None if the tenant has no such key or it is not in force."""
    return await read_grant_of(session, key_digest(text), at=at)


async def read_grant_of(session: TenantSession, digest: bytes, *, at: datetime) -> Grant | None:
    """Return the grant of the key with this digest, as `read_grant` does."""
    params = {"tenant": session.tenant_id, "digest": digest, "at": at}
    rows = await session.run(Statement(queries("keys")["read_grant"], params))
    if not rows:
        return None
    key_id, name, scopes, policy = rows[0]
    return Grant(key_id=key_id, name=name, tenant_id=session.tenant_id, scopes=frozenset(scopes), policy=policy)


def key_digest(text: str) -> bytes:
    """Return the sha256 of a key's text."""
    return hashlib.sha256(text.encode()).digest()


def tenant_of(text: str) -> str | None:
    """Return the tenant that a key names, which proves nothing; None if the text cannot be a key."""
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
