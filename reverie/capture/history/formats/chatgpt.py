"""ChatGPT's export (conversations.json): each conversation is a tree of messages, of which one branch is current."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reverie.capture.history.formats.array import read_items
from reverie.capture.history.records import Broken, Entry, Record, Skipped

#: Kinds of content that people read; the others are reasoning, settings and traffic of tools.
_SAID = ("text", "multimodal_text")


def read_chatgpt(blocks: Iterable[bytes], *, subject: str) -> Iterator[Entry]:
    """Yield the turns of the current branch of each conversation, as of `subject`, whose account it is.

    A message without a time has that of the message before it, the first one that of its conversation. Messages of
    other branches, hidden ones, those without text and those to and from tools are `Skipped`.
    """
    for entry in read_items(blocks):
        if isinstance(entry, Broken):
            yield entry
        elif not is_conversation(entry[1]):
            yield Broken(entry[0], "not_a_conversation", "The item has no `mapping` of messages.")
        else:
            yield from _turns(*entry, subject)


def is_conversation(item: Any) -> bool:
    """Whether an item of an array is a conversation of ChatGPT."""
    return type(item) is dict and type(item.get("mapping")) is dict


def _turns(number: int, conversation: dict[str, Any], subject: str) -> Iterator[Entry]:
    branch = current_branch(conversation)
    at = conversation.get("create_time")
    session = conversation.get("conversation_id") or conversation.get("id") or f"conversation-{number}"
    for message in branch:
        at = message.get("create_time") or at
        if reason := _why_not_said(message):
            yield Skipped(reason)
            continue
        fields = {
            "subject_id": subject,
            "session_id": session,
            "source_id": message.get("id"),
            "role": message["author"]["role"],
            "said_at": at,
            "text": _text(message),
        }
        yield Record(number, fields, size=len(fields["text"]) + 200, place=f"conversation {number}")
    others = sum(
        type(node) is dict and type(node.get("message")) is dict for node in conversation["mapping"].values()
    ) - len(branch)
    for _ in range(others):
        yield Skipped("other_branch")


def current_branch(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages from the root to `current_node`; without one, to the message that came last."""
    nodes = conversation["mapping"]
    at = conversation.get("current_node")
    if at not in nodes:
        timed = [
            (node["message"].get("create_time") or 0, name)
            for name, node in nodes.items()
            if type(node) is dict and type(node.get("message")) is dict
        ]
        at = max(timed)[1] if timed else None
    branch, seen = [], set()
    while at in nodes and at not in seen and type(nodes[at]) is dict:
        seen.add(at)  # a damaged export may hold a circle
        if type(nodes[at].get("message")) is dict:
            branch.append(nodes[at]["message"])
        at = nodes[at].get("parent")
    return branch[::-1]


def _why_not_said(message: dict[str, Any]) -> str | None:
    metadata, author = message.get("metadata") or {}, message.get("author")
    if metadata.get("is_visually_hidden_from_conversation"):
        return "hidden"
    if type(author) is not dict or author.get("role") == "tool" or message.get("recipient", "all") != "all":
        return "tool"
    content = message.get("content")
    if type(content) is not dict or content.get("content_type") not in _SAID:
        return "not_text"
    return None if _text(message).strip() else "empty"


def _text(message: dict[str, Any]) -> str:
    """The parts that are text, or speech as text."""
    texts = [
        part if type(part) is str else part.get("text") if type(part) is dict else None
        for part in message["content"].get("parts") or ()
    ]
    return "\n".join(text for text in texts if type(text) is str and text)
