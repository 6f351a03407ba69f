"""Reads a language model's reply as checked values; repairs it if there is only one reading, otherwise refuses it.

It repairs code fences, prose or thoughts around the object, one object where a list of one was due, numbers as strings,
and objects and lists as JSON strings (Agent 5.1). It refuses a reply that was cut off, holds two different answers or
the same key twice, or does not fit. Libraries that repair any text (json-repair) complete what was cut off and choose
between two readings by themselves; their guesses would be remembered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

#: The faults of a reply.
Fault = Literal["empty", "not_json", "truncated", "ambiguous", "wrong_shape", "missing"]
#: The repairs of a reply.
Repair = Literal["fence", "prose", "thought", "unwrapped", "nested", "types"]

#: The hint for each fault that the model gets when it is asked again.
HINTS: dict[str, str] = {
    "empty": "it was empty",
    "not_json": "it was not one JSON object",
    "truncated": "it was cut off; be brief",
    "ambiguous": "it held more than one answer to an item",
    "wrong_shape": "it did not fit the schema",
    "missing": "it left out an item",
}

#: Most characters of a reply; no request of ours has a longer one.
_LONGEST = 400_000
#: Most characters of an item's number as a string; Python refuses to read thousands of digits.
_LONGEST_NUMBER = 20
_DEEPEST = 5
_THOUGHT = re.compile(r"\A(?:\s*<think(?:ing)?>.*?</think(?:ing)?>)+", re.DOTALL)
_UNENDED = re.compile(r"<think(?:ing)?>")
#: pydantic's error types for "an object or a list was due".
_CONTAINERS = frozenset(
    {"model_type", "model_attributes_type", "dict_type", "list_type", "tuple_type", "set_type", "frozen_set_type"}
)


class Reply(BaseModel):
    """A model's reply about one item; the base of every stage's reply."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, str_strip_whitespace=True, frozen=True)


R = TypeVar("R", bound=Reply)


@dataclass(frozen=True, kw_only=True, slots=True)
class Replies(Generic[R]):
    """The replies that were understood, and the faults of the others, by the number of the item."""

    good: dict[int, R]
    wrong: dict[int, Fault]
    repairs: frozenset[Repair]


