"""A small client of the API for applications: `pip install reverie[api]`.

    with Client("http://127.0.0.1:8080", key) as memory:
        memory.append("ana", "s1", [Turn(role="user", text="I have a golden retriever named Bruno.")])
        print(memory.context("ana", session_id="s1", question="What shall we do today?").text)

It knows nothing of the engine. A request that was turned away for the moment (429, 503, no connection) is tried again;
that is safe, since whatever is appended carries an id of its own and counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self, TypeVar
from uuid import UUID, uuid4

import httpx
from pydantic import BaseModel, ConfigDict
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

Model = TypeVar("Model", bound="_Answer")

_PAGE = 200


class ApiError(Exception):
    """The API said no."""

    def __init__(self, status: int, detail: str, errors: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        #: One sentence.
        self.detail = detail
        #: What is wrong with which field: `pointer` and `detail` each.
        self.errors = list(errors)
        #: Seconds after which it may be tried again, where the API says so.
        self.retry_after: float | None = None


class _Answer(BaseModel):
    """What the API answers; fields that this client does not know are kept as they came."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Turn(BaseModel):
    """One thing said; `source_id` is the application's own id of it, and is made up where there is none."""

    role: Literal["user", "assistant", "system", "tool"]
    text: str = ""
    source_id: str | None = None
    speaker: str | None = None
    said_at: datetime | None = None
    tool_calls: list[dict[str, Any]] = []
    metadata: dict[str, Any] | None = None


class Candidate(_Answer):
    """Something that a turn gives for memory."""

    id: UUID
    kind: str
    content: str
    importance: float
    entities: list[str]


class Mood(_Answer):
    """How who wrote a message feels."""

    mood: str
    energy: str
    style: str


class Crisis(_Answer):
    """That a message sounds like a crisis, and help for who wrote it."""

    message: str
    helplines: list[dict[str, Any]]
    review: bool


class Heard(_Answer):
    """What became of one turn."""

    turn_id: UUID
    source_id: str
    status: str
    extracted: list[Candidate]
    mood: Mood | None
    crisis: Crisis | None


class Hit(_Answer):
    """One thing remembered."""

    id: UUID
    kind: str
    content: str
    happened_at: datetime
    score: float
    signals: dict[str, dict[str, float]] | None = None


class Recall(_Answer):
    """The hits, best first, and what was missing."""

    id: UUID
    hits: list[Hit]
    total_tokens: int
    notes: list[str]


class Context(_Answer):
    """What a model is told, with its budget table."""

    id: UUID
    text: str
    budget: list[dict[str, Any]]
    total_tokens: int
    token_budget: int
    notes: list[str]


class Memory(_Answer):
    """A memory as it is listed."""

    id: UUID
    kind: str
    state: str
    content: str
    importance: float
    happened_at: datetime
    entities: list[str]


class Session(_Answer):
    """What is held of a session while it goes on."""

    turns: list[dict[str, Any]]
    mood: dict[str, Any] | None
    preferences: list[str]
    confirmations: list[dict[str, Any]]
    tool_results: list[dict[str, Any]]


