"""Recognize the usual role names of other systems, and split mappings such as `role:customer=user`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reverie.errors import InputError
from reverie.model import ROLES, Role

#: Role names that are always accepted, without a report.
ROLE_ALIASES: dict[str, Role] = {role: role for role in ROLES} | {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "agent": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}
_USUAL: dict[Role, tuple[str, ...]] = {
    "user": (
        *("customer", "client", "contact", "consumer", "end_user", "end-user", "enduser", "visitor", "guest", "member"),
        *("lead", "patient", "student", "caller", "requester", "inbound", "incoming"),
    ),
    "assistant": (
        *("operator", "support", "advisor", "representative", "rep", "staff", "admin", "employee", "copilot"),
        *("chatbot", "llm", "gpt", "chatgpt", "virtual_assistant", "outbound", "outgoing"),
    ),
}
#: Role names that an import accepts and reports as assumed.
USUAL_ROLES: dict[str, Role] = {name: role for role, names in _USUAL.items() for name in names}
#: Fields whose values are codes, each with the known codes.
CODES: dict[str, tuple[str, ...]] = {"role": ROLES, "type": ("turn", "outcome", "statement")}


def code_of(value: Any) -> Any:
    """Return a code as a CSV file has it: 1 as "1", True as "true"; other values as they are."""
    return str(value).lower() if type(value) in (int, bool) else value


def known_role(value: Any) -> Role | None:
    """Return the role of a value, by Reverie's names or the usual ones, ignoring case. None for other values."""
    word = value.strip().lower() if type(value) is str else None
    return (ROLE_ALIASES.get(word) or USUAL_ROLES.get(word)) if word else None


def split_mapping(mapping: Mapping[str, str]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Split a mapping into field names (Reverie's to the file's) and values by field (the file's to Reverie's).

    `{"subject_id": "user", "role:customer": "user"}` reads subject_id from the file's field `user`, and the value
    `customer` as the role `user`.

    Raises InputError: the field does not hold codes, or the code is unknown.
    """
    names: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {field: {} for field in CODES}
    for left, right in mapping.items():
        field, colon, theirs = left.partition(":")
        if not colon:
            names[left] = right
        elif field not in CODES:
            raise InputError(f"The values of {field!r} cannot be mapped, only those of {' and '.join(CODES)}.")
        elif right not in CODES[field]:
            raise InputError(
                f"There is no {field} {right!r} to map {theirs!r} to; choose one of {', '.join(CODES[field])}."
            )
        else:
            values[field][theirs] = right
    return names, values
