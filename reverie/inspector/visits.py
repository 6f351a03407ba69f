"""One request of the inspector: its visitor, the tenant of the page, and the access to its rows."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from reverie.api.access import Caller
from reverie.api.deadline import deadline_of
from reverie.api.keys import Grant, KeyScope, key_digest, read_grant_of
from reverie.api.problems import ProblemError
from reverie.api.services import Services
from reverie.errors import InputError, NotFoundError
from reverie.inspector.rendering import page_address, render_page
from reverie.inspector.signing import CookieSigner
from reverie.model import bounded_time

if TYPE_CHECKING:
    from reverie.inspector.counting import KeptCounts
    from reverie.inspector.jobs import Jobs

COOKIE = "reverie_inspector"
#: Seconds for which a visitor stays signed in.
SIGNED_IN_SECONDS = 12 * 3600
_LONGEST_NAME = 200
_NUMBER = re.compile("[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Visitor:
    """The person who is signed in."""

    #: The name that the key was given when it was made.
    name: str
    #: First digits of the key's id.
    key: str
    #: The tenant of the key; None: the operator's key, for every tenant.
    tenant_id: str | None
    scopes: frozenset[KeyScope]

    @property
    def actor(self) -> str:
        """The actor as in audit rows: the name and the id of the key."""
        return f"{self.name[:150]} (key {self.key}, inspector)"

    def allows(self, scope: KeyScope) -> bool:
        """Return whether the visitor may open pages and take actions that need this scope."""
        return scope in self.scopes or "admin" in self.scopes


@dataclass(frozen=True, kw_only=True, slots=True)
class Inspector:
    """The data that all requests of an inspector share."""

    signer: CookieSigner
    #: The key that opens every tenant; None: there is none, and each key opens its own tenant.
    operator_key: str | None
    jobs: Jobs
    #: The health of tenants, as `views.tenants` counts it.
    counts: KeptCounts[dict[str, Any]]

    def cookie_of(self, text: str, tenant_id: str | None, at: datetime) -> str:
        """Return the cookie of a visitor who signed in with a checked key."""
        content = {"digest": key_digest(text).hex(), "tenant": tenant_id, "until": at.timestamp() + SIGNED_IN_SECONDS}
        return self.signer.sign(content)

    def is_operator(self, digest: bytes) -> bool:
        """Return whether a digest is that of the operator's key."""
        return self.operator_key is not None and hmac.compare_digest(digest, key_digest(self.operator_key))

    async def visitor(self, cookie: str | None, services: Services, at: datetime) -> Visitor | None:
        """Return the holder of a cookie; None if nobody is signed in, or the key was revoked since."""
        content = self.signer.read(cookie)
        if not content or content.get("until", 0) < at.timestamp():
            return None
        digest = bytes.fromhex(content["digest"])
        if content["tenant"] is None:
            known = self.is_operator(digest)
            admin: frozenset[KeyScope] = frozenset({"admin"})
            return Visitor(name="operator", key=digest.hex()[:8], tenant_id=None, scopes=admin) if known else None
        grant = await read_grant_of(services.write_session(content["tenant"]), digest, at=at)
        if grant is None or not grant.allows("read"):
            return None
        return Visitor(name=grant.name, key=grant.key_id.hex[:8], tenant_id=grant.tenant_id, scopes=grant.scopes)


class Visit:
    """A request of a visitor, for a page of one tenant or of none."""

    def __init__(
        self,
        request: Request,
        inspector: Inspector,
        visitor: Visitor,
        form: Mapping[str, str],
        grant: Grant | None,
        at: datetime,
    ) -> None:
        """`grant`: for the tenant of the page; None: the page is of no tenant. `at`: now, by the tenant's clock."""
        self.request, self.inspector, self.visitor, self.form, self.at = request, inspector, visitor, form, at
        self._grant = grant
        self.services: Services = request.scope["reverie.services"]

    @property
    def caller(self) -> Caller:
        """The access to the tenant's rows, the same as that of the API."""
        assert self._grant is not None
        return Caller(self._grant, self.services, deadline_of(self.request.scope))

    @property
    def tenant_id(self) -> str:
        """The tenant of the page."""
        return self.caller.tenant_id

    def value(self, name: str) -> str | None:
        """Return a field of the form or the address as it is, since a name may begin or end with a space.

        None if it is empty. Raises InputError if it contains a NUL character.
        """
        text = self.form.get(name) or self.request.query_params.get(name) or ""
        if "\0" in text:
            raise InputError(f"The field {name} contains a NUL character.")
        return text or None

    def entry(self, name: str) -> str | None:
        """Return a field that a person fills in, such as a search, without surrounding spaces; None if it is empty."""
        return (self.value(name) or "").strip() or None

    def name(self, field: str) -> str:
        """Return a name that the page needs, such as that of a subject. Raises InputError."""
        text = self.value(field)
        if text is None or len(text) > _LONGEST_NAME:
            raise InputError(f"The address needs {field}, of 1 to {_LONGEST_NAME} characters.")
        return text

    def number(self, field: str) -> int | None:
        """Return a whole number that fits Postgres's bigint; None if the field is empty or anything else."""
        text = self.entry(field) or ""
        return int(text) if _NUMBER.fullmatch(text) else None

    def uuid(self, field: str) -> UUID:
        """Return an id that the page needs. Raises InputError."""
        try:
            return UUID(self.entry(field) or "")
        except ValueError:
            raise InputError(f"{self.entry(field)!r} is not an id.") from None

    def time(self, field: str = "as_of") -> datetime | None:
        """Return a time, in UTC if it has no offset; None if the field is empty. Raises InputError."""
        text = self.entry(field)
        if text is None:
            return None
        try:
            at = datetime.fromisoformat(text)
            return bounded_time(at if at.tzinfo else at.replace(tzinfo=UTC))
        except ValueError:
            raise InputError(f"{text!r} is not a time such as 2026-06-30T18:00.") from None

    def url(self, page: str, **params: Any) -> str:
        """Return the address of a page, of the same tenant unless another is named."""
        tenant = {"tenant": self._grant.tenant_id} if self._grant else {}
        return page_address(self.request.scope["root_path"], page, tenant | params)

    def render(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page; its template can use `visit`, `url`, `token` and `now`."""
        shared = {
            "visit": self,
            "url": self.url,
            "base": self.request.scope["root_path"],
            "token": self.inspector.signer.token(self.request.cookies.get(COOKIE, "")),
            "now": self.at,
            "tenant": self._grant.tenant_id if self._grant else None,
            "done": self.value("done"),
        }
        return render_page(template, shared | values, status=status)

    def redirect(self, page: str, **params: Any) -> Response:
        """Return a redirect to a page, after a form was applied."""
        return RedirectResponse(self.url(page, **params), status_code=303)

    def require(self, scope: KeyScope) -> None:
        """Raise ProblemError (403) unless the key has the scope."""
        if not self.visitor.allows(scope):
            raise ProblemError(403, f"Your key lacks the scope {scope}.")


def tenant_of_visit(visitor: Visitor, asked: str | None) -> str | None:
    """Return the tenant of a page: the key's own; an operator names one.

    Raises NotFoundError: a key of one tenant asked for another, which must look as if it did not exist.
    """
    if visitor.tenant_id is None:
        return asked
    if asked not in (None, visitor.tenant_id):
        raise NotFoundError(f"There is no tenant {asked!r}.")
    return visitor.tenant_id