class _Garbled(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


def read_replies(text: str, reply: type[R], *, number: int, truncated: bool = False) -> Replies[R]:
    """Return the reply to each of `number` items, or its fault.

    `truncated`: the provider says that it cut the reply off. Never raises.
    """
    repairs: set[Repair] = set()
    numbers = range(1, number + 1)
    try:
        parts = _parts(text, number, truncated, repairs)
    except _Garbled as garbled:
        return Replies(good={}, wrong=dict.fromkeys(numbers, garbled.fault), repairs=frozenset())
    good: dict[int, R] = {}
    wrong: dict[int, Fault] = {}
    for place in numbers:
        found = [part for at, part in parts if at == place]
        try:
            if any(other != found[0] for other in found[1:]):
                raise _Garbled("ambiguous")
            if not found:
                raise _Garbled("truncated" if truncated else "missing")
            good[place] = _checked(found[0], reply, repairs)
        except _Garbled as garbled:
            wrong[place] = garbled.fault
    return Replies(good=good, wrong=wrong, repairs=frozenset(repairs))


def _parts(text: str, number: int, truncated: bool, repairs: set[Repair]) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects of the reply, each with the number of its item."""
    thoughtless = _THOUGHT.sub("", text)
    if thoughtless != text:
        repairs.add("thought")
    text = thoughtless.strip().removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    if not text:
        raise _Garbled("truncated" if truncated else "empty")
    if _UNENDED.match(text):  # a draft in a thought is not an answer
        raise _Garbled("truncated" if truncated else "not_json")
    if len(text) > _LONGEST:
        raise _Garbled("not_json")
    whole = _whole(text, truncated, repairs)
    if isinstance(whole, dict) and "replies" in whole:
        whole = _opened(whole["replies"], repairs)
        if isinstance(whole, dict):  # one reply where a list of one was due
            repairs.add("unwrapped")
            whole = [whole]
    elif isinstance(whole, dict):
        repairs.add("unwrapped")
        whole = [whole]
    elif isinstance(whole, list):
        repairs.add("unwrapped")
    if not isinstance(whole, list):
        raise _Garbled("wrong_shape")
    parts = [part for part in (_opened(each, repairs) for each in whole) if isinstance(part, dict)]
    if number == 1 and len(parts) == 1 and "number" not in parts[0]:
        return [(1, parts[0])]
    return [(at, part) for part in parts if (at := _number(part.get("number"))) is not None]


def _whole(text: str, truncated: bool, repairs: set[Repair]) -> Any:
    """Return the JSON value that the text is, or the one that it holds."""
    try:
        return _opened(_decode(text), repairs)
    except ValueError:
        pass
    found = list(_objects(text))
    repairs.add("fence" if "```" in text else "prose")
    envelopes = [value for _, value in found if "replies" in value]
    if envelopes:
        if any(other != envelopes[0] for other in envelopes[1:]):
            raise _Garbled("ambiguous")
        return envelopes[0]
    if truncated:
        raise _Garbled("truncated")
    # the first brace opens the answer; an object further in is a part of something broken
    if len(found) == 1 and found[0][0] == text.find("{") and "[" not in text[: found[0][0]]:
        return found[0][1]
    if (array := _array(text)) is not None:
        return array
    if text.count("{") > text.count("}"):
        raise _Garbled("truncated")
    raise _Garbled("ambiguous" if len(found) > 1 else "not_json")


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON objects in a text, each with its place."""
    at = text.find("{")
    tried = 0
    while at >= 0 and tried < 1000:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
            tried += 1
        else:
            yield at, value
        at = text.find("{", end)


def _array(text: str) -> list[Any] | None:
    """Return the JSON list in a text, if the text around it holds no other and it is not part of an object."""
    first, last = text.find("["), text.rfind("]")
    if 0 <= text.find("{") < first:
        return None
    try:
        value = _decode(text[first : last + 1]) if 0 <= first < last else None
    except ValueError:
        return None
    return value if isinstance(value, list) else None


def _opened(value: Any, repairs: set[Repair]) -> Any:
    """Return the value, decoded if it is JSON in a string, up to `_DEEPEST` times."""
    for _ in range(_DEEPEST):
        if not isinstance(value, str):
            break
        try:
            value = _decode(value)
        except ValueError:
            break
        repairs.add("nested")
    return value


def _number(value: Any) -> int | None:
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and value.strip().isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _checked(value: dict[str, Any], reply: type[R], repairs: set[Repair]) -> R:
    """Return the part as a value of the model; JSON strings are opened if the model wants an object or a list."""
    for _ in range(_DEEPEST):
        try:
            result = _strictly(value, reply) or reply.model_validate(value)
        except ValidationError as error:
            if not _open_strings(value, error):
                raise _Garbled("wrong_shape") from None
            repairs.add("nested")
            continue
        if _strictly(value, reply) is None:
            repairs.add("types")
        if not _is_storable(result):
            raise _Garbled("wrong_shape")
        return result
    raise _Garbled("wrong_shape")


def _is_storable(reply: Reply) -> bool:
    """Return whether Postgres can hold the reply: it has no null character, half of a surrogate or great depth."""
    try:
        return "\\u0000" not in reply.model_dump_json()
    except (ValueError, RecursionError):
        return False


def _strictly(value: dict[str, Any], reply: type[R]) -> R | None:
    try:
        return reply.model_validate_json(json.dumps(value), strict=True)
    except ValidationError:
        return None
    except RecursionError:
        raise _Garbled("wrong_shape") from None


def _open_strings(value: dict[str, Any], error: ValidationError) -> bool:
    opened = False
    for each in error.errors(include_url=False):
        text = each["input"]
        if each["type"] not in _CONTAINERS or not isinstance(text, str):
            continue
        try:
            inner = _decode(text)
            *path, last = each["loc"]
            holder: Any = value
            for step in path:
                holder = holder[step]
            if isinstance(inner, dict | list) and holder[last] == text:
                holder[last] = inner
                opened = True
        except (ValueError, LookupError, TypeError):
            continue
    return opened


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; refuse a key with two values, which has no single reading."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)


def _decode(text: str) -> Any:
    """Decode a JSON value. Raises ValueError."""
    try:
        return _DECODER.decode(text.strip())
    except RecursionError:
        raise ValueError("nested too deep") from None
