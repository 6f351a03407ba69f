"""Records that hold a list of chat messages: fine-tuning files and logs of chat completions, in OpenAI's form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from reverie.capture.history.field_names import ALIASES, normal
from reverie.capture.history.records import Broken, Entry, Record, Skipped
from reverie.capture.times import parse_time
from reverie.errors import InputError

#: Where a log keeps the request's list, and the fields about it.
_ENVELOPES = ("request", "body", "input", "inputs", "prompt")
#: Where it keeps the reply.
_REPLIES = ("response", "output", "outputs")
_SESSION_ALIASES = (*ALIASES["session_id"], "trace_id", "request_id", "custom_id", "id")
_TIME_ALIASES = (*ALIASES["said_at"], "start_time")
#: Without times: from one record to the next, and from one message to the next.
_RECORD_STEP = timedelta(minutes=1)
_MESSAGE_STEP = timedelta(seconds=1)


def message_list(item: Any) -> list[Any] | None:
    """Return the list of messages of a record, wherever a log keeps it; None where there is none."""
    if type(item) is not dict:
        return None
    for holder in (item, *(item.get(name) for name in _ENVELOPES)):
        found = holder.get("messages") if type(holder) is dict else holder
        if type(found) is list and found and all(type(each) is dict and "role" in each for each in found):
            return found
    return None


class _Known(NamedTuple):
    """The messages of a session's latest record."""

    #: Messages of earlier records that are not in this one.
    before: int
    number: int
    #: Hash of the messages.
    digest: int


@dataclass(kw_only=True)
class MessageReader:
    """Turns of records with message lists, one reader a file.

    A session that comes again with its history, as each request of a chat does, gives its new messages alone.
    """

    #: Name of the file, for sessions that have no id.
    name: str
    subject: str | None = None
    #: When the first record was said, for records without a time.
    start: datetime | None = None
    #: Our field names to theirs, as the caller gave them.
    mapping: Mapping[str, str] = field(default_factory=dict)
    #: By hash of a session, what its latest record held.
    _known: dict[int, _Known] = field(default_factory=dict)
    _first: bool = True

    def read(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the turns of each record.

        Raises InputError: the first record has no subject or no time, and none is given.
        """
        for entry in entries:
            if not isinstance(entry, Record):
                yield entry
            elif (messages := message_list(entry.fields)) is None:
                yield Broken(entry.line, "no_messages", "The record has no list of messages.", entry.payload())
            else:
                yield from self._turns(entry, messages)

    def _turns(self, entry: Record, messages: list[Any]) -> Iterator[Entry]:
        about = _about(entry.fields)
        subject = self.subject or self._field(about, "subject_id", ALIASES["subject_id"])
        session = self._field(about, "session_id", _SESSION_ALIASES) or f"{self.name}:{entry.line}"
        said_at = self._field(about, "said_at", _TIME_ALIASES)
        if self._first:
            self._require(subject, said_at, messages)
            self._first = False
        messages = [*messages, *_replies(entry.fields)]
        before, repeated = self._history(session, messages)
        for place, message in enumerate(messages):
            if place < repeated:
                yield Skipped("history")
                continue
            text = _text(message.get("content"))
            if not (text.strip() or message.get("tool_calls")):
                yield Skipped("empty")
                continue
            own = self._field(message, "said_at", _TIME_ALIASES)
            fields = {
                "subject_id": subject,
                "session_id": session,
                "source_id": message.get("id") or f"m{before + place}",
                "role": message.get("role"),
                "speaker": message.get("name"),
                "said_at": own or self._time(said_at, entry.line, place),
                "text": text,
                "tool_calls": _tool_calls(message.get("tool_calls")),
            }
            fields = {name: value for name, value in fields.items() if value is not None}
            yield Record(entry.line, fields, size=len(text) + 200, place=f"message {place + 1}")

    def _require(self, subject: Any, said_at: Any, messages: list[Any]) -> None:
        if not subject:
            raise InputError(
                f"No field of {self.name} says whose the messages are: name the person with --subject NAME, "
                "or the field with --map subject_id=FIELD."
            )
        timed = all(self._field(message, "said_at", _TIME_ALIASES) for message in messages)
        if not (said_at or timed or self.start):
            raise InputError(
                f"No field of {self.name} says when the messages were written: give a first time, such as "
                "--start 2026-01-01T00:00:00Z (record n is then n - 1 minutes later), or name the field with "
                "--map said_at=FIELD."
            )

    def _field(self, about: Mapping[str, Any], ours: str, aliases: Iterable[str]) -> Any:
        if ours in self.mapping:
            return about.get(self.mapping[ours])
        names = {normal(name): name for name in about}
        found = (about[names[alias]] for alias in (ours, *aliases) if alias in names)
        return next((value for value in found if type(value) in (str, int, float) and value != ""), None)

    def _time(self, said_at: Any, line: int, place: int) -> Any:
        """A second a message after the record's time, as a request's messages have one time together."""
        if said_at is None:
            if self.start is None:
                return None
            return (self.start + (line - 1) * _RECORD_STEP + place * _MESSAGE_STEP).isoformat()
        try:
            at = parse_time(said_at, None)
        except (ValueError, TypeError):
            return said_at  # naive or impossible: the validation says so
        return (at.astimezone(UTC) + place * _MESSAGE_STEP).isoformat()

    def _history(self, session: Any, messages: list[Any]) -> tuple[int, int]:
        """Return how many messages of the session came before this list, and how many of the list are repeated."""
        key = hash(session)
        before, number, digest = self._known.get(key, _Known(0, 0, _digest([])))
        is_history = number <= len(messages) and _digest(messages[:number]) == digest
        if not is_history:
            before, number = before + number, 0
        self._known[key] = _Known(before, len(messages), _digest(messages))
        return before, number


def _about(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields about the messages: of the record, its envelope, its reply and their metadata; the outermost wins."""
    found: dict[str, Any] = {}
    for holder in (fields, *(fields.get(name) for name in (*_ENVELOPES, *_REPLIES))):
        if type(holder) is dict:
            for each in (holder, holder.get("metadata")):
                if type(each) is dict:
                    found = each | found
    return found


def _replies(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    for holder in (fields, *(fields.get(name) for name in _REPLIES)):
        if type(holder) is dict and type(holder.get("body")) is dict:
            holder = holder["body"]  # as the batch API has it
        choices = holder.get("choices") if type(holder) is dict else None
        if type(choices) is list and choices and type(choices[0]) is dict:
            message = choices[0].get("message")
            return [message] if type(message) is dict else []
    return []


def _text(content: Any) -> str:
    """The text of a message: as it is, or its parts that are text."""
    if type(content) is list:
        parts = [part if type(part) is str else part.get("text") for part in content if type(part) in (str, dict)]
        return "\n".join(part for part in parts if type(part) is str)
    return content if type(content) is str else ""


def _tool_calls(calls: Any) -> list[dict[str, Any]] | None:
    if type(calls) is not list or not calls:
        return None
    functions = [call.get("function", call) if type(call) is dict else {} for call in calls]
    return [{"name": each.get("name"), "arguments": each.get("arguments")} for each in functions]


def _digest(messages: list[Any]) -> int:
    return hash(orjson.dumps([(each.get("role"), each.get("content")) for each in messages], default=str))
