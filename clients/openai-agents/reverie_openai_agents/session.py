"""A `Session` whose items live in Reverie's key-value store, and become turns of memory if asked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, cast
from uuid import uuid4

from agents.items import TResponseInputItem
from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, coerce_session_settings, resolve_session_limit

from reverie_client import AsyncClient, Turn
from reverie_client.batches import batches, turn_batches
from reverie_client.request import Request
from reverie_client.routes.store import Store, StoreResult
from reverie_client.texts import storable_value

#: The first label of the namespace of every session.
ROOT = "openai-agents"
#: Most operations of a request, and most items of one search.
MOST = 1000


class ReverieSession(SessionABC):
    """The history of a conversation; items of every type come back equal.

    With `remember` the messages of users and assistants are also appended to the subject's memory as turns.
    """

    def __init__(
        self,
        session_id: str,
        client: AsyncClient,
        *,
        subject_id: str,
        remember: bool = False,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        """Name the conversation and whose it is. An erasure of the subject deletes the items too.

        Raises:
            TypeError: `session_settings` is a dictionary with a key that the SDK does not know.
        """
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self._client, self._subject_id, self._remember = client, subject_id, remember
        self._namespace = [ROOT, subject_id, session_id]
        self._last = 0

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the latest `limit` items in the order of the conversation; None: as the settings say, or all."""
        chosen = resolve_session_limit(limit, self.session_settings)
        if chosen == 0:
            return []
        most = chosen if chosen is not None and chosen > 0 else None
        items: list[TResponseInputItem] = []
        while most is None or len(items) < most:
            page = MOST if most is None else min(MOST, most - len(items))
            found = await self._search(page, len(items))
            items += found
            if len(found) < page:
                break
        return items[::-1]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items, all or none where one request takes them: up to 1,000, and 190,000 characters.

        NUL characters are removed. With `remember` memory gets the texts even if the session refuses an item.

        Raises:
            InvalidRequestError: an item, such as one with an image, has more characters than the server's
                `REVERIE_API_CHARACTERS` (200,000) allows (status 413).
        """
        keys = [self._next_key() for _ in items]
        # first, since an item that is too long for the store has a turn all the same
        for turns in turn_batches(_turns(keys, items) if self._remember else ()):
            await self._client.append_turns(self._subject_id, self.session_id, turns)
        values = [storable_value(dict(cast("Mapping[str, Any]", item))) for item in items]
        puts = [
            {"op": "put", "namespace": self._namespace, "key": key, "value": value}
            for key, value in zip(keys, values, strict=True)
        ]
        for batch in batches(puts, MOST):
            await self._run(batch, repeatable=True)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the latest item and return it; what memory made of it stays."""
        (result,) = await self._run([{"op": "pop", "namespace": self._namespace}], repeatable=False)
        return cast("TResponseInputItem", result.items[0].value) if result.items else None

    async def clear_session(self) -> None:
        """Delete all items of the conversation; what memory made of them stays."""
        await self._run([{"op": "clear", "namespace": self._namespace}], repeatable=True)

    async def _search(self, limit: int, offset: int) -> list[TResponseInputItem]:
        search = {"op": "search", "prefix": self._namespace, "order": "key_desc", "limit": limit, "offset": offset}
        (result,) = await self._run([search], repeatable=True)
        return [cast("TResponseInputItem", item.value) for item in result.items or ()]

    async def _run(self, operations: list[dict[str, Any]], *, repeatable: bool) -> list[StoreResult]:
        body = {"operations": operations}
        answer = await self._client.send(Request("POST", "/v1/store", Store, body=body, is_idempotent=repeatable))
        return answer.results

    def _next_key(self) -> str:
        """A key after all before it: by the clock, and of its own where two processes write at once."""
        self._last = max(time.time_ns(), self._last + 1)
        return f"{self._last:020}-{uuid4().hex[:8]}"


def _turns(keys: list[str], items: list[TResponseInputItem]) -> list[Turn]:
    turns = []
    for key, item in zip(keys, items, strict=True):
        fields = cast("Mapping[str, Any]", item)
        if fields.get("role") in ("user", "assistant") and (text := _text(fields.get("content"))):
            turns.append(Turn(role=fields["role"], text=text, source_id=key))
    return turns


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = [part.get("text") for part in content or () if isinstance(part, Mapping)]
    return "\n".join(part for part in parts if isinstance(part, str)).strip()
