"""Runs a model's calls: checks the arguments, sends the request, returns the answer as JSON."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from reverie_client.connection import AsyncConnection, Connection
from reverie_client.errors import ReverieClientError
from reverie_client.request import Request
from reverie_client.tools.catalogue import AGENT_TOOLS, TOOLS, Scope, Tool, todays_session
from reverie_client.tools.errors import NO_MEMORY, ToolError, explained, invalid
from reverie_client.tools.shapes import Shape, definition

#: Sends a request and returns the body of its answer.
Fetch = Callable[[Request[Any]], Awaitable[bytes]]


@dataclass(frozen=True, kw_only=True)
class Toolbox:
    """Tools for one subject or, without one, for the subject that each call names.

    A toolbox of one subject never accesses the memory of another, whatever id a model passes.
    """

    subject_id: str | None = None
    #: The conversation of calls that name none. None: one per day.
    session_id: str | None = None
    names: Sequence[str] = AGENT_TOOLS

    @property
    def tools(self) -> list[Tool]:
        """The tools in their order."""
        return [TOOLS[name] for name in self.names]

    def definitions(self, shape: Shape) -> list[dict[str, Any]]:
        """Return the definitions for a model."""
        return [definition(tool, shape, with_subject=self.subject_id is None) for tool in self.tools]

    def run(self, client: Connection, name: str, arguments: str | Mapping[str, Any] | None) -> str:
        """Run a call and return the answer as JSON. Raises ToolError, whose message is for the model."""
        steps = self._steps(name, arguments)
        try:
            request = next(steps)
            while True:
                request = steps.send(client.fetch(request))
        except StopIteration as done:
            return str(done.value, "utf-8")
        except ReverieClientError as error:
            raise explained(error) from error

    async def run_async(self, client: AsyncConnection, name: str, arguments: str | Mapping[str, Any] | None) -> str:
        """Run a call with a client for asyncio. Raises ToolError."""
        return await self.run_over(client.fetch, name, arguments)

    async def run_over(self, fetch: Fetch, name: str, arguments: str | Mapping[str, Any] | None) -> str:
        """Run a call with any function that sends requests. Raises ToolError."""
        steps = self._steps(name, arguments)
        try:
            request = next(steps)
            while True:
                request = steps.send(await fetch(request))
        except StopIteration as done:
            return str(done.value, "utf-8")
        except ReverieClientError as error:
            raise explained(error) from error

    def _steps(self, name: str, arguments: str | Mapping[str, Any] | None) -> Generator[Request[Any], bytes, bytes]:
        """Yield the requests of a call, one after the other; the body of each answer is sent back in."""
        if name not in self.names:
            raise ToolError(f"There is no tool {name!r}. The tools are {', '.join(self.names)}.")
        tool, given = TOOLS[name], _object(name, arguments)
        subject_id = self.subject_id or given.pop("subject_id", None)
        if not isinstance(subject_id, str) or not 1 <= len(subject_id) <= 200:
            raise ToolError(f"{name} needs subject_id: the person that the memory is about.")
        try:
            checked = tool.arguments.model_validate(given)
        except ValidationError as error:
            raise invalid(name, error) from None
        scope = Scope(subject_id=subject_id, session_id=self.session_id or todays_session("tools"))
        body = yield tool.make(checked, scope)
        if tool.subject_field and json.loads(body)[tool.subject_field] != subject_id:
            raise ToolError(f"The subject has no such memory. {NO_MEMORY}")
        return body


def _object(name: str, arguments: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments as an object; models write them as text."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            raise ToolError(f"The arguments of {name} are not JSON. Write one JSON object and call again.") from None
    if not isinstance(arguments, Mapping | None):
        raise ToolError(f"The arguments of {name} must be one JSON object.")
    return dict(arguments or {})