class Client:
    """A connection to the API with one key. Close it, or use it as a context manager; threads may share it."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 10.0,
        attempts: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`timeout`: seconds an answer may take; `attempts`: how often a request is sent before it has failed."""
        headers = {"Authorization": f"Bearer {key}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, transport=transport)
        self._attempts = attempts

    def append(self, subject_id: str, session_id: str, turns: Sequence[Turn], **given: Any) -> list[Heard]:
        """Take in turns of a session, all or none; `given` goes along: embed, country, language."""
        said = [turn.model_dump(mode="json", exclude_none=True) | {"source_id": _named(turn)} for turn in turns]
        body = {"subject_id": subject_id, "session_id": session_id, "turns": said} | given
        return [Heard.model_validate(each) for each in self._ask("POST", "turns", json=body)["turns"]]

    def close_session(self, subject_id: str, session_id: str) -> int:
        """End a session; returns how many of its turns are on their way to the log."""
        body = {"subject_id": subject_id, "session_id": session_id}
        return int(self._ask("POST", "sessions/close", json=body)["waiting"])

    def working_memory(self, subject_id: str, session_id: str) -> Session:
        """Return what is held of a session. Raises ApiError 404: nothing."""
        asked = {"subject_id": subject_id, "session_id": session_id}
        return Session.model_validate(self._ask("GET", "working_memory", params=asked))

    def hold(self, subject_id: str, session_id: str, **lists: Sequence[Any]) -> Session:
        """Hold preferences, confirmations or tool_results in place of those before."""
        body = {"subject_id": subject_id, "session_id": session_id} | {name: list(each) for name, each in lists.items()}
        return Session.model_validate(self._ask("PATCH", "working_memory", json=body))

    def observe(self, subject_id: str, content: str, *, category: str = "fact", **given: Any) -> UUID:
        """Record what was noticed; returns the event's id. `given`: session_id, connection_id, metadata, ..."""
        body = {"subject_id": subject_id, "content": content, "category": category, "source_id": uuid4().hex} | given
        return UUID(self._ask("POST", "observations", json=body)["events"][0]["event_id"])

    def record_outcome(
        self,
        subject_id: str,
        session_id: str,
        source_id: str,
        *,
        metric: str,
        value: float,
        positive: bool,
        **given: Any,
    ) -> None:
        """Record what came of the decision made in a turn; `given`: observed_at."""
        outcome = {"subject_id": subject_id, "session_id": session_id, "source_id": source_id, "metric": metric}
        self._ask("POST", "outcomes", json={"outcomes": [outcome | {"value": value, "positive": positive} | given]})

    def correct(self, memory_id: UUID, *, content: str | None = None) -> None:
        """Say that a memory is wrong, and with `content` what is right."""
        body = {"memory_id": str(memory_id), "kind": "wrong" if content is None else "replace"}
        self._ask("POST", "corrections", json=body if content is None else body | {"content": content})

    def recall(self, subject_id: str, question: str, **given: Any) -> Recall:
        """Ask memory; `given`: top_k, token_budget, kinds, as_of, embed, why, include_compressed."""
        body = {"subject_id": subject_id, "question": question} | given
        return Recall.model_validate(self._ask("POST", "recalls", json=body))

    def context(self, subject_id: str, **given: Any) -> Context:
        """Assemble what a model is told; `given`: question, session_id, system, history, model, ..."""
        return Context.model_validate(self._ask("POST", "contexts", json={"subject_id": subject_id} | given))

    def memories(self, subject_id: str, **filters: Any) -> Iterator[Memory]:
        """Yield memories, latest first, page by page; `filters`: kinds, states, since, until, session_id, entity."""
        asked: dict[str, Any] = {"subject_id": subject_id, "limit": _PAGE} | filters
        while True:
            found = self._ask("GET", "memories", params=asked)
            yield from (Memory.model_validate(each) for each in found["memories"])
            if found["next_cursor"] is None:
                return
            asked["cursor"] = found["next_cursor"]

    def explain(self, memory_id: UUID) -> dict[str, Any]:
        """Return all there is to say about a memory: turns, lineage, run, outcomes, entities."""
        return self._ask("GET", f"memories/{memory_id}")

    def profile(self, subject_id: str) -> dict[str, Any]:
        """Return a subject in short: facts by key, what happened lately, the relationship."""
        return self._ask("GET", "profile", params={"subject_id": subject_id})

    def close(self) -> None:
        """Give the connection back."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        if "json" in sent:
            sent["json"] = _plain(sent["json"])
        retrying = Retrying(
            stop=stop_after_attempt(self._attempts), wait=_wait, retry=retry_if_exception(_passing), reraise=True
        )
        answer: dict[str, Any] = retrying(self._once, method, f"/v1/{path}", sent)
        return answer

    def _once(self, method: str, path: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        response = self._http.request(method, path, **sent)
        if response.is_success:
            answer: dict[str, Any] = response.json()
            return answer
        is_problem = response.headers.get("content-type", "").startswith("application/problem+json")
        told: dict[str, Any] = response.json() if is_problem else {"detail": response.reason_phrase}
        error = ApiError(response.status_code, told["detail"], told.get("errors", ()))
        after = response.headers.get("retry-after", "")
        error.retry_after = float(after) if after.isdigit() else None
        raise error


def _named(turn: Turn) -> str:
    return turn.source_id or uuid4().hex


def _plain(value: Any) -> Any:
    """What httpx's JSON lacks: times and ids as text."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _passing(error: BaseException) -> bool:
    return isinstance(error, httpx.TransportError) or (isinstance(error, ApiError) and error.status in (429, 503))


def _wait(state: RetryCallState) -> float:
    """Seconds: what the API asked for, else 0.1, 0.2, 0.4, ..."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, ApiError) else None
    return min(asked, 30.0) if asked is not None else 0.05 * 2.0**state.attempt_number
