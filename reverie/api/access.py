"""The dependency of every route under `/v1`: the caller of a request, its scopes, and the services that it needs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from limits import parse
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from reverie.api.deadline import Deadline, deadline_of
from reverie.api.keys import Grant, KeyScope, key_digest, read_grant, tenant_of
from reverie.api.problems import ProblemError
from reverie.api.services import Services
from reverie.policy import Policy, load_policy
from reverie.store.entries import Entry
from reverie.store.session import TenantSession
from reverie.telemetry.spans import TENANT_KEY

#: Seconds for which a key's grant is cached; a revoked key may still work for as long.
TRUSTED_SECONDS = 5.0
_REMEMBERED = 10_000
#: The key of the grant in the scope of a request that this process makes itself for a message to `/mcp`.
GRANT_KEY = "reverie.grant"

#: Reads the key from the headers.
bearer = HTTPBearer(auto_error=False, description="A key created by `reverie keys add`.")


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request and its access to the database; every operation runs for the tenant of the key."""

    grant: Grant
    services: Services
    deadline: Deadline

    @property
    def tenant_id(self) -> str:
        """The tenant of the key. A request cannot name another one."""
        return self.grant.tenant_id

    @property
    def policy(self) -> Policy:
        """The policy of the tenant. Raises PolicyError."""
        return load_policy(self.grant.policy)

    def reader(self) -> TenantSession:
        """Return a session in the role that may read."""
        return self.services.read_session(self.tenant_id)

    def primary_reader(self) -> TenantSession:
        """Return a session in the role that may read, on the primary: for reads that must see the latest writes."""
        return self.services.reader.session(self.tenant_id, executor=self.services.threads)

    def questioner(self) -> TenantSession:
        """Return a session for an operation that embeds a question. It can book the cost if embedding has a price."""
        return self.services.question_session(self.tenant_id)

    def writer(self) -> TenantSession:
        """Return a session in the role that may write; the request's deadline waits for its commits."""
        return self.services.write_session(self.tenant_id, on_commit=self.deadline.committing)

    def log(self, entries: Sequence[Entry]) -> None:
        """Queue the entries of an answer for the log, without waiting until they are written."""
        self.services.journal.put(self.tenant_id, entries)


class Gate:
    """Authenticates keys, caches their grants briefly, and limits their rates."""

    def __init__(self, rate: str) -> None:
        self._rate = parse(rate)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._trusted: dict[bytes, tuple[Grant, float]] = {}

    async def grant(self, text: str | None, services: Services) -> Grant:
        """Return the grant of a key. Raises ProblemError: 401 if no key is in force, 429 if it exceeds its rate."""
        grant = await self._find(text, services) if text else None
        if grant is None:
            raise ProblemError(
                401,
                "The request needs a valid key: Authorization: Bearer reverie.….",
                headers={"WWW-Authenticate": "Bearer"},
            )
        key = grant.key_id.hex
        if not await self._limiter.hit(self._rate, key):
            window = await self._limiter.get_window_stats(self._rate, key)
            wait = max(1, round(window.reset_time - time.time()))
            raise ProblemError(429, f"This key may send {self._rate}.", headers={"Retry-After": str(wait)})
        return grant

    async def _find(self, text: str, services: Services) -> Grant | None:
        digest, now = key_digest(text), time.monotonic()
        known = self._trusted.get(digest)
        if known and known[1] > now:
            return known[0]
        tenant_id = tenant_of(text)
        if tenant_id is None:
            return None
        grant = await read_grant(services.write_session(tenant_id), text, at=datetime.now(UTC))
        if grant is None:
            self._trusted.pop(digest, None)
            return None
        if len(self._trusted) >= _REMEMBERED:
            self._trusted.clear()
        self._trusted[digest] = (grant, now + TRUSTED_SECONDS)
        return grant


class Access:
    """Finds the caller of a route that needs a scope. It is a FastAPI dependency, or the route calls it itself."""

    def __init__(self, scope: KeyScope) -> None:
        self._scope = scope

    async def __call__(
        self, request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]
    ) -> Caller:
        """Return the caller.

        Raises ProblemError: 401 if no key is in force, 403 if it lacks the scope, 429 if it exceeds its rate.
        """
        state = request.app.state
        grant: Grant | None = request.scope.get(GRANT_KEY)  # looked up and counted already
        if grant is None:
            grant = await state.gate.grant(credentials.credentials if credentials else None, state.services)
        if not grant.allows(self._scope):
            raise ProblemError(403, f"This key lacks the scope {self._scope}.")
        request.scope[TENANT_KEY] = grant.tenant_id  # for the tracing layer
        return Caller(grant, state.services, deadline_of(request.scope))


#: The caller of a route that reads, writes, or is for administrators.
Reader = Annotated[Caller, Depends(Access("read"))]
Writer = Annotated[Caller, Depends(Access("write"))]
Admin = Annotated[Caller, Depends(Access("admin"))]
