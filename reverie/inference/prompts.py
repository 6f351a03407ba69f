"""Prompts: the texts of `prompts/`, loaded once, each with the schema of its reply."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from string import Template
from typing import Any, Generic, TypeVar

import orjson

from reverie.inference.replies import Reply

R = TypeVar("R", bound=Reply)

#: Role and content, as every provider's chat interface takes them.
Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Prompt(Generic[R]):
    """Instructions for one stage and the model of its replies."""

    name: str
    #: The instructions, with their numbers filled in.
    text: str
    reply: type[R]
    #: Most tokens of the reply to one item.
    max_tokens: int
    #: Whether the text is the whole request about one item, whose fields fill its places as JSON.
    is_whole: bool = False

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of one reply, without the number of its item."""
        return self.reply.model_json_schema()

    @cached_property
    def system(self) -> str:
        """The whole system message: instructions, and how to reply."""
        if self.is_whole:
            return self.text
        shape = orjson.dumps(self.schema, option=orjson.OPT_SORT_KEYS).decode()
        return f"{self.text}\n\n{Template(_read('reply')).substitute(schema=shape)}"

    @cached_property
    def hash(self) -> bytes:
        """The sha256 of all that the model is told besides the data, and of the length that its answer may have."""
        return hashlib.sha256(f"{self.max_tokens}\x1f{self.system}".encode()).digest()


def load_prompt(name: str, reply: type[R], *, max_tokens: int, **values: object) -> Prompt[R]:
    """Return `prompts/<name>.md` with its `$places` filled.

    Raises KeyError when a place has no value, FileNotFoundError when there is no such prompt.
    """
    return Prompt(name=name, text=prompt_part(name, **values), reply=reply, max_tokens=max_tokens)


def load_whole_prompt(name: str, reply: type[R], *, max_tokens: int, **values: object) -> Prompt[R]:
    """Return `prompts/<name>.md` as the whole request about one item; its other `$places` are the item's fields."""
    text = Template(_read(name)).safe_substitute({key: str(value) for key, value in values.items()})
    return Prompt(name=name, text=text, reply=reply, max_tokens=max_tokens, is_whole=True)


def prompt_part(name: str, **values: object) -> str:
    """Return `prompts/<name>.md`, a part of another prompt, with its `$places` filled."""
    return Template(_read(name)).substitute({key: str(value) for key, value in values.items()})


def messages(prompt: Prompt[Any], items: Sequence[Mapping[str, Any]], *, hint: str | None = None) -> Messages:
    """Return the request for some items; `hint` says what was wrong with an earlier reply.

    People's words are in JSON strings with every `<` escaped, so that they cannot end the string, the object or the
    block of data around them. A whole prompt takes one item.
    """
    again = f"\n\nAn earlier reply could not be used: {hint}." if hint else ""
    if prompt.is_whole:
        (item,) = items
        fields = {name: orjson.dumps(value).decode() for name, value in item.items()}
        return [{"role": "user", "content": Template(prompt.text).substitute(fields) + again}]
    numbered = {"items": [{"number": number, **item} for number, item in enumerate(items, start=1)]}
    data = orjson.dumps(numbered).decode().replace("<", "\\u003c")
    return [
        {"role": "system", "content": prompt.system + again},
        {"role": "user", "content": f"<data>\n{data}\n</data>"},
    ]


def prompts_directory() -> Path:
    """Return the folder of prompts: `reverie/prompts` in a wheel, `prompts` at the root of a checkout."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "prompts"
    return shipped if shipped.is_dir() else package.parent / "prompts"


@cache
def _read(name: str) -> str:
    return (prompts_directory() / f"{name}.md").read_text(encoding="utf-8").strip()
