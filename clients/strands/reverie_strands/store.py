"""Strands' `MemoryStore`: a search is a recall, messages become turns, entries become observations."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

from strands.memory import AddMessagesContext, ExtractionConfig, MemoryEntry, MemoryStore, SearchOptions
from strands.types.content import Message

from reverie_client import Client, Turn
from reverie_client.batches import turn_batches
from reverie_client.metadata import category_of, storable_metadata
from reverie_client.telling import told
from reverie_client.texts import storable_question, storable_text


class ReverieMemoryStore(MemoryStore):
    """The memory of a subject as a store of Strands' `MemoryManager`.

        store = ReverieMemoryStore(client, "ana", session_id="support-7")
        agent = Agent(memory_manager=MemoryManager(stores=[store]))

    With `extraction`, which is on by default, messages of the conversation are appended as turns. The server extracts,
    so no model is called for it. The client is the blocking one: Strands runs each blocking call of an agent on an
    event loop of its own.
    """

    def __init__(
        self,
        client: Client,
        subject_id: str,
        *,
        session_id: str,
        name: str = "reverie",
        description: str | None = "What is remembered about the user from earlier conversations.",
        max_search_results: int | None = None,
        extraction: ExtractionConfig | bool = True,
    ) -> None:
        """Name whose memory it is, and the conversation that messages belong to."""
        self._client, self._subject_id, self._session_id = client, subject_id, session_id
        self.name, self.description, self.max_search_results = name, description, max_search_results
        self.writable, self.extraction = True, extraction
        #: Strands numbers the messages of each agent from 0.
        self._run_id = uuid4().hex

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Recall what is relevant to the query, best first. Raises ReverieClientError."""
        if (question := storable_question(query)) is None:
            return []
        top_k = (options or {}).get("max_search_results") or self.max_search_results
        found = await asyncio.to_thread(self._client.recall, self._subject_id, question, top_k=top_k)
        return [
            MemoryEntry(
                content=told(hit),
                metadata={
                    "id": str(hit.id),
                    "kind": hit.kind,
                    "score": hit.score,
                    "happened_at": hit.happened_at.isoformat(),
                },
            )
            for hit in found.hits
        ]

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> None:
        """Record an observation; the key `category` of the metadata names the category, else it is a fact.

        Values of `source` and `context_type` that Reverie does not know are stored as `custom_source` and
        `custom_context_type`.
        """
        category, kept = category_of(metadata or {})
        await asyncio.to_thread(
            self._client.record_observation,
            self._subject_id,
            category,
            storable_text(content),
            session_id=self._session_id,
            metadata=storable_metadata(kept),
        )

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:
        """Append messages with text as turns; a batch that is tried again is stored once. Raises ReverieClientError."""
        numbers = context.sequence_numbers if context else None
        keys = [f"{self._run_id}-{number}" for number in numbers] if numbers else [uuid4().hex for _ in messages]
        turns = [
            Turn(source_id=key, role=message["role"], text=text)
            for key, message in zip(keys, messages, strict=True)
            if (text := _text(message))
        ]
        for batch in turn_batches(turns):
            await asyncio.to_thread(self._client.append_turns, self._subject_id, self._session_id, batch)


def _text(message: Message) -> str:
    return "\n".join(block["text"] for block in message["content"] if "text" in block).strip()
