"""Recognize the usual field names of other systems in the records of a file.

This happens once per file, and each assumption is reported. If several fields could be a required field, that is an
error, since a wrong guess would be silent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from reverie.capture.history.values import known_role
from reverie.errors import InputError

#: Number of records examined.
SAMPLE = 1000

#: Reverie's fields, each with its names in other systems in snake case.
ALIASES: dict[str, tuple[str, ...]] = {
    "subject_id": (
        *("subject", "user_id", "customer_id", "contact_id", "client_id", "end_user_id", "visitor_id", "member_id"),
        *("person_id", "account_id", "user", "customer", "contact", "client"),
    ),
    "session_id": (
        *("session", "conversation_id", "conversation", "thread_id", "thread", "chat_id", "dialog_id", "dialogue_id"),
        *("ticket_id", "case_id", "room_id", "channel_id"),
    ),
    "role": (
        *("author_role", "sender_role", "speaker_role", "author_type", "sender_type", "user_type", "sender", "author"),
        *("from", "direction"),
    ),
    "said_at": (
        *("timestamp", "created_at", "sent_at", "ts", "time", "date", "datetime", "created", "create_time"),
        *("created_time", "message_time", "event_time"),
    ),
    "text": ("body", "content", "message", "message_text", "message_body", "body_text", "msg", "utterance"),
    "source_id": ("message_id", "msg_id", "turn_id", "uuid", "id"),
    "speaker": ("speaker_name", "author_name", "sender_name", "user_name", "username", "display_name", "name"),
}
_REQUIRED = ("subject_id", "session_id", "role", "said_at", "text")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")

Fields = Mapping[str, Any]


def snake_case(name: str) -> str:
    """Return a field name in snake case: `userId` and `User ID` become `user_id`."""
    return _WORDS.sub("_", name).strip("_").lower()


def recognize_fields(
    records: Sequence[Fields], mapping: Mapping[str, str], *, has_subject: bool = False
) -> dict[str, str]:
    """Map Reverie's field names to those of the records, for fields that neither the records nor `mapping` name.

    `has_subject`: the caller names the subject, so no field has to.

    Raises InputError: several fields could be a required one, or the assumed subject changes within a session.
    """
    sample = [fields for fields in records[:SAMPLE] if fields.get("type") != "outcome"]
    present = list(dict.fromkeys(name for fields in sample for name in fields))
    taken = set(mapping.values())
    assumed: dict[str, str] = {}
    for ours, aliases in ALIASES.items():
        if ours in mapping or ours in present or (ours == "subject_id" and has_subject):
            continue
        names = {snake_case(name): name for name in reversed(present) if name not in taken}
        matches = [names[alias] for alias in (ours, *aliases) if alias in names]
        if ours == "source_id":
            theirs = {**mapping, **assumed}
            session = [theirs.get(each, each) for each in ("subject_id", "session_id")[has_subject:]]
            matches = [name for name in matches if _is_unique(name, session, sample)][:1]
        if chosen := _choose(ours, matches, sample):
            assumed[ours] = chosen
            taken.add(chosen)
    if "subject_id" in assumed:
        _require_one_subject(sample, assumed, mapping)
    return assumed


def _choose(ours: str, matches: list[str], sample: Sequence[Fields]) -> str | None:
    if ours == "role":
        matches = [name for name in matches if _holds_roles(name, sample)] or matches[:1]
    elif ours == "speaker":
        matches = matches[:1]
    if not matches:
        return None
    first = matches[0]
    differing = [name for name in matches[1:] if any(fields.get(name) != fields.get(first) for fields in sample)]
    if differing and ours in _REQUIRED:
        second = differing[0]
        raise InputError(
            f"Both {first!r} and {second!r} could be {ours}: choose with --map {ours}={first} or --map {ours}={second}."
        )
    return first


def _holds_roles(name: str, sample: Sequence[Fields]) -> bool:
    """Tell whether every value of a field is a role, by Reverie's names or the usual ones."""
    values = {value for fields in sample if type(value := fields.get(name)) is str and value}
    return bool(values) and all(known_role(value) for value in values)


def _is_unique(name: str, session: Sequence[str], sample: Sequence[Fields]) -> bool:
    """Tell whether no two different records of a session share a value. Identical records may: a repeated message.

    `session`: the names of the fields that identify a session.
    """
    seen: dict[Any, Fields] = {}
    for fields in sample:
        value = fields.get(name)
        key = (*(str(fields.get(each)) for each in session), value)
        if type(value) in (str, int) and seen.setdefault(key, fields) != fields:
            return False
    return bool(seen)


def _require_one_subject(sample: Sequence[Fields], assumed: Mapping[str, str], mapping: Mapping[str, str]) -> None:
    names = {"session_id": "session_id"} | dict(mapping) | dict(assumed)
    first: dict[Any, Any] = {}
    for fields in sample:
        session, subject = fields.get(names["session_id"]), fields.get(names["subject_id"])
        if type(session) not in (str, int) or subject in (None, "") or _is_nan(subject):
            continue
        if first.setdefault(session, subject) != subject:
            theirs = names["subject_id"]
            raise InputError(
                f"{theirs!r} changes within a conversation, so it may be the author of a message and not the subject "
                f"of the conversation: name the subject's field with --map subject_id=FIELD (or {theirs}), or one "
                "subject for all records with --subject NAME."
            )


def _is_nan(value: Any) -> bool:
    """Tell whether a value is NaN, a missing number of a table. It does not even equal itself."""
    return type(value) is float and math.isnan(value)
