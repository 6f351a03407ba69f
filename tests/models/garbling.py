"""Ways in which a model or its provider goes wrong, made from what a good reply would be."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

#: What the server answers with, in the terms of its script.
Answer = dict[str, Any]


def _items(text: str) -> list[dict[str, Any]]:
    return json.loads(text)["replies"]  # type: ignore[no-any-return]


def _said(items: list[dict[str, Any]]) -> Answer:
    return {"content": json.dumps({"replies": items})}


def _strings(value: Any) -> Any:
    """Every number as a string."""
    if isinstance(value, dict):
        return {key: _strings(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_strings(each) for each in value]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _claims(text: str, claim: str) -> Answer:
    """The same, with a claim behind each of its longer texts."""

    def claimed(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: claimed(each, key) for key, each in value.items()}
        if isinstance(value, list):
            return [claimed(each, name) for each in value]
        return f"{value} {claim}" if isinstance(value, str) and name in CLAIMING else value

    return _said([claimed(each) for each in _items(text)])


def _misquoted(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _misquoted(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_misquoted(each, name) for each in value]
    return "as was said at the time" if name in ("quote", "quotes") else value


#: Fields in which a model tells something in its own words.
CLAIMING = frozenset({"summary", "pattern", "text", "updated_working_memory"})

#: By name: what becomes of the text of a good reply.
FAULTS: dict[str, Callable[[str], Answer]] = {
    "code fence": lambda text: {"content": f"```json\n{text}\n```"},
    "prose around it": lambda text: {"content": f"Here is what you asked for:\n{text}\nAnything else?"},
    "a thought before it": lambda text: {"content": f"<think>They want JSON {{}}.</think>{text}"},
    "numbers as strings": lambda text: _said(_strings(_items(text))),
    "JSON in strings": lambda text: {"content": json.dumps({"replies": json.dumps(_items(text))})},
    "a bare list": lambda text: {"content": json.dumps(_items(text))},
    "no JSON": lambda text: {"content": "I would rather talk about something else."},
    "empty": lambda text: {"content": ""},
    "cut off": lambda text: {"content": text[: len(text) * 2 // 3], "finish": "length"},
    "cut off, not said so": lambda text: {"content": text[: len(text) * 2 // 3]},
    "wrong fields": lambda text: _said([{"number": each["number"], "answer": "yes"} for each in _items(text)]),
    "an item left out": lambda text: _said(_items(text)[1:]),
    "two answers to an item": lambda text: _said(_items(text) + _items(text)[:1]),
    "a name nobody said": lambda text: _claims(text, "It was Mallory who told so."),
    "a number nobody said": lambda text: _claims(text, "That makes 987654 in all."),
    "quotes nobody said": lambda text: _said([_misquoted(each) for each in _items(text)]),
    "429 with Retry-After": lambda text: {"status": 429, "headers": {"Retry-After": "0"}},
    "500": lambda text: {"status": 500},
    "400": lambda text: {"status": 400},
    "half a response": lambda text: {"half": True},
    "hang": lambda text: {"hang_s": 1.5},
}
