"""Recorded replies: a language model without a server, for demonstrations and tests.

The key of a recording is what was asked: the name of the reply's shape and the content of the item, not the words of
the prompt, so that a recording still answers after the prompt is reworded. An item without a recording fails as
`unrecorded`, and the rules are the fallback.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from reverie.errors import InferenceError
from reverie.inference.completions import CallError, Completion, Limits
from reverie.inference.prompts import Messages

#: Approximate bytes of a token in English prose and JSON.
_TOKEN_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class RecordedLanguageModel:
    """A language model that answers from a file, at no cost; token counts are estimates."""

    #: The name of the file, whatever it holds.
    key: str
    #: Replies by `recording_key`.
    replies: Mapping[str, dict[str, Any]]
    #: One item per request, since items are recorded one by one.
    limits: Limits

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        """Answer the items that are recorded. Raises CallError if none is."""
        found: list[dict[str, Any]] = []
        for number, content in asked_items(messages):
            reply = self.replies.get(recording_key(schema["title"], content))
            if reply is not None:
                found.append({"number": number} | reply)
        if not found:
            raise CallError(f"The model {self.key} has no recorded reply to this item.", reason="unrecorded")
        text = orjson.dumps({"replies": found}).decode()
        return Completion(
            text=text,
            truncated=False,
            tokens_in=sum(_tokens(message["content"]) for message in messages),
            tokens_out=_tokens(text),
            cost_usd=0.0,
            seconds=0.0,
        )

    def most_usd(self, messages: Messages, *, max_tokens: int) -> float:
        """Return 0: recorded replies cost nothing."""
        return 0.0

    def warm(self) -> None:
        """Do nothing: everything is loaded."""


def recording_key(shape: str, content: Mapping[str, Any]) -> str:
    """Return the key of a reply of this shape (the name of its model) to this item: 32 hexadecimal digits.

    The order of lists does not matter: items of one moment are shown in the order of their ids, which depend on
    tenant, model and prompt.
    """
    return hashlib.sha256(_unordered([shape, [content]])).hexdigest()[:32]


def _unordered(value: Any) -> bytes:
    if isinstance(value, Mapping):
        value = {name: _unordered(each).decode() for name, each in value.items()}
    elif isinstance(value, list | tuple):
        value = sorted(_unordered(each).decode() for each in value)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def asked_items(messages: Messages) -> list[tuple[int, dict[str, Any]]]:
    """Return the items of a request as the model reads them, each with its number."""
    data = messages[-1]["content"].removeprefix("<data>").removesuffix("</data>")
    items = orjson.loads(data)["items"]
    return [(item["number"], {name: value for name, value in item.items() if name != "number"}) for item in items]


def load_recorded(path: Path, *, limits: Limits) -> RecordedLanguageModel:
    """Read recordings: a JSON line each, with `shape`, `key` and `reply`; raises InferenceError if there are none."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        raise InferenceError(f"No recorded replies can be read at {path}.") from None
    replies: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, start=1):
        try:
            recording = orjson.loads(line)
            replies[str(recording["key"])] = dict(recording["reply"])
        except (ValueError, KeyError, TypeError):
            raise InferenceError(f"Line {number} of {path} is not a recorded reply.") from None
    limits = replace(limits, per_request=1, per_second=None)
    return RecordedLanguageModel(key=f"recorded/{path.stem}", replies=replies, limits=limits)


def _tokens(text: str) -> int:
    return -(-len(text.encode()) // _TOKEN_BYTES)
