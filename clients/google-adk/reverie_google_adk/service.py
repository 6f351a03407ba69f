"""ADK's `BaseMemoryService`: sessions and events become turns, a search is a recall."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from google.adk.events import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

from reverie_client import Client, Hit, NotFoundError, Turn
from reverie_client.batches import turn_batches
from reverie_client.metadata import category_of, storable_metadata
from reverie_client.telling import told
from reverie_client.texts import storable_question

#: The session of events that come without one.
NO_SESSION = "google-adk"
#: Prefix of the id of a memory entry that is a turn and not a memory yet.
TURN = "turn:"


def subject_of_app(app_name: str, user_id: str) -> str:
    """Return the subject of a user of an app: ADK keeps the memories of two apps apart."""
    return f"{app_name}/{user_id}"


class ReverieMemoryService(BaseMemoryService):
    """A memory service whose memories are those of Reverie.

    Text of users and agents becomes turns, each event once, however often a session is added. A search returns memories
    and recent turns, best first. The client is the blocking one: ADK runs agents on more than one event loop.
    """

    def __init__(self, client: Client, *, top_k: int = 10, subject: Callable[[str, str], str] = subject_of_app) -> None:
        """Use this client. `subject` names the subject for an app and a user."""
        self._client, self._top_k, self._subject = client, top_k, subject

    async def add_session_to_memory(self, session: Session) -> None:
        """Append the events that memory does not have. Raises ReverieClientError."""
        await self._append(self._subject(session.app_name, session.user_id), session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Append these events; `custom_metadata` is stored with each turn.

        Values of `source` and `context_type` that Reverie does not know are stored as `custom_source` and
        `custom_context_type`.
        """
        await self._append(self._subject(app_name, user_id), session_id or NO_SESSION, events, custom_metadata)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Record each entry as an observation; the key `category` of its metadata names the category.

        Without one, or with one that Reverie does not know, the category is `fact`.
        """
        for entry in memories:
            if (text := storable_question(_text(entry.content))) is None:
                continue
            category, metadata = category_of({**(custom_metadata or {}), **entry.custom_metadata})
            await asyncio.to_thread(
                self._client.record_observation,
                self._subject(app_name, user_id),
                category,
                text,
                source_id=entry.id,
                metadata=storable_metadata(metadata),
                observed_at=_time(entry.timestamp),
            )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Recall what is relevant to the query, best first. Raises ReverieClientError."""
        if (question := storable_question(query)) is None:
            return SearchMemoryResponse()
        subject_id = self._subject(app_name, user_id)
        found = await asyncio.to_thread(self._client.recall, subject_id, question, top_k=self._top_k)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in found.hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory by the id of its entry; a turn is erased, which needs a key with the scope `admin`.

        An id that the user has no memory of deletes nothing, nor does a turn that the policy leaves out of exports.
        Raises ReverieClientError.
        """
        subject_id, known = self._subject(app_name, user_id), _uuid((memory_id or "").removeprefix(TURN))
        if not memory_id or known is None:
            return
        try:
            if memory_id.startswith(TURN):
                await asyncio.to_thread(self._erase_turn, subject_id, known)
            else:
                await asyncio.to_thread(self._client.correct_memory, known, "forget", subject_id=subject_id)
        except NotFoundError:
            return

    def _erase_turn(self, subject_id: str, turn_id: UUID) -> None:
        """Erase a turn if it is of this subject: an erasure names no subject, so the subject's log is searched."""
        log = self._client.export_subject(subject_id, part="log")
        rows = (json.loads(line) for line in log.split("\n") if str(turn_id) in line)
        if any(row.get("table") == "log.turns" and row["row"]["id"] == str(turn_id) for row in rows):
            self._client.erase("turn", turn_id=turn_id)

    async def _append(
        self,
        subject_id: str,
        session_id: str,
        events: Sequence[Event],
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        for batch in turn_batches(list(_turns(events, metadata))):
            await asyncio.to_thread(self._client.append_turns, subject_id, session_id, batch)


def _turns(events: Sequence[Event], metadata: Mapping[str, object] | None) -> Iterator[Turn]:
    """Turns of the events with text; parts of a stream are left out, as their whole follows."""
    for event in events:
        if event.partial or not (text := _text(event.content)):
            continue
        is_user = event.author == "user"
        yield Turn(
            source_id=event.id,
            role="user" if is_user else "assistant",
            text=text,
            speaker=None if is_user else event.author,
            said_at=datetime.fromtimestamp(event.timestamp, UTC),
            metadata=storable_metadata(metadata),
        )


def _text(content: types.Content | None) -> str:
    """The text of the parts, without the thoughts of a model."""
    parts = (content.parts if content else None) or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _entry(hit: Hit) -> MemoryEntry:
    return MemoryEntry(
        id=f"{TURN}{hit.id}" if hit.item == "turn" else str(hit.id),
        content=types.Content(role="user", parts=[types.Part(text=told(hit))]),
        timestamp=hit.happened_at.isoformat(),
        custom_metadata={"kind": hit.kind, "score": hit.score, "session_id": hit.session_id},
    )


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _time(text: str | None) -> datetime | None:
    """The time of an entry; one without a zone is taken as UTC."""
    if text is None:
        return None
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
