"""Read records with a list of chat messages in OpenAI's format: fine-tuning files and logs of chat completions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from reverie.capture.history.field_names import ALIASES, snake_case
from reverie.capture.history.records import BrokenItem, InputItem, Record, SkippedItem, mended_json
from reverie.capture.times import ISO_TIMES, NaiveTimeError, TimeForm, parse_event_time
from reverie.errors import InputError

#: Fields in which logs keep the request, with its list of messages.
_ENVELOPES = ("request", "body", "input", "inputs", "prompt")
#: Fields in which logs keep the reply.
_REPLIES = ("response", "output", "outputs")
_SESSION_ALIASES = (*ALIASES["session_id"], "trace_id", "request_id", "custom_id", "id")
_TIME_ALIASES = (*ALIASES["said_at"], "start_time")
#: Assumed intervals between records and between messages that have no times.
_RECORD_STEP = timedelta(minutes=1)
_MESSAGE_STEP = timedelta(seconds=1)


def message_list(item: Any) -> list[Any] | None:
    """Return the list of messages of a record or of the request in it; None if there is none."""
    if type(item) is not dict:
        return None
    for holder in (item, *(item.get(name) for name in _ENVELOPES)):
        messages = holder.get("messages") if type(holder) is dict else holder
        if type(messages) is list and messages and all(type(item) is dict and "role" in item for item in messages):
            return messages
    return None


class _LatestRecord(NamedTuple):
    """The messages of a session's latest record."""

    #: New messages of the session so far.
    known: int
    number: int
    #: Hash of the messages.
    digest: int
    #: The same without system messages, since a system prompt may change with each request.
    spoken: int
    spoken_digest: int


@dataclass(kw_only=True)
class MessageReader:
    """Reads the turns of records with message lists. Each file needs its own reader.

    A record may repeat the history of its session, as each request of a chat does. Only new messages become turns.
    """

    #: Name of the file, for sessions that have no id.
    name: str
    subject: str | None = None
    #: The time of the first record, for records without a time.
    start: datetime | None = None
    #: Reverie's field names, each with the name in the records.
    mapping: Mapping[str, str] = field(default_factory=dict)
    #: The form of the times in the records.
    times: TimeForm = ISO_TIMES
    #: The latest record of each session, by the hash of subject and session.
    _latest: dict[int, _LatestRecord] = field(default_factory=dict)
    _first: bool = True

    def read(self, items: Iterable[InputItem]) -> Iterator[InputItem]:
        """Yield the turns of each record.

        Raises InputError: the first record has no subject or no time, and the caller names none.
        """
        for item in items:
            if not isinstance(item, Record):
                yield item
            elif (messages := message_list(item.fields)) is None:
                yield BrokenItem(item.line, "no_messages", "The record has no list of messages.", item.payload())
            else:
                yield from self._turns(item, messages)

    def _turns(self, record: Record, messages: list[Any]) -> Iterator[InputItem]:
        context = _context(record.fields)
        subject = self.subject or self._field(context, "subject_id", ALIASES["subject_id"])
        session = self._field(context, "session_id", _SESSION_ALIASES) or f"{self.name}:{record.line}"
        said_at = self._field(context, "said_at", _TIME_ALIASES)
        if self._first:
            self._require(subject, said_at, messages)
            self._first = False
        messages = [*messages, *_replies(record.fields)]
        known, repeated = self._history(hash((str(subject), str(session))), messages)
        for position, message in enumerate(messages):
            if position < repeated:
                yield SkippedItem("history")
                continue
            text = _text(message.get("content"))
            if not (text.strip() or message.get("tool_calls")):
                yield SkippedItem("empty")
                continue
            source_id, is_numbered = self._source_id(message, known + position - repeated)
            message_time = self._field(message, "said_at", _TIME_ALIASES)
            fields = {
                "subject_id": subject,
                "session_id": session,
                "source_id": source_id,
                "role": message.get("role"),
                "speaker": message.get("name"),
                "said_at": message_time or self._time(said_at, record.line, position),
                "text": text,
                "tool_calls": _tool_calls(message.get("tool_calls")),
            }
            fields = {name: value for name, value in fields.items() if value is not None}
            place = f"message {position + 1}"
            yield Record(record.line, fields, size=len(text) + 200, place=place, numbered=is_numbered)

    def _require(self, subject: Any, said_at: Any, messages: list[Any]) -> None:
        if not subject:
            raise InputError(
                f"No field of {self.name} names the subject of the messages: name the subject with --subject NAME, "
                "or the field with --map subject_id=FIELD."
            )
        timed = all(self._field(message, "said_at", _TIME_ALIASES) for message in messages)
        if not (said_at or timed or self.start):
            raise InputError(
                f"No field of {self.name} says when the messages were written: set the time of the first record, such "
                "as --start 2026-01-01T00:00:00Z (each further record is then a minute later), or name the field with "
                "--map said_at=FIELD."
            )

    def _source_id(self, message: Mapping[str, Any], position: int) -> tuple[Any, bool]:
        """Return the id of a message, and whether it is only its position in the session.

        If the caller maps the id, a message without it gets the default id, made of content and time.
        """
        if theirs := self.mapping.get("source_id"):
            return message.get(theirs), False
        own = message.get("id")
        return own or f"m{position}", not own

    def _field(self, fields: Mapping[str, Any], ours: str, aliases: Iterable[str]) -> Any:
        if ours in self.mapping:
            return fields.get(self.mapping[ours])
        names = {snake_case(name): name for name in fields}
        values = (fields[names[alias]] for alias in (ours, *aliases) if alias in names)
        return next((value for value in values if type(value) in (str, int, float) and value != ""), None)

    def _time(self, said_at: Any, line: int, position: int) -> Any:
        """Space the messages of a record one second apart, since a request has one time for all its messages.

        The result does not depend on the zone of the import, so that its dead letters are found again with another. A
        time in another format stays as it is.
        """
        if said_at is None:
            if self.start is None:
                return None
            return (self.start + (line - 1) * _RECORD_STEP + position * _MESSAGE_STEP).isoformat()
        if self.times.format:
            return said_at
        try:
            try:
                at = parse_event_time(said_at, None)
            except NaiveTimeError:
                at = parse_event_time(said_at, UTC).replace(tzinfo=None)
            return (at + position * _MESSAGE_STEP).isoformat()
        except (ValueError, TypeError, OverflowError):
            return said_at  # impossible: the validation rejects it

    def _history(self, key: int, messages: list[Any]) -> tuple[int, int]:
        """Return how many messages of the session are known, and how many of this list repeat them."""
        spoken = [message for message in messages if not _is_system(message)]
        latest = self._latest.get(key, _LatestRecord(0, 0, _digest([]), 0, _digest([])))
        repeated = 0
        if _begins_with(messages, latest.number, latest.digest):
            repeated = latest.number
        elif latest.spoken and _begins_with(spoken, latest.spoken, latest.spoken_digest):
            places = [place for place, message in enumerate(messages) if not _is_system(message)]
            repeated = places[latest.spoken - 1] + 1
        known = latest.known + len(messages) - repeated
        self._latest[key] = _LatestRecord(known, len(messages), _digest(messages), len(spoken), _digest(spoken))
        return latest.known, repeated


