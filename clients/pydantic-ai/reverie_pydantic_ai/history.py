"""The message history of a conversation in Reverie's key-value store: messages of every type come back equal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, TextPart, UserPromptPart

from reverie_client import AsyncClient, Turn
from reverie_client.batches import batches, turn_batches
from reverie_client.request import Request
from reverie_client.routes.store import Store, StoreResult
from reverie_client.texts import storable_value
from reverie_pydantic_ai.prompts import text_of

#: The first label of the namespace of every conversation.
ROOT = "pydantic-ai"
#: Most operations of a request, and most items of one search.
MOST = 1000


class MessageHistory:
    """The messages of a conversation: `load` them before a run, `add` the new ones after it.

        history = MessageHistory("support-7", client, subject_id="ana")
        result = await agent.run(prompt, message_history=await history.load())
        await history.add(result.new_messages())

    With `remember` the prompts and the texts of the model are also appended to the subject's memory as turns.
    """

    def __init__(self, conversation_id: str, client: AsyncClient, *, subject_id: str, remember: bool = False) -> None:
        """Name the conversation and whose it is. An erasure of the subject deletes the messages too."""
        self.conversation_id = conversation_id
        self._client, self._subject_id, self._remember = client, subject_id, remember
        self._namespace = [ROOT, subject_id, conversation_id]
        self._last = 0

    async def load(self, limit: int | None = None) -> list[ModelMessage]:
        """Return the messages in their order; with `limit` the latest ones."""
        kept: list[dict[str, Any]] = []
        while limit is None or len(kept) < limit:
            page = MOST if limit is None else min(MOST, limit - len(kept))
            search = {
                "op": "search",
                "prefix": self._namespace,
                "order": "key_desc",
                "limit": page,
                "offset": len(kept),
            }
            (result,) = await self._run([search])
            found = [item.value["message"] for item in result.items or ()]
            kept += found
            if len(found) < page:
                break
        return ModelMessagesTypeAdapter.validate_python(kept[::-1])

    async def add(self, messages: Sequence[ModelMessage]) -> None:
        """Append messages, all or none where one request takes them: up to 1,000, and 190,000 characters.

        NUL characters are removed. With `remember` memory gets the texts even if the history refuses a message.

        Raises:
            InvalidRequestError: a message, such as one with an image, has more characters than the server's
                `REVERIE_API_CHARACTERS` (200,000) allows (status 413).
        """
        keys = [self._next_key() for _ in messages]
        # first, since a message that is too long for the store has a turn all the same
        for turns in turn_batches(list(_turns(keys, messages)) if self._remember else ()):
            await self._client.append_turns(self._subject_id, self.conversation_id, turns)
        dumped = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
        puts = [
            {"op": "put", "namespace": self._namespace, "key": key, "value": {"message": storable_value(message)}}
            for key, message in zip(keys, dumped, strict=True)
        ]
        for batch in batches(puts, MOST):
            await self._run(batch)

    async def clear(self) -> None:
        """Delete the messages; what memory made of them stays."""
        await self._run([{"op": "clear", "namespace": self._namespace}])

    async def _run(self, operations: list[dict[str, Any]]) -> list[StoreResult]:
        answer = await self._client.send(Request("POST", "/v1/store", Store, body={"operations": operations}))
        return answer.results

    def _next_key(self) -> str:
        self._last = max(time.time_ns(), self._last + 1)
        return f"{self._last:020}-{uuid4().hex[:8]}"


def _turns(keys: Sequence[str], messages: Sequence[ModelMessage]) -> Iterator[Turn]:
    for key, message in zip(keys, messages, strict=True):
        if isinstance(message, ModelRequest):
            texts = [text_of(part.content) for part in message.parts if isinstance(part, UserPromptPart)]
            role: Any = "user"
        else:
            texts = [part.content for part in message.parts if isinstance(part, TextPart)]
            role = "assistant"
        if text := "\n".join(texts).strip():
            yield Turn(role=role, text=text, source_id=key)
