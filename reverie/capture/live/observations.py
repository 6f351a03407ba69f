"""The event bus: records observations beside the turns as rows of the log (spec A7, A8, B4; Agent 1.2, 1.3, 5.4).

`extract` reads facts, preferences, documents and tool output. Scaffold updates and information about a connection wait
for the subject's profile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID

import orjson

from reverie.capture.append import REFUSED, Refusal
from reverie.capture.mending import is_sound, mend, mend_text
from reverie.capture.redaction import redacted_json
from reverie.errors import ConflictError, InputError
from reverie.language.sensitive.classes import without_secrets
from reverie.language.text import clean_text
from reverie.model import require_aware, stable_id
from reverie.policy import Policy
from reverie.store.queries import queries
from reverie.store.queue import Waiting, enqueue_statement
from reverie.store.session import Statement, TenantSession

Category = Literal["fact", "preference", "project_details", "correction"]
Channel = Literal["interactive", "autonomous", "tool", "attachment"]
Hint = Literal["fact", "preference", "instruction", "episode", "working"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
HINTS: tuple[Hint, ...] = get_args(Hint)

#: Limits: UTF-8 bytes of an event's content, events of one request, characters of an id.
MOST_BYTES = 1 << 20
MOST_EVENTS = 100
MOST_ID = 200
#: The session in the deferred tier's queue for events that belong to none.
NO_SESSION = "events"
_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class ObservationSource:
    """The origin of an observation."""

    tenant_id: str
    subject_id: str
    session_id: str | None = None
    #: The tool connection that it applies to; None: to the subject as such.
    connection_id: str | None = None
    #: The caller's id of the observation, or of a request with several. An id that is sent twice counts once.
    source_id: str | None = None
    #: Message, attachment or tool: stored with it; only the attributes are read.
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """The text of an attachment, or the output of a tool."""

    text: str
    channel: Literal["attachment", "tool"]
    #: The file or tool that the text comes from.
    name: str | None = None
    #: The kind of memory that it becomes; None: decided by the rules.
    hint: Hint | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """The result for one observation."""

    event_id: UUID
    #: Event time.
    observed_at: datetime
    #: `repeated`: sent before, and counted once; `refused`: nothing of it is kept.
    status: Literal["added", "repeated", "refused"]
    #: The reason if it was refused: capture_off or erased.
    reason: Refusal | None = None


@dataclass(frozen=True, slots=True)
class _Event:
    type: str
    content: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class _Events:
    """The events of one request, from one channel."""

    channel: Channel
    events: Sequence[_Event]
    hint: Hint | None = None


async def record_observation(
    session: TenantSession,
    source: ObservationSource,
    content: str,
    category: Category,
    *,
    policy: Policy,
    as_of: datetime,
    observed_at: datetime | None = None,
) -> Recorded:
    """Record what an agent noticed about the subject in a conversation (Agent 5.4)."""
    if category not in CATEGORIES:
        raise InputError(f"category is {category!r}; expected one of {', '.join(CATEGORIES)}.")
    events = [_Event(category, content)]
    recorded = await _record(session, source, _Events("interactive", events), policy, as_of, observed_at)
    return recorded[0]


async def update_user_context(
    session: TenantSession,
    source: ObservationSource,
    *,
    scaffold_updates: Mapping[str, Any] | None = None,
    persistent_info_additions: Sequence[str] = (),
    policy: Policy,
    as_of: datetime,
    observed_at: datetime | None = None,
) -> list[Recorded]:
    """Record what an autonomous agent learned: one event per scaffold entry and per fact, all or none (Agent 5.4)."""
    updates = [_Event("scaffold_update", _text(value), key) for key, value in (scaffold_updates or {}).items()]
    facts = [_Event("learned_fact", fact) for fact in persistent_info_additions]
    events = _Events("autonomous", [*updates, *facts])
    return await _record(session, source, events, policy, as_of, observed_at)


async def update_connection_context(
    session: TenantSession,
    source: ObservationSource,
    learned: Mapping[str, Any],
    *,
    policy: Policy,
    as_of: datetime,
    observed_at: datetime | None = None,
) -> list[Recorded]:
    """Record what was learned about one tool connection: an event for each key (Agent 1.2, 3.E)."""
    if not source.connection_id:
        raise InputError("connection_id is missing; expected the connection that the observation is about.")
    events = [_Event("connection_context", _text(value), key) for key, value in learned.items()]
    return await _record(session, source, _Events("interactive", events), policy, as_of, observed_at)


async def record_document(
    session: TenantSession,
    source: ObservationSource,
    document: Document,
    *,
    policy: Policy,
    as_of: datetime,
    observed_at: datetime | None = None,
) -> Recorded:
    """Record the text of an attachment or the output of a tool, cleaned (spec A8, Logic 1.2).

    `extract` splits it into chunks and assigns each to a kind, by hint or by rule.
    """
    if document.hint is not None and document.hint not in HINTS:
        raise InputError(f"hint is {document.hint!r}; expected one of {', '.join(HINTS)}.")
    type_ = "attachment" if document.channel == "attachment" else "tool_output"
    event = _Event(type_, clean_text(document.text), document.name)
    events = _Events(document.channel, [event], document.hint)
    recorded = await _record(session, source, events, policy, as_of, observed_at)
    return recorded[0]


async def _record(
    session: TenantSession,
    source: ObservationSource,
    events: _Events,
    policy: Policy,
    as_of: datetime,
    observed_at: datetime | None,
) -> list[Recorded]:
    as_of, at = require_aware(as_of), require_aware(observed_at or as_of, "observed_at")
    if at > as_of + timedelta(days=1) or at.year < 1970:
        raise InputError(f"observed_at is {at.isoformat()}; expected a time that is not in the future.")
    _check(source, events.events)
    if policy.sensitivity.redact_secrets:
        redacted = [replace(event, content=without_secrets(event.content)[0]) for event in events.events]
        events = replace(events, events=redacted)
        source = replace(source, metadata=source.metadata and redacted_json(dict(source.metadata)))
    params = _columns(source, events.events, at) | {
        "tenant": source.tenant_id,
        "subject": source.subject_id,
        "session": source.session_id,
        "channel": events.channel,
        "connection": source.connection_id,
        "hint": events.hint,
        "metadata": None if source.metadata is None else orjson.dumps(mend(dict(source.metadata))).decode(),
        "timed": observed_at is not None,
    }
    waiting = Waiting(subject_id=source.subject_id, session_id=source.session_id or NO_SESSION, turns=0, said_at=at)
    added = Statement(queries("observations")["add_events"], params)
    queued = enqueue_statement(source.tenant_id, [waiting], policy=policy, at=as_of)
    for _ in range(_TRIES):
        rows, _ = await session.run_all(added, queued)
        became = {row[0]: number for number, row in enumerate(rows)}
        if "conflict" in became or "raced" not in became:
            break
    if became.keys() & {"conflict", "raced"}:
        raise ConflictError(
            f"source_id {source.source_id!r} already belongs to an observation with other content; "
            "the log is append-only."
        )
    return [
        Recorded(
            status="refused" if status in REFUSED else status,
            reason=status if status in REFUSED else None,
            event_id=event_id,
            observed_at=at,
        )
        for status, event_id, at in rows
    ]


def _check(source: ObservationSource, events: Sequence[_Event]) -> None:
    ids = {name: getattr(source, name) for name in ("subject_id", "session_id", "connection_id", "source_id")}
    for name, value in ids.items():
        if value is None and name != "subject_id":
            continue
        if not value or value.isspace() or len(value) > MOST_ID or not is_sound(value, no_controls=True):
            raise InputError(f"{name} is not a text of 1 to {MOST_ID} characters without control characters.")
    if not 0 < len(events) <= MOST_EVENTS:
        raise InputError(f"Send 1 to {MOST_EVENTS} observations per request, not {len(events):,}.")
    for event in events:
        if event.key is not None and (not event.key.strip() or len(event.key) > MOST_ID):
            raise InputError(f"A key or name is not a text of 1 to {MOST_ID} characters.")
        if not event.content.strip():
            raise InputError(f"The content of a {event.type} is blank.")
        if len(event.content.encode(errors="replace")) > MOST_BYTES:
            raise InputError(f"The content of a {event.type} is too long; at most 1 MiB is kept.")


def _columns(source: ObservationSource, events: Sequence[_Event], at: datetime) -> dict[str, list[Any]]:
    whole = source.source_id
    hashes = [
        hashlib.sha256(
            orjson.dumps((event.type, source.connection_id, mend(event.key), mend_text(event.content)))
        ).digest()
        for event in events
    ]
    sources = [
        (whole if len(events) == 1 else f"{whole[: MOST_ID - 4]}/{number}")
        if whole
        else hashlib.sha256(digest + at.isoformat().encode()).hexdigest()[:32]
        for number, digest in enumerate(hashes)
    ]
    # a microsecond apart, so that event order is the order in which they were sent
    times = [at + timedelta(microseconds=number) for number in range(len(events))]
    return {
        "ids": [
            stable_id(time, "event", source.tenant_id, source.subject_id, of)
            for time, of in zip(times, sources, strict=True)
        ],
        "sources": sources,
        "types": [event.type for event in events],
        "keys": [mend(event.key) for event in events],
        "contents": [mend_text(event.content) for event in events],
        "times": times,
        "hashes": hashes,
    }


def _text(value: Any) -> str:
    """Return a value of a scaffold or a connection as text: a text as it is, others as JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(mend(value)).decode()
    except (TypeError, RecursionError) as error:
        raise InputError("A value is not JSON.") from error