def _context(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the fields of the record, its envelope, its reply and their metadata; the outermost takes precedence."""
    context: dict[str, Any] = {}
    for holder in (fields, *(fields.get(name) for name in (*_ENVELOPES, *_REPLIES))):
        if type(holder) is dict:
            for level in (holder, holder.get("metadata")):
                if type(level) is dict:
                    context = level | context
    return context


def _replies(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    for holder in (fields, *(fields.get(name) for name in _REPLIES)):
        if type(holder) is dict and type(holder.get("body")) is dict:
            holder = holder["body"]  # the batch API nests it
        choices = holder.get("choices") if type(holder) is dict else None
        if type(choices) is list and choices and type(choices[0]) is dict:
            message = choices[0].get("message")
            return [message] if type(message) is dict else []
    return []


def _text(content: Any) -> str:
    """Return the text of a message, or its text parts joined."""
    if type(content) is list:
        parts = [part if type(part) is str else part.get("text") for part in content if type(part) in (str, dict)]
        return "\n".join(part for part in parts if type(part) is str)
    return content if type(content) is str else ""


def _tool_calls(calls: Any) -> list[dict[str, Any]] | None:
    if type(calls) is not list or not calls:
        return None
    functions = [call.get("function", call) if type(call) is dict else {} for call in calls]
    return [{"name": function.get("name"), "arguments": function.get("arguments")} for function in functions]


def _is_system(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("system", "developer")


def _begins_with(messages: list[Any], number: int, digest: int) -> bool:
    return number <= len(messages) and _digest(messages[:number]) == digest


def _digest(messages: list[Any]) -> int:
    return hash(mended_json([[item.get("role"), item.get("content")] for item in messages]))
