"""Read ChatGPT's export (conversations.json): each conversation is a tree of messages with one current branch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reverie.capture.history.formats.array import read_items
from reverie.capture.history.records import BrokenItem, InputItem, Record, SkippedItem

#: Content types that people read. The others are reasoning, settings and tool traffic.
_READABLE = ("text", "multimodal_text")


def read_chatgpt(blocks: Iterable[bytes], *, subject: str) -> Iterator[InputItem]:
    """Yield the turns of the current branch of each conversation; `subject` is the owner of the account.

    A message without a time takes the time of the message before it, the first one that of its conversation. Messages
    of other branches, hidden messages, messages without text, messages to and from tools, and conversations without
    messages become `SkippedItem`.
    """
    for numbered in read_items(blocks):
        if isinstance(numbered, BrokenItem):
            yield numbered
        elif not is_conversation(numbered[1]):
            yield BrokenItem(numbered[0], "not_a_conversation", "The item has no `mapping` of messages.")
        else:
            yield from _turns(*numbered, subject)


def is_conversation(item: Any) -> bool:
    """Tell whether an item of an array is a ChatGPT conversation."""
    return type(item) is dict and type(item.get("mapping")) is dict


def _turns(number: int, conversation: dict[str, Any], subject: str) -> Iterator[InputItem]:
    branch = current_branch(conversation)
    said_at = conversation.get("create_time")
    session = conversation.get("conversation_id") or conversation.get("id") or f"conversation-{number}"
    for message in branch:
        said_at = message.get("create_time") or said_at
        if reason := _skip_reason(message):
            yield SkippedItem(reason)
            continue
        fields = {
            "subject_id": subject,
            "session_id": session,
            "source_id": message.get("id"),
            "role": message["author"]["role"],
            "said_at": said_at,
            "text": _text(message),
        }
        yield Record(number, fields, size=len(fields["text"]) + 200, place=f"conversation {number}")
    messages = sum(
        type(node) is dict and type(node.get("message")) is dict for node in conversation["mapping"].values()
    )
    for _ in range(messages - len(branch)):
        yield SkippedItem("other_branch")
    if not messages:
        yield SkippedItem("no_messages")


def current_branch(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages from the root to `current_node`, or to the latest message if there is no current node."""
    nodes = conversation["mapping"]
    current = conversation.get("current_node")
    if current not in nodes:
        timed = [
            (node["message"].get("create_time") or 0, name)
            for name, node in nodes.items()
            if type(node) is dict and type(node.get("message")) is dict
        ]
        current = max(timed)[1] if timed else None
    branch, seen = [], set()
    while current in nodes and current not in seen and type(nodes[current]) is dict:
        seen.add(current)  # a damaged export may contain a cycle
        if type(nodes[current].get("message")) is dict:
            branch.append(nodes[current]["message"])
        current = nodes[current].get("parent")
    return branch[::-1]


def _skip_reason(message: dict[str, Any]) -> str | None:
    metadata, author = message.get("metadata") or {}, message.get("author")
    if metadata.get("is_visually_hidden_from_conversation"):
        return "hidden"
    if type(author) is not dict or author.get("role") == "tool" or message.get("recipient", "all") != "all":
        return "tool"
    content = message.get("content")
    if type(content) is not dict or content.get("content_type") not in _READABLE:
        return "not_text"
    return None if _text(message).strip() else "empty"


def _text(message: dict[str, Any]) -> str:
    """Join the parts of a message that are text or transcribed speech."""
    texts = [
        part if type(part) is str else part.get("text") if type(part) is dict else None
        for part in message["content"].get("parts") or ()
    ]
    return "\n".join(text for text in texts if type(text) is str and text)
