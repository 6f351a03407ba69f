"""Memories of mem0, OpenMemory, Zep, Graphiti and Letta: those without turns become statements, not invented turns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson

from reverie.capture.history.formats.shapes import ForeignItem
from reverie.capture.history.records import SkippedItem
from reverie.capture.history.values import known_role

Converted = dict[str, Any] | SkippedItem

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
#: The beginning of a line of a Graphiti episode of the source `message`: speaker and role.
_SPEAKER = re.compile(r"^([^:\n(]{1,80}?)[ \t]*(?:\((\w+)\))?:\s", re.MULTILINE)


def statement(
    item: ForeignItem, format: str, text: Any, at: Any, *, left_out: tuple[str, ...] = (), **more: Any
) -> dict[str, Any]:
    """Return a record of a statement; every field of the item but the text is kept in its metadata."""
    rest = {name: value for name, value in item.fields.items() if name not in left_out and value is not None}
    fields = {
        "type": "statement",
        "source_id": item.first("id", "uuid"),
        "text": text,
        "observed_at": at,
        "metadata": {"format": format, "fields": rest},
    }
    return {name: value for name, value in (fields | more).items() if value is not None}


def read_mem0(item: ForeignItem, subject: str | None, start: datetime | None) -> Iterator[Converted]:
    """Yield a memory of mem0, as `get_all` and its export job give it.

    The time is that of the last change. The session is the memory's run. The subject is its user, or else its agent or
    app. A category that names preferences makes it a preference.
    """
    categories = item.first("categories")
    prefers = type(categories) is list and any("preference" in str(category) for category in categories)
    yield statement(
        item,
        "mem0",
        item.fields.get("memory"),
        item.first("updated_at", "created_at") or _start(start),
        left_out=("memory", "score"),
        subject_id=subject or item.first("user_id", "agent_id", "app_id"),
        session_id=item.first("run_id"),
        kind="preference" if prefers else "fact",
        ends_at=_moment(item.fields.get("expiration_date")),
    )


def read_openmemory(item: ForeignItem, subject: str | None, start: datetime | None) -> Iterator[Converted]:
    """Yield a memory of OpenMemory's backup (memories.json, memories.jsonl.gz) or of its API.

    A deleted memory is skipped. An archived one ended when it was archived.
    """
    owner = item.page.get("user")
    if item.fields.get("state") == "deleted" or item.fields.get("deleted_at"):
        yield SkippedItem("deleted")
        return
    yield statement(
        item,
        "openmemory",
        item.fields.get("content"),
        item.first("updated_at", "created_at") or _start(start),
        left_out=("content",),
        subject_id=subject or (owner.get("user_id") if type(owner) is dict else None),
        ends_at=item.fields.get("archived_at"),
    )


def read_temporal_graph(item: ForeignItem, subject: str | None, start: datetime | None) -> Iterator[Converted]:
    """Yield an item of Zep or Graphiti: an edge of the graph as a statement, a message as a turn, a text as a document.

    An edge holds from `valid_at`, or from its creation, until `invalid_at`. Nodes are skipped: their summaries are made
    of the same episodes as the edges.
    """
    fields = item.fields
    subject = subject or item.first("user_id", "group_id", "graph_id", "user_uuid", "graph_uuid")
    created = item.first("valid_at", "reference_time", "created_at") or _start(start)
    if "fact" in fields:
        yield statement(
            item,
            "graph",
            fields["fact"],
            created,
            left_out=("fact", "fact_embedding"),
            subject_id=subject,
            ends_at=fields.get("invalid_at") or fields.get("expired_at"),
        )
    elif "content" not in fields:
        yield SkippedItem("node")
    elif fields.get("role") or fields.get("role_type") or fields.get("source") == "message":
        yield from _said(item, subject, created)
    else:
        yield statement(
            item, "graph", fields["content"], created, left_out=("content",), subject_id=subject, kind="document"
        )  # fmt: skip


def _said(item: ForeignItem, subject: Any, said_at: Any) -> Iterator[dict[str, Any]]:
    """Yield the turns of a message: one if it is of a thread, which names role and speaker.

    A Graphiti episode has a turn for each line that begins with them.
    """
    role, speaker, text = item.fields.get("role_type"), item.fields.get("name"), item.fields.get("content")
    spoken: list[tuple[Any, Any, Any]] = [(speaker, role, text)]
    if (given := item.fields.get("role")) is not None:
        spoken = [(speaker or given, role, text) if role else (speaker, given, text)]
    elif role is None and type(text) is str:
        spoken = _spoken(text)
    source_id = item.first("uuid", "id")
    for number, (speaker, role, text) in enumerate(spoken, start=1):
        fields = {
            "subject_id": subject,
            "session_id": item.first("thread_id", "session_id", "thread_uuid", "group_id", "graph_id") or subject,
            "source_id": source_id if number == 1 or not source_id else f"{source_id}/{number}",
            "role": role,
            "speaker": speaker,
            "said_at": said_at,
            "text": text,
            "metadata": item.fields.get("metadata"),
        }
        yield {name: value for name, value in fields.items() if value is not None}


def _spoken(text: str) -> list[tuple[str | None, str, str]]:
    """Return the turns of an episode: speaker, role and text. The name of an episode is not its speaker."""
    lines = list(_SPEAKER.finditer(text))
    if not lines or lines[0].start():
        return [(None, "user", text)]
    names = _speaker_names(lines)
    begins = [line for line in lines if line[1] in names or _has_role(line)]
    ends = [len(text[: line.start()].rstrip()) for line in begins[1:]] + [len(text)]
    roles = [role if known_role(role := line[2] or line[1]) else "user" for line in begins]
    return [(line[1], role, text[line.end() : end]) for line, role, end in zip(begins, roles, ends, strict=True)]


def _speaker_names(lines: list[re.Match[str]]) -> set[str]:
    """Return the names that begin a turn, without a role; a line that begins otherwise goes on with the one before.

    The first is a speaker. If it is only a name, so are names that recur, or the only other one: up to three words,
    none in lower case, with a text in the same line. Several that occur once may be the keys of a list.
    """
    first = lines[0]
    if _has_role(first):
        return {first[1]}
    times = Counter(line[1] for line in lines[1:] if _is_name(line) or _has_role(line))
    del times[first[1]]
    return {first[1]} | {name for name, number in times.items() if number > 1 or len(times) == 1}


def _is_name(line: re.Match[str]) -> bool:
    words = line[1].split()
    return 0 < len(words) <= 3 and not any(word[0].islower() for word in words) and line[0].endswith(" ")


def _has_role(line: re.Match[str]) -> bool:
    """Return whether a line begins with a role, or with a name and a role in parentheses."""
    return known_role(line[2] or line[1]) is not None


def read_letta(item: ForeignItem, subject: str | None, start: datetime | None) -> Iterator[Converted]:
    """Yield the messages of an agent file as turns, and each line of its memory blocks and each passage as statements.

    The subject is the agent, if the caller names none. A block without a time gets that of the agent's last message,
    or `start`.
    """
    fields = item.fields
    if item.of == "blocks":
        return  # read with the agent that has them
    if "messages" in fields:
        yield from _agent(item, subject, start)
    elif "text" in fields:
        yield statement(
            item,
            "letta",
            fields["text"],
            item.first("created_at", "updated_at") or _start(start),
            left_out=("text", "embedding"),
            subject_id=subject or item.first("agent_id", "archive_id", "user_id"),
        )
    else:
        yield SkippedItem("no_memory")


def _agent(item: ForeignItem, subject: str | None, start: datetime | None) -> Iterator[Converted]:
    agent = item.fields
    ours = (agent.get("metadata") or {}).get("reverie") or {}
    owner = subject or ours.get("subject_id") or agent.get("name") or agent.get("id")
    places = {turn: place for place in ours.get("turns", ()) if type(place) is dict and (turn := place.get("id"))}
    latest = _start(start)
    for message in agent["messages"]:
        place = places.get(message.get("id")) if type(message) is dict else None
        text = message.get("content") if place else _letta_text(message) if type(message) is dict else None
        if text is None:
            yield SkippedItem("no_text")
            continue
        latest = message.get("created_at") or latest
        turn = {
            "subject_id": owner,
            "session_id": agent.get("id") or owner,
            "source_id": message.get("id"),
            "role": message.get("role"),
            "speaker": message.get("name"),
            "said_at": message.get("created_at") or latest,
            "text": text,
        } | {name: value for name, value in (place or {}).items() if name != "id"}
        yield {name: value for name, value in turn.items() if value is not None}
    for block in _blocks(item):
        yield from _block(block, owner, latest)


def _blocks(item: ForeignItem) -> list[Mapping[str, Any]]:
    """Return the blocks of an agent: those of the file, by id, and its own (`core_memory` in the first version)."""
    wanted = item.fields.get("block_ids") or ()
    own = item.fields.get("core_memory") or item.fields.get("memory_blocks") or ()
    shared = [block for block in item.page.get("blocks") or () if type(block) is dict and block.get("id") in wanted]
    return [*shared, *(block for block in own if type(block) is dict)]


def _block(block: Mapping[str, Any], owner: Any, latest: Any) -> Iterator[Converted]:
    written = ((block.get("metadata") or {}).get("reverie") or {}).get("statements")
    if type(written) is list:  # a block that `reverie export` wrote
        yield from (record | {"subject_id": owner} for record in written if type(record) is dict)
        return
    at = block.get("updated_at") or block.get("created_at") or latest
    for number, line in enumerate(str(block.get("value") or "").splitlines(), start=1):
        if text := line.strip():
            fields = {name: block[name] for name in ("id", "label", "description") if block.get(name)}
            yield statement(
                ForeignItem(number=number, fields=fields),
                "letta",
                text,
                at,
                subject_id=owner,
                source_id=f"{block.get('id') or block.get('label') or 'block'}/{number}",
            )


def _letta_text(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message: the one sent by the agent's tool, or the content, unwrapped from Letta's JSON."""
    if message.get("role") not in ("user", "assistant"):
        return None
    for call in message.get("tool_calls") or ():
        function = call.get("function") if type(call) is dict else None
        if type(function) is dict and function.get("name") == "send_message":
            return _json_field(function.get("arguments"), "message")
    content = message.get("content", message.get("text"))
    if type(content) is list:
        content = "\n".join(str(part.get("text") or "") for part in content if type(part) is dict)
    if type(content) is not str:
        return None
    if content.startswith("{") and (kind := _json_field(content, "type")):
        return _json_field(content, "message") if kind == "user_message" else None
    return content if content.strip() else None


def _json_field(text: Any, name: str) -> str | None:
    try:
        value = orjson.loads(text)[name]
    except (ValueError, KeyError, TypeError):
        return None
    return value if type(value) is str else None


def _moment(value: Any) -> Any:
    """Return a bare date as midnight in UTC; other values as they are."""
    return f"{value}T00:00:00+00:00" if type(value) is str and _DATE.fullmatch(value) else value


def _start(start: datetime | None) -> str | None:
    return None if start is None else start.isoformat()
