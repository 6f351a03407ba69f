"""Stores live turns in the buffer, in one statement, and answers with the findings of the rules (spec A1-A6).

A turn is acknowledged once it is in `ops.pending_turns`: from there a flush moves it to the log
(`capture.live.flush`), whatever happens to this process. Models are asked before, without a connection, and only if
the caller passes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal
from uuid import UUID

import orjson
from psycopg.errors import UniqueViolation

from reverie.capture.append import REFUSED
from reverie.capture.history.importing import CLOCK_SKEW
from reverie.capture.identity import turn_hash
from reverie.capture.live.mood_model import MoodModel
from reverie.capture.live.moods import MessageMood, read_stored, tell_moods
from reverie.capture.live.nearness import Answers, Near, Nearness, ask_embedder
from reverie.capture.live.readings import BeginReading, apply_rules, is_long
from reverie.capture.redaction import redacted_turns
from reverie.capture.validation import Rejection, Validator
from reverie.errors import ConflictError, InferenceError, InputError
from reverie.inference import Embedder
from reverie.language.cues.crisis import Crisis, find_crisis
from reverie.language.cues.immediate import TurnCandidates
from reverie.language.cues.mood import Missed, Mood
from reverie.language.text import CountTokens
from reverie.model import Turn, require_aware
from reverie.policy import Policy
from reverie.store.locks import hold_tenant
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: Maximum number of turns in one request.
MOST_TURNS = 100
#: Attempts to store a request while others bring the same turns.
_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """The result for one turn."""

    #: Its id in the log, now or soon.
    turn_id: UUID
    source_id: str
    #: Event time: the caller's, or the time at which the turn first arrived.
    said_at: datetime
    #: `repeated`: sent before, and counted once; `refused`: it was erased, or its subject is not captured. Nothing of a
    #: refused turn is kept; `noticed.reason` has the reason.
    status: Literal["added", "repeated", "refused"]
    #: The findings of the rules, under the ids that extract writes.
    noticed: TurnCandidates
    #: By candidate: the memory that it repeats. Only the most recent memories are compared; merge decides.
    near: Mapping[UUID, Near]
    #: The mood of a user's message.
    mood: Mood | None
    #: Help for the author, if the words sound like a crisis.
    crisis: Crisis | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Acknowledged:
    """The answer to stored turns."""

    #: In the order in which they were sent, each once.
    turns: tuple[Heard, ...]
    #: The latest time at which the session's turns are in the log, unless more arrive; None: none of them is new.
    flush_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnBatch:
    """The turns of a session in one request."""

    #: The fields of turns as in `docs/importing.md`, without ids of tenant, subject and session. A turn without
    #: `said_at` was said when it arrived, and a repeat is recognized by the rest. A missing `source_id` is made of
    #: content and time, so a caller that may retry should set it.
    records: Sequence[Mapping[str, Any]]
    subject_id: str
    session_id: str
    #: The country and language of the helplines.
    country: str | None = None
    language: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnReaders:
    """Rules and models that read turns within a request."""

    #: Measures the chunks of long texts.
    count_tokens: CountTokens
    #: Applies the rules to long requests in another process.
    begin_reading: BeginReading | None = None
    #: An embedder on this machine. It classifies moods, detects hints of a crisis, finds repeated memories, and makes
    #: the turns searchable by their vectors at once if the policy says so.
    embedder: Embedder | None = None
    #: Asked about the latest message.
    mood_model: MoodModel | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Readings:
    """The findings of rules and models in the turns of a request, by turn."""

    noticed: Sequence[TurnCandidates]
    moods: Sequence[MessageMood | None]
    crises: Sequence[Crisis | None]
    near: Nearness


async def append_turns(
    session: TenantSession, batch: TurnBatch, *, policy: Policy, as_of: datetime, readers: TurnReaders
) -> Acknowledged:
    """Store one or many turns of a session, once each, all or none.

    They are checked by the rules of an import. If a model fails or is late, only its own answer is missing.

    Raises:
        InputError: none or too many turns, or an invalid one; names the turn and the field.
        ConflictError: a source_id is taken by other content; names it. Nothing was written.
    """
    as_of = require_aware(as_of)
    turns, timed = _read(batch, session.tenant_id, policy, as_of)
    if readers.mood_model and await _is_refused(session, batch, turns):
        readers = replace(readers, mood_model=None)  # it would see the text, and its reply would be kept
    read = await _read_within(session, turns, batch, policy, readers)
    numbers = policy.working_memory
    params = {
        "tenant": session.tenant_id,
        "subject": batch.subject_id,
        "session": batch.session_id,
        "as_of": as_of,
        "ttl": timedelta(hours=numbers.ttl_hours),
        "idle": timedelta(minutes=numbers.idle_minutes),
        "max_wait": timedelta(minutes=policy.queue.max_wait_minutes),
        "stated": [_stated(turn, seen) for turn, seen in zip(turns, read.noticed, strict=True)],
        "candidates": [read.near.stored(seen) for seen in read.noticed],
    } | _columns(turns, timed, read.moods, read.crises)
    compared = read.near.params(session.tenant_id, batch.subject_id, policy) if read.near.vectors else None
    repeated, rows = await _store(session, turns, params, compared)
    if compared and any(row[0] in REFUSED for row in rows):  # the request has just stored its vectors
        of_request = {"tenant": session.tenant_id, "hashes": compared["hashes"]}
        await session.run(Statement(queries("acknowledge")["forget_vectors"], of_request))
    # turns that were sent before: their ids depend on the time they had then
    before = [replace(turn, said_at=row[2]) for turn, row in zip(turns, rows, strict=True) if row[2] != turn.said_at]
    again = iter(await apply_rules(session, before, policy, readers.count_tokens, readers.begin_reading))
    near = read.near.read(repeated)
    heard = []
    for turn, seen, crisis, row in zip(turns, read.noticed, read.crises, rows, strict=True):
        if row[2] != turn.said_at:
            seen = next(again).noticed
        heard.append(_heard(turn, seen, crisis, row, near))
    return Acknowledged(turns=tuple(heard), flush_at=rows[0][4])


def _read(batch: TurnBatch, tenant_id: str, policy: Policy, as_of: datetime) -> tuple[list[Turn], list[bool]]:
    """Return the turns, once each, and for each whether the caller gave its time."""
    records, numbers = batch.records, policy.extract
    if not 0 < len(records) <= MOST_TURNS:
        raise InputError(f"Send 1 to {MOST_TURNS} turns per request, not {len(records):,}.")
    validator = Validator(tenant_id=tenant_id, not_after=as_of + CLOCK_SKEW, turn_characters=numbers.turn_characters)
    place = {"tenant_id": tenant_id, "subject_id": batch.subject_id, "session_id": batch.session_id, "type": "turn"}
    turns: dict[str, Turn] = {}
    timed: dict[str, bool] = {}
    for number, record in enumerate(records):
        given = record.get("said_at") not in (None, "")
        # a microsecond apart, so that event order is the order in which they were sent
        said_at = {} if given else {"said_at": as_of + timedelta(microseconds=number)}
        turn = validator({**record, **said_at, **place})
        if not isinstance(turn, Turn):
            detail = turn.detail if isinstance(turn, Rejection) else "it is an outcome; expected a turn."
            error = InputError(f"Turn {number + 1} of {len(records)}: {detail}")
            field = turn.field if isinstance(turn, Rejection) else None
            error.pointer = f"#/turns/{number}/{field}" if field in record else f"#/turns/{number}"
            raise error
        if policy.sensitivity.redact_secrets:
            ((turn,), _) = redacted_turns([turn])
        same = turns.setdefault(turn.source_id, turn)
        if same is not turn and turn_hash(replace(turn, said_at=same.said_at)) != turn_hash(same):
            raise ConflictError(f"source_id {turn.source_id!r} occurs twice in this request, with different content.")
        timed.setdefault(turn.source_id, given)
    return list(turns.values()), list(timed.values())


async def _read_within(
    session: TenantSession, turns: Sequence[Turn], batch: TurnBatch, policy: Policy, readers: TurnReaders
) -> _Readings:
    """Apply the rules and ask the models, without a connection."""
    readings = await apply_rules(session, turns, policy, readers.count_tokens, readers.begin_reading)
    noticed = [each.noticed for each in readings]
    answer, told = await _ask_models(session, turns, noticed, policy, readers)
    model = readers.embedder.model if readers.embedder else None
    tell = partial(
        tell_moods,
        turns,
        numbers=policy.mood,
        answers=told,
        vectors=answer.vectors,
        embedding_model=model,
        readings=readings,
    )
    # long texts in a thread: each pattern takes little time, and other requests are served in between
    moods: list[MessageMood | None] = await session.offload(tell) if is_long(turns) else tell()
    crises = [
        find_crisis(
            turn.text,
            crisis=policy.crisis,
            signs=readings[place].signs,
            vector=answer.vectors.get(place),
            embedding_model=model,
            country=batch.country,
            language=batch.language,
        )
        if turn.role == "user"
        else None
        for place, turn in enumerate(turns)
    ]
    return _Readings(noticed=noticed, moods=moods, crises=crises, near=answer.near)


async def _ask_models(
    session: TenantSession,
    turns: Sequence[Turn],
    noticed: Sequence[TurnCandidates],
    policy: Policy,
    readers: TurnReaders,
) -> tuple[Answers, dict[int, Mood | Missed]]:
    """Return the embedder's answers, and the language model's mood of the latest message, by its place."""
    said = [place for place, turn in enumerate(turns) if turn.role == "user" and turn.text]
    # both models at once: the time limit of one runs while the other works
    mood_model = readers.mood_model
    coming = mood_model.begin(turns[said[-1]], policy.mood) if mood_model and said else None
    answer = Answers()
    if asked := ask_embedder(turns, noticed, policy, readers.embedder):
        with suppress(InferenceError):
            answer = await session.offload(asked)
    told: dict[int, Mood | Missed] = {}
    if coming:
        try:
            told[said[-1]] = await coming.wait(session)
        except TimeoutError:
            told[said[-1]] = "late"
    return answer, told


async def _is_refused(session: TenantSession, batch: TurnBatch, turns: Sequence[Turn]) -> bool:
    """Return whether any of the turns will be refused."""
    params = {
        "tenant": session.tenant_id,
        "subject": batch.subject_id,
        "session": batch.session_id,
        "sources": [turn.source_id for turn in turns],
    }
    ((refused,),) = await session.run(Statement(queries("acknowledge")["refused"], params))
    return bool(refused)


async def _store(
    session: TenantSession, turns: Sequence[Turn], params: Mapping[str, Any], compared: Mapping[str, Any] | None
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Store the turns and compare their candidates in one round trip; return the rows of both statements."""
    acknowledge = Statement(queries("acknowledge")["acknowledge"], params)
    near = [Statement(queries("acknowledge")["near"], compared)] if compared else []
    for number in range(1, _TRIES + 1):
        try:
            _, *near_rows, rows = await session.run_all(hold_tenant(session.tenant_id), *near, acknowledge)
            break
        except UniqueViolation:  # another request stored one of the turns meanwhile: nothing of this one is stored
            if number == _TRIES:
                raise ConflictError("Other requests store the same turns; send this one again.") from None
    for turn, row in zip(turns, rows, strict=True):
        if row[0] == "conflict":
            raise ConflictError(
                f"source_id {turn.source_id!r} already belongs to a turn of this session with other content; "
                "the log is append-only."
            )
    return near_rows[0] if near_rows else (), rows


