"""Read Slack's export, a directory or zip: users.json, channel lists, and per channel a folder with a file per day."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from reverie.capture.history.formats.archive import Archive
from reverie.capture.history.records import BrokenItem, InputItem, Record, SkippedItem

_DAY = re.compile(r"(?P<channel>[^/]+)/(?P<day>\d{4}-\d{2}-\d{2})\.json")
#: Subtypes that are messages. The others report that somebody joined, pinned or renamed something.
_MESSAGES = frozenset({"", "bot_message", "file_share", "me_message", "thread_broadcast"})
_MARKUP = re.compile(r"<(?P<sigil>[@#!]?)(?P<target>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")


def is_slack(archive: Archive) -> bool:
    """Tell whether the files are laid out as in a Slack export."""
    return any(_DAY.fullmatch(name) for name in archive.names)


def read_slack(archive: Archive, *, subject: str | None = None) -> Iterator[InputItem]:
    """Yield the messages of every channel and day.

    The subject is `subject` if it is set. Otherwise it is the person in a direct conversation of one person with apps,
    or the channel. A session is a thread, or a day of a channel outside of threads. Apps and bots are the assistant.
    Events that are not messages, and messages without text, become `SkippedItem`.
    """
    people = _People(_list(archive, "users.json"))
    subjects = _subjects(archive, people)
    number = 0
    for name in archive.names:
        if not (day := _DAY.fullmatch(name)):
            continue
        channel = day["channel"]
        try:
            messages = archive.load(name)
        except ValueError as error:
            number += 1
            yield BrokenItem(number, "malformed_json", f"{name} cannot be read: {str(error).partition(':')[0]}.")
            continue
        for position, message in enumerate(messages if type(messages) is list else [messages], start=1):
            if reason := _skip_reason(message):
                yield SkippedItem(reason)
                continue
            number += 1
            said_at = message.get("ts")
            session, other_session = _sessions(message, channel, day["day"])
            fields = {
                "subject_id": subject or subjects.get(channel, channel),
                "session_id": session,
                "source_id": said_at,
                "role": people.role(message),
                "speaker": people.speaker(message),
                "said_at": said_at,
                "text": people.plain(message["text"]),
            }
            size, place = len(fields["text"]) + 200, f"{name} item {position}"
            yield Record(number, fields, size=size, place=place, other_session=other_session)


class _People:
    """The users and bots of the workspace."""

    def __init__(self, users: list[dict[str, Any]]) -> None:
        self._names: dict[str, str] = {}
        self._bots = {"USLACKBOT"}
        for user in users:
            profile = user.get("profile") or {}
            names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
            self._names[str(user.get("id"))] = next((name for name in names if name), str(user.get("id")))
            if user.get("is_bot"):
                self._bots.add(str(user.get("id")))

    def is_bot(self, user: str) -> bool:
        return user in self._bots

    def role(self, message: dict[str, Any]) -> str:
        automatic = message.get("bot_id") or message.get("subtype") == "bot_message"
        return "assistant" if automatic or self.is_bot(str(message.get("user"))) else "user"

    def speaker(self, message: dict[str, Any]) -> str | None:
        user = message.get("user")
        if user in self._names:
            return self._names[user]
        profile = message.get("user_profile") or message.get("bot_profile") or {}
        return profile.get("real_name") or profile.get("name") or message.get("username") or user

    def plain(self, text: str) -> str:
        """Return the text without Slack's markup: mentions by name, links by their label."""
        return html.unescape(_MARKUP.sub(self._unmark, text))

    def _unmark(self, markup: re.Match[str]) -> str:
        sigil, target, label = markup["sigil"], markup["target"], markup["label"]
        if sigil == "@":
            return f"@{self._names.get(target, label or target)}"
        if sigil == "#":
            return f"#{label or target}"
        if sigil == "!":
            name = label or target.partition("^")[0]
            return name if name.startswith("@") else f"@{name}"
        return label or target


def _list(archive: Archive, name: str) -> list[dict[str, Any]]:
    """Return one of the lists next to the channel folders, empty if the export has none."""
    try:
        items = archive.load(name) if name in archive.names else []
    except ValueError:
        return []
    return [item for item in items if type(item) is dict] if type(items) is list else []


def _subjects(archive: Archive, people: _People) -> dict[str, str]:
    """Map the folders of channels between one person and apps to that person's id."""
    subjects = {}
    for name in _LISTS:
        for channel in _list(archive, name):
            members = channel.get("members") or []
            persons = [member for member in members if not people.is_bot(member)]
            if len(persons) == 1 < len(members):
                subjects[str(channel.get("name") or channel.get("id"))] = str(persons[0])
    return subjects


def _sessions(message: dict[str, Any], channel: str, day: str) -> tuple[str, str]:
    """Return the session of a message, and the one that it has in exports from before or after its first reply.

    Slack writes `thread_ts` into a message that begins a thread only when somebody has replied to it.
    """
    at, thread = message.get("ts"), message.get("thread_ts")
    of_day, of_thread = f"{channel}/{day}", f"{channel}/{thread or at}"
    if not thread:
        return of_day, of_thread
    return of_thread, of_day if thread == at else ""


def _skip_reason(message: Any) -> str | None:
    if type(message) is not dict or message.get("type", "message") != "message":
        return "not_a_message"
    subtype = message.get("subtype") or ""
    if subtype not in _MESSAGES:
        return str(subtype)[:40]
    text = message.get("text")
    return None if type(text) is str and text.strip() else "empty"
