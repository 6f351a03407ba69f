"""Types that several requests share: names, times, and the base of every body."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from reverie.capture.history.values import ROLE_ALIASES
from reverie.model import Role, bounded_time
from reverie.recall.filters import CONTEXT_TYPES, SOURCES

#: Half of a surrogate pair.
_HALF = re.compile(r"[\ud800-\udfff]")


def _storable(text: str) -> str:
    """Refuse a NUL or half of a surrogate pair, which Postgres cannot store."""
    if "\0" in text or (not text.isascii() and _HALF.search(text)):
        raise ValueError("must not contain a NUL character or half of a surrogate pair")
    return text


def _json(value: Any) -> Any:
    """Refuse half of a surrogate pair and a number beyond 64 bits, which requests can contain and responses cannot."""
    try:
        orjson.dumps(value)
    except (TypeError, RecursionError) as error:
        raise ValueError("must be JSON, without half of a surrogate pair or a number beyond 64 bits") from error
    return value


def _attributes(metadata: dict[str, Any]) -> dict[str, Any]:
    """Refuse an attribute with a value that filters cannot name: it would be stored as another value."""
    for name, known in (("context_type", CONTEXT_TYPES), ("source", SOURCES)):
        given = metadata.get(name)
        if given is not None and given not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}")
    return metadata


def _role(value: Any) -> Any:
    return ROLE_ALIASES.get(value, value) if type(value) is str else value


Text = Annotated[str, AfterValidator(_storable)]
#: The caller's id of a subject, session, turn or the like.
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_storable)]
Time = Annotated[AwareDatetime, AfterValidator(bounded_time)]
#: Any JSON, and an object of it.
Json = Annotated[JsonValue, AfterValidator(_json)]
JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_json)]
#: The caller's data about a turn or an observation; its attributes have known values.
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_json), AfterValidator(_attributes)]
#: ISO 3166 and ISO 639 codes.
Country = Annotated[str, Field(pattern="^[A-Z]{2}$")]
Language = Annotated[str, Field(pattern="^[a-z]{2,3}$")]
#: A question or another text to search by.
Question = Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(_storable)]

#: The speaker's role. As in an import, `human` is accepted for `user`, and `ai`, `bot` and the like for `assistant`.
SpokenRole = Annotated[Role, BeforeValidator(_role)]

Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of items on a page.")]
Cursor = Annotated[
    str | None, Query(max_length=2000, description="`next_cursor` of the previous page. Default: the first page.")
]
AsOf = Annotated[Time | None, Query(description="Answer as of this time. Default: now.")]
Subject = Annotated[Name, Query(description="The person or business that the memory is about.")]
SessionId = Annotated[Name, Query(description="Your id of the conversation.")]


class Body(BaseModel):
    """A request. Unknown fields are refused, so that a misspelt field is not silently ignored."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """An answer. New fields may be added."""

    model_config = ConfigDict(extra="allow")


def example(value: dict[str, Any]) -> ConfigDict:
    """Return a model's configuration with an example of it."""
    return ConfigDict(json_schema_extra={"example": value})


def now() -> datetime:
    """Return the current time. The layers below the API do not read the clock."""
    return datetime.now(UTC)