def _heard(
    turn: Turn, seen: TurnCandidates, crisis: Crisis | None, row: Sequence[Any], near: Mapping[UUID, Near]
) -> Heard:
    """Return the result for a turn from its row."""
    status, turn_id, said_at, mood, _ = row
    if status in REFUSED:
        seen, status = TurnCandidates(candidates=(), reason=status), "refused"
        crisis = crisis and replace(crisis, review=False)  # nothing is kept that a person could look at
    return Heard(
        turn_id=turn_id,
        source_id=turn.source_id,
        said_at=said_at,
        status=status,
        noticed=seen,
        near={each.id: near[each.id] for each in seen.candidates if each.id in near},
        mood=read_stored(mood),
        crisis=crisis,
    )


def _stated(turn: Turn, seen: TurnCandidates) -> str:
    """Return the preferences and instructions of a user's message as JSON; the session has them at once (Brain 5.1)."""
    held = seen.candidates if turn.role == "user" else ()
    return orjson.dumps([each.content for each in held if each.kind in ("preference", "instruction")]).decode()


def _columns(
    turns: Sequence[Turn], timed: Sequence[bool], moods: Sequence[MessageMood | None], crises: Sequence[Crisis | None]
) -> dict[str, list[Any]]:
    return {
        "ids": [turn.id for turn in turns],
        "sources": [turn.source_id for turn in turns],
        "indexes": [turn.turn_index for turn in turns],
        "roles": [turn.role for turn in turns],
        "speakers": [turn.speaker for turn in turns],
        "times": [turn.said_at for turn in turns],
        "timed": list(timed),
        "texts": [turn.text for turn in turns],
        "tool_calls": [orjson.dumps(turn.tool_calls).decode() if turn.tool_calls else None for turn in turns],
        "metadata": [orjson.dumps(turn.metadata).decode() if turn.metadata else None for turn in turns],
        "hashes": [turn_hash(turn) for turn in turns],
        "moods": [told.stored() if told else None for told in moods],
        "inherits": [told is not None and told.inherits for told in moods],
        "crises": [crisis is not None and crisis.review for crisis in crises],
    }
