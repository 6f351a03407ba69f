"""Conversations of Intercom, Zendesk and Claude, as turns."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from datetime import datetime
from html.parser import HTMLParser
from typing import Any

from reverie.capture.history.formats.remembered import Converted, statement
from reverie.capture.history.formats.shapes import ForeignItem
from reverie.capture.history.records import SkippedItem

#: Tags that end a line of text.
_BREAKS = ("br", "p", "div", "li", "tr")
_PERSONS = ("user", "lead", "contact", "end-user", "visitor")


class _Text(HTMLParser):
    """Collects the text of an HTML body."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        """Take text as it is."""
        self.parts.append(data)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Break the line at a `br`."""
        if tag == "br":
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """Break the line at the end of a block."""
        if tag in _BREAKS:
            self.parts.append("\n")


def plain_text(body: Any) -> str:
    """Return the text of an HTML body, its lines stripped and blank ones removed."""
    if type(body) is not str:
        return ""
    if "<" not in body and "&" not in body:
        return body.strip()
    reader = _Text()
    reader.feed(body)
    reader.close()
    lines = ("".join(reader.parts)).splitlines()
    return "\n".join(line for each in lines if (line := each.strip()))


def read_intercom(item: ForeignItem, subject: str | None, start: datetime | None) -> Iterator[Converted]:
    """Yield the first message and the parts of a conversation; the subject is its contact, by your id if it has one.

    Notes among colleagues, and parts without a text such as assignments, are skipped.
    """
    talk = item.fields
    contacts = _listed(talk.get("contacts"), "contacts")
    source = _object(talk.get("source"))
    author = _object(source.get("author"))
    owner = subject or next((each.get("external_id") or each.get("id") for each in contacts), None) or author.get("id")
    first = [source | {"created_at": talk.get("created_at"), "part_type": "comment"}] if source else []
    for part in (*first, *_listed(talk.get("conversation_parts"), "conversation_parts")):
        text, by = plain_text(part.get("body")), _object(part.get("author"))
        if part.get("part_type") == "note" or not text:
            yield SkippedItem("note" if text else str(part.get("part_type") or "empty")[:40])
            continue
        yield _turn(
            subject_id=owner,
            session_id=talk.get("id"),
            source_id=part.get("id"),
            role="user" if by.get("type") in _PERSONS else "assistant",
            speaker=by.get("name") or None,
            said_at=part.get("created_at"),
            text=text,
        )


def read_zendesk(item: ForeignItem, subject: str | None, start: datetime | None) -> Iterator[Converted]:
    """Yield the public comments of a ticket, or its description if it has none. The subject is the requester.

    The requester, and the end users among the `users` of the page, have the role user; others are agents.
    """
    ticket = item.fields
    requester = ticket.get("requester_id") or _object(ticket.get("requester")).get("id")
    users = {user.get("id"): user for user in item.page.get("users") or () if type(user) is dict}
    described = {"id": "description", "author_id": requester, "plain_body": ticket.get("description")}
    comments = [each for each in ticket.get("comments") or () if type(each) is dict]
    for comment in comments or [described | {"created_at": ticket.get("created_at")}]:
        text = _zendesk_text(comment)
        if comment.get("public") is False or not text:
            yield SkippedItem("private" if text else "empty")
            continue
        author = comment.get("author_id") or _object(comment.get("author")).get("id")
        user = users.get(author) or _object(comment.get("author"))
        yield _turn(
            subject_id=subject or requester,
            session_id=ticket.get("id"),
            source_id=comment.get("id"),
            role="user" if author == requester or user.get("role") in _PERSONS else "assistant",
            speaker=user.get("name"),
            said_at=comment.get("created_at"),
            text=text,
        )


def _zendesk_text(comment: Mapping[str, Any]) -> str:
    """Return the text of a comment. Only `html_body` has markup; in the others, `<` is a character of the text."""
    body = comment.get("plain_body") or comment.get("body")
    return html.unescape(body).strip() if body and type(body) is str else plain_text(comment.get("html_body"))


def read_claude(item: ForeignItem, subject: str | None, start: datetime | None) -> Iterator[Converted]:
    """Yield the messages of a conversation of Claude's export, and Claude's memories as documents.

    The subject is the account, if the caller names none. The memories have no time, so they need `start`.
    """
    talk = item.fields
    account = _object(talk.get("account"))
    owner = subject or account.get("uuid") or talk.get("account_uuid")
    if type(talk.get("chat_messages")) is not list:
        projects = talk.get("project_memories")
        texts = {"conversations_memory": talk.get("conversations_memory")} | (
            projects if type(projects) is dict else {}
        )
        for name, text in texts.items():
            at = None if start is None else start.isoformat()
            yield (
                statement(ForeignItem(number=item.number, fields={}), "claude", text, at, kind="document")
                | {"subject_id": owner, "source_id": f"claude/{name}"}
                if text
                else SkippedItem("empty")
            )
        return
    for message in talk["chat_messages"]:
        text = _claude_text(message) if type(message) is dict else ""
        if not text.strip():
            yield SkippedItem("empty")
            continue
        yield _turn(
            subject_id=owner,
            session_id=talk.get("uuid"),
            source_id=message.get("uuid"),
            role=message.get("sender"),
            said_at=message.get("created_at"),
            text=text,
        )


def _claude_text(message: Mapping[str, Any]) -> str:
    if type(message.get("text")) is str and message["text"].strip():
        return str(message["text"])
    parts = [part.get("text") for part in message.get("content") or () if type(part) is dict]
    return "\n".join(part for part in parts if type(part) is str)


def _object(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _turn(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _listed(holder: Any, name: str) -> list[dict[str, Any]]:
    """Return the objects of a list, which may be nested in an object under the same name."""
    items = holder.get(name) if type(holder) is dict else holder
    return [each for each in items if type(each) is dict] if type(items) is list else []
