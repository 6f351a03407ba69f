"""A block of LlamaIndex's `Memory`: messages that leave the short-term memory become turns, a context comes back."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import Field

from reverie_client import Client, Turn
from reverie_client.batches import turn_batches
from reverie_client.texts import storable_question

#: The session of messages that come without one.
NO_SESSION = "llamaindex"


class ReverieMemoryBlock(BaseMemoryBlock[str]):
    """The memory of a subject as a block.

        block = ReverieMemoryBlock(client=client, subject_id="ana")
        memory = Memory.from_defaults(session_id="s1", memory_blocks=[block])

    The client is the blocking one: LlamaIndex's own blocking methods run each call on an event loop of its own.
    """

    name: str = "Reverie"
    client: Client = Field(exclude=True)
    subject_id: str

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        """Return the context for the last message of the user. Raises ReverieClientError."""
        said = (message.content for message in reversed(messages or ()) if message.role == MessageRole.USER)
        question = next((question for text in said if (question := storable_question(text))), None)
        context = await asyncio.to_thread(
            self.client.assemble_context,
            self.subject_id,
            session_id=session_id,
            question=question,
        )
        return context.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Append messages of users and assistants to memory. Raises ReverieClientError."""
        for session_id, said in groupby(messages, _session_of):
            for batch in turn_batches(_turns(session_id, list(said))):
                await asyncio.to_thread(self.client.append_turns, self.subject_id, session_id, batch)


def _session_of(message: ChatMessage) -> str:
    return str(message.additional_kwargs.get("session_id") or NO_SESSION)


def _turns(session_id: str, messages: Sequence[ChatMessage]) -> list[Turn]:
    roles = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant"}
    turns = []
    for message in messages:
        if message.role in roles and (text := (message.content or "").strip()):
            role: Any = roles[message.role]
            # a message has no id of its own: one that a caller puts and the memory flushes later counts once
            known = hashlib.sha256(f"{session_id}\0{role}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
            turns.append(Turn(source_id=known, role=role, text=text))
    return turns
