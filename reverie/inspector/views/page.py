"""A page of the inspector: its address, and the scope that it needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from starlette.responses import Response

from reverie.api.keys import KeyScope
from reverie.inspector.visits import Visit


@dataclass(frozen=True, slots=True)
class InspectorPage:
    """A page, or the handler of its form."""

    path: str
    view: Callable[[Visit], Awaitable[Response]]
    method: Literal["GET", "POST"] = "GET"
    scope: KeyScope = "read"
    #: Whether it belongs to one tenant.
    of_tenant: bool = True
