"""Traces of LangSmith and Langfuse as records with lists of chat messages, which `messages` reads."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from reverie.capture.history.formats.shapes import ForeignItem
from reverie.capture.history.records import InputItem, Record, SkippedItem
from reverie.capture.times import parse_event_time

#: Fields in which a trace keeps its input and output, if it has no messages.
_INPUTS = ("input", "question", "query", "prompt", "text", "content")
_OUTPUTS = ("output", "answer", "response", "result", "text", "content")
_NAIVE = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?")
#: Roles by the types of LangChain's messages.
_TYPES = {"human": "user", "humanmessage": "user", "ai": "assistant", "aimessage": "assistant",
          "aimessagechunk": "assistant", "system": "system", "systemmessage": "system", "tool": "tool",
          "toolmessage": "tool", "chat": "user"}  # fmt: skip


def oldest_first(items: Iterable[InputItem]) -> Iterator[InputItem]:
    """Yield the records in the order of their times, those without one last, and other items before them.

    Both systems return the newest trace first, but a trace repeats the history of the earlier ones. The records wait in
    a temporary file, so that memory holds only their times and places.
    """
    places: list[tuple[float, int, int]] = []  # time, offset and line
    with tempfile.TemporaryFile() as waiting:
        for item in items:
            if not isinstance(item, Record):
                yield item
                continue
            places.append((_timestamp(item.fields.get("said_at")), waiting.tell(), item.line))
            waiting.write(json.dumps(item.fields, default=str).encode() + b"\n")
        for _, offset, line in sorted(places):
            waiting.seek(offset)
            yield Record(line, json.loads(waiting.readline()))


def _timestamp(said_at: Any) -> float:
    """Return a record's time in seconds; records without a valid one come last, in the order of the file."""
    try:
        return parse_event_time(said_at, UTC).timestamp()
    except (ValueError, TypeError):
        return float("inf")


def read_langsmith(item: ForeignItem) -> dict[str, Any] | SkippedItem:
    """Return a root run as a record of messages: its thread is the session (`session_id`, `thread_id` or
    `conversation_id` of its metadata), and `user_id` of its metadata the subject. Child runs are skipped.
    """
    run = item.fields
    if run.get("parent_run_id") or _parsed(run.get("parent_run_ids")):
        return SkippedItem("child_run")
    about = _object(_object(run.get("extra")).get("metadata")) | _object(run.get("metadata"))
    session = next((about[name] for name in ("session_id", "thread_id", "conversation_id") if about.get(name)), None)
    return _record(
        _exchange(_parsed(run.get("inputs")), _parsed(run.get("outputs"))),
        subject_id=about.get("user_id") or about.get("userId"),
        session_id=session or run.get("trace_id") or run.get("id"),
        said_at=_utc(run.get("start_time")),
    )


def read_langfuse(item: ForeignItem) -> dict[str, Any] | SkippedItem:
    """Return a trace or an observation without a parent as a record of messages; `userId` is its subject."""
    trace = item.fields
    if item.first("parentObservationId", "parent_observation_id"):
        return SkippedItem("child_observation")
    return _record(
        _exchange(_parsed(trace.get("input")), _parsed(trace.get("output"))),
        subject_id=item.first("userId", "user_id"),
        session_id=item.first("sessionId", "session_id", "traceId", "trace_id", "id"),
        said_at=_utc(item.first("timestamp", "startTime", "start_time")),
    )


def _record(messages: list[dict[str, Any]], **fields: Any) -> dict[str, Any] | SkippedItem:
    if not messages:
        return SkippedItem("no_messages")
    return {name: str(value) for name, value in fields.items() if value is not None} | {"messages": messages}


def _exchange(inputs: Any, outputs: Any) -> list[dict[str, Any]]:
    """Return the input and output messages. The output may begin with the input, as a state of a graph does."""
    before, after = _messages(inputs, _INPUTS, "user"), _messages(outputs, _OUTPUTS, "assistant")
    texts = [(each["role"], each["content"]) for each in after]
    repeated = [(each["role"], each["content"]) for each in before] == texts[: len(before)]
    return after if repeated else before + after


def _messages(value: Any, names: tuple[str, ...], role: str) -> list[dict[str, Any]]:
    if type(value) is str:
        return [{"role": role, "content": value}] if value.strip() else []
    if type(value) is list:
        if len(value) == 1 and type(value[0]) is list and type(next(iter(value[0]), "")) is not str:  # a batch of one
            value = value[0]
        return [message for each in value if (message := _message(each, role)) is not None]
    if type(value) is not dict:
        return []
    if type(value.get("messages")) is list:
        return _messages(value["messages"], names, role)
    for name in ("choices", "generations"):
        if type(value.get(name)) is list and value[name]:
            chosen = value[name][0]
            chosen = chosen[0] if type(chosen) is list and chosen else chosen
            return _messages([chosen.get("message") or chosen] if type(chosen) is dict else [], names, role)
    if "role" in value or "kwargs" in value:
        return _messages([value], names, role)
    return next((found for name in names if (found := _messages(_parsed(value.get(name)), names, role))), [])


def _message(value: Any, role: str) -> dict[str, Any] | None:
    """Convert a message of OpenAI, of LangChain (`type`, or serialized with `kwargs`), or a pair of role and text."""
    if type(value) is list and len(value) == 2 and all(type(each) is str for each in value):
        return {"role": _TYPES.get(value[0].lower(), value[0]), "content": value[1]}
    if type(value) is not dict:
        return None
    name = value.get("id")
    kind = name[-1] if type(name) is list and name else None
    inner = value.get("kwargs") or value.get("data") or value
    if type(inner) is not dict:
        return None
    named = (
        value.get("role")
        or inner.get("role")
        or _TYPES.get(str(kind or value.get("type") or inner.get("type")).lower())
    )
    content = inner.get("content", inner.get("text"))
    message = {"role": named or role, "content": content, "name": inner.get("name")}
    if type(inner.get("id")) is str:
        message["id"] = inner["id"]
    if calls := inner.get("tool_calls"):
        message["tool_calls"] = [
            {"name": call.get("name"), "arguments": call.get("args")} if "args" in call else call
            for call in calls
            if type(call) is dict
        ]
    return {name: each for name, each in message.items() if each is not None} | {"content": content or ""}


def _parsed(value: Any) -> Any:
    """Return the value of a JSON text, as exported tables have it; other values as they are."""
    if value == "null":
        return None
    if type(value) is str and value[:1] in ("{", "[", '"'):
        try:
            return orjson.loads(value)
        except ValueError:
            return value
    return dict(value) if isinstance(value, Mapping) else value


def _object(value: Any) -> dict[str, Any]:
    """Return an object, or the one of a JSON text; for other values an empty one."""
    parsed = _parsed(value)
    return parsed if type(parsed) is dict else {}


def _utc(value: Any) -> Any:
    """Return a time, in UTC if it has no offset, as both systems write it."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return f"{value}+00:00" if type(value) is str and _NAIVE.fullmatch(value) else value
