"""A conversation around calls of any OpenAI-compatible client: memory is added before a call, turns are stored after.

    with memory.session("ana", "s1") as session:
        reply = session.call(openai.chat.completions.create, model="…", messages=[{"role": "user", "content": "Hi"}])
        reply = session.call(openai.responses.create, model="…", input="Hi")

An error of memory never makes a call of the model fail: it is kept in `errors`, and the call continues without memory.
An error of another kind, such as that of a closed client, is the cause of the one that is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from reverie_client.batches import turn_batches
from reverie_client.chat.arguments import conversation_of, question_of, question_turn, with_list, with_memory
from reverie_client.chat.replies import Reply
from reverie_client.chat.streams import AsyncRecordedStream, RecordedStream
from reverie_client.errors import ReverieClientError, UnreachableError
from reverie_client.request import Request
from reverie_client.routes.contexts import Context, assemble_context
from reverie_client.routes.sessions import close_session
from reverie_client.routes.turns import Turns, append_turns
from reverie_client.texts import storable_question

if TYPE_CHECKING:
    from reverie_client.connection import AsyncConnection, Connection


class MemorySession:
    """One conversation of a subject; made by `Client.session`."""

    def __init__(self, client: Connection, subject_id: str, session_id: str, *, closes: bool = False) -> None:
        self._client, self._subject_id, self._session_id, self._closes = client, subject_id, session_id, closes
        #: Faults of memory, oldest first.
        self.errors: list[ReverieClientError] = []
        #: The context added to the last call; None if there was none.
        self.context: Context | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._closes:
            self._try(lambda: close_session(self._subject_id, self._session_id))

    def call(self, create: Callable[..., Any], **given: Any) -> Any:
        """Call `create` with memory, and store question and reply.

        `create` is `openai.chat.completions.create`, `openai.responses.create` or a function with the arguments of
        either. Returns its answer; with `stream=True` a stream of the same parts, which is stored when it ends.

        Raises:
            TypeError: the call has neither `messages` nor `input`.
        """
        given = with_list(given)
        asked = conversation_of(given)
        known = len(self.errors)
        self.context = self._try(lambda: _context(self._subject_id, asked))
        attempts = _attempts(self.errors[known:])
        answer = create(**with_memory(given, self.context.text if self.context else ""))
        if given.get("stream"):
            return RecordedStream(answer, lambda parts: self._store(given, parts, attempts))
        self._store(given, [answer], attempts)
        return answer

    def _store(self, given: Mapping[str, Any], parts: Sequence[Any], attempts: int | None) -> None:
        storing = _storing(self._subject_id, self._session_id, given, parts)
        while self._try(lambda: next(storing, None), attempts) is not None:
            pass

    def _try(self, make: Callable[[], Request[Any] | None], attempts: int | None = None) -> Any:
        """Make a request and send it, if there is one; return its answer, or None after an error."""
        try:
            request = make()
            return None if request is None else self._client.send(request, attempts=attempts)
        except Exception as error:
            self.errors.append(_fault(error))
            return None


class AsyncMemorySession:
    """`MemorySession` for asyncio; made by `AsyncClient.session`."""

    def __init__(self, client: AsyncConnection, subject_id: str, session_id: str, *, closes: bool = False) -> None:
        self._client, self._subject_id, self._session_id, self._closes = client, subject_id, session_id, closes
        #: Faults of memory, oldest first.
        self.errors: list[ReverieClientError] = []
        #: The context added to the last call; None if there was none.
        self.context: Context | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._closes:
            await self._try(lambda: close_session(self._subject_id, self._session_id))

    async def call(self, create: Callable[..., Awaitable[Any]], **given: Any) -> Any:
        """Call `create` with memory, and store question and reply; with `stream=True` when the stream ends.

        Raises:
            TypeError: the call has neither `messages` nor `input`.
        """
        given = with_list(given)
        asked = conversation_of(given)
        known = len(self.errors)
        self.context = await self._try(lambda: _context(self._subject_id, asked))
        attempts = _attempts(self.errors[known:])
        answer = await create(**with_memory(given, self.context.text if self.context else ""))
        if given.get("stream"):
            return AsyncRecordedStream(answer, lambda parts: self._store(given, parts, attempts))
        await self._store(given, [answer], attempts)
        return answer

    async def _store(self, given: Mapping[str, Any], parts: Sequence[Any], attempts: int | None) -> None:
        storing = _storing(self._subject_id, self._session_id, given, parts)
        while await self._try(lambda: next(storing, None), attempts) is not None:
            pass

    async def _try(self, make: Callable[[], Request[Any] | None], attempts: int | None = None) -> Any:
        """Make a request and send it, if there is one; return its answer, or None after an error."""
        try:
            request = make()
            return None if request is None else await self._client.send(request, attempts=attempts)
        except Exception as error:
            self.errors.append(_fault(error))
            return None


def _attempts(errors: Sequence[ReverieClientError]) -> int | None:
    """Return the attempts to store turns, by the errors of the context: one if the server did not answer.

    Each attempt at a server that hangs takes the whole timeout, and the person waits for it.
    """
    return 1 if any(isinstance(error, UnreachableError) for error in errors) else None


def _context(subject_id: str, asked: Sequence[Any]) -> Request[Context]:
    """Return the request for the context of a call, without the conversation, which the caller's messages contain."""
    question = question_of(asked)
    return assemble_context(subject_id, question=storable_question(question))


def _storing(
    subject_id: str, session_id: str, given: Mapping[str, Any], parts: Sequence[Any]
) -> Iterator[Request[Turns]]:
    """Yield the requests that store question and reply, if any; `parts`: one answer, or what came of a stream."""
    reply = Reply()
    for part in parts:
        reply.take(part)
    turns = [turn for turn in (question_turn(session_id, given), reply.turn()) if turn is not None]
    for batch in turn_batches(turns):
        yield append_turns(subject_id, session_id, batch)


def _fault(error: Exception) -> ReverieClientError:
    if isinstance(error, ReverieClientError):
        return error
    fault = ReverieClientError(f"Memory was not used: {type(error).__name__}: {error}")
    fault.__cause__ = error
    return fault
