"""What others call our roles, and values that a mapping such as `role:customer=user` translates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reverie.errors import InputError
from reverie.model import ROLES, Role

#: Accepted everywhere, silently.
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
#: Assumed by an import, which reports it.
USUAL_ROLES: dict[str, Role] = {name: role for role, names in _USUAL.items() for name in names}
#: Fields whose values are codes, each with those that we know.
CODES: dict[str, tuple[str, ...]] = {"role": ROLES, "type": ("turn", "outcome")}


def known_role(value: Any) -> Role | None:
    """Return the role that a value means by our names or the usual ones, in any case; None for another value."""
    word = value.strip().lower() if type(value) is str else None
    return (ROLE_ALIASES.get(word) or USUAL_ROLES.get(word)) if word else None


def split_mapping(mapping: Mapping[str, str]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Split a mapping into names of fields (ours to theirs) and values by field (theirs to ours).

    `{"subject_id": "user", "role:customer": "user"}` reads our subject_id from their field `user`, and their value
    `customer` of our role as `user`.

    Raises InputError: values of a field whose values are no codes, or a value that we do not have.
    """
    names: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {field: {} for field in CODES}
    for left, right in mapping.items():
        field, colon, theirs = left.partition(":")
        if not colon:
            names[left] = right
        elif field not in CODES:
            raise InputError(f"Values of {field!r} cannot be mapped, only those of {' and '.join(CODES)}.")
        elif right not in CODES[field]:
            raise InputError(
                f"There is no {field} {right!r} to map {theirs!r} to; there are {', '.join(CODES[field])}."
            )
        else:
            values[field][theirs] = right
    return names, values
